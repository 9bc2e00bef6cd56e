#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace asio_retry::detail {

/// A set of up to 1024 slots that knows its first one.
class slot_set {
public:
    bool empty() const noexcept { return words_with_slots_ == 0; }

    unsigned first() const noexcept {
        auto const index = static_cast<unsigned>(std::countr_zero(words_with_slots_));
        return index * word_bits + static_cast<unsigned>(std::countr_zero(words_[index]));
    }

    void insert(unsigned slot) noexcept {
        words_[slot / word_bits] |= word(1) << slot % word_bits;
        words_with_slots_ |= 1u << slot / word_bits;
    }

    void erase(unsigned slot) noexcept {
        word& changed = words_[slot / word_bits];
        changed &= ~(word(1) << slot % word_bits);
        if (changed == 0)
            words_with_slots_ &= ~(1u << slot / word_bits);
    }

private:
    using word = std::uint64_t;
    static constexpr unsigned word_bits = 64;

    std::array<word, 16> words_{};
    std::uint32_t words_with_slots_ = 0; // a bit each
};

} // namespace asio_retry::detail
