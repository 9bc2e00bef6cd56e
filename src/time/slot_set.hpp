#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace asio_retry::detail {

/// A set of up to 2048 slots in a ring.
class slot_set {
public:
    bool empty() const noexcept { return words_with_slots_ == 0; }

    bool contains(unsigned slot) const noexcept {
        return ((words_[slot / word_bits] >> (slot % word_bits)) & 1) != 0;
    }

    /// The first slot of the set from `slot` on, around the ring. Precondition: !empty()
    unsigned first_from(unsigned slot) const noexcept {
        unsigned index = slot / word_bits;
        word found = words_[index] & (~word(0) << (slot % word_bits));
        if (found == 0) {
            std::uint32_t const behind = words_with_slots_ & (~std::uint32_t(1) << index);
            index = static_cast<unsigned>(std::countr_zero(behind ? behind : words_with_slots_));
            found = words_[index];
        }
        return index * word_bits + static_cast<unsigned>(std::countr_zero(found));
    }

    void insert(unsigned slot) noexcept {
        words_[slot / word_bits] |= word(1) << slot % word_bits;
        words_with_slots_ |= std::uint32_t(1) << slot / word_bits;
    }

    void erase(unsigned slot) noexcept {
        word& changed = words_[slot / word_bits];
        changed &= ~(word(1) << slot % word_bits);
        if (changed == 0)
            words_with_slots_ &= ~(std::uint32_t(1) << slot / word_bits);
    }

private:
    using word = std::uint64_t;
    static constexpr unsigned word_bits = 64;

    std::array<word, 32> words_{};
    std::uint32_t words_with_slots_ = 0; // a bit each
};

} // namespace asio_retry::detail
