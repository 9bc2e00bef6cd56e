#pragma once

#include <asio_retry/duration.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace asio_retry::detail {

/// Sums over a window of time, which has SlotCount slots with the present one. `Counts` has + and -, and begins
/// at zero. If time runs backwards, the window stands still.
template <typename Counts, std::size_t SlotCount>
class slot_window {
public:
    explicit slot_window(duration length) noexcept
        : slot_length_((std::max)(length / static_cast<duration::rep>(SlotCount), duration(1))) {}

    /// Goes to the slot of `now`, and forgets what is older than the window.
    void advance(time_point now) noexcept {
        std::int64_t const slot = slot_of(now);
        if (slot <= newest_)
            return;
        std::int64_t const first = (std::max)(newest_ + 1, slot - static_cast<std::int64_t>(SlotCount) + 1);
        for (std::int64_t left = slot - first; left >= 0; --left) { // down: slot + 1 may overflow
            total_ -= at(slot - left);
            at(slot - left) = Counts();
        }
        newest_ = slot;
    }

    void add(Counts const& counts) noexcept {
        at(newest_) += counts;
        total_ += counts;
    }

    /// Takes back what was added at `then`, unless that is forgotten.
    void subtract(Counts const& counts, time_point then) noexcept {
        std::int64_t slot = slot_of(then);
        if (slot <= newest_ - static_cast<std::int64_t>(SlotCount))
            return;
        for (; slot <= newest_; ++slot) // if time ran backwards, `add` has used a later slot
            if (at(slot).has(counts)) {
                at(slot) -= counts;
                total_ -= counts;
                return;
            }
    }

    /// Adds what another window holds, each slot at the time at which it began.
    void take(slot_window const& earlier) noexcept {
        for (auto left = static_cast<std::int64_t>(SlotCount) - 1; left >= 0; --left) {
            std::int64_t const slot = earlier.newest_ - left;
            advance(earlier.beginning_of(slot));
            add(earlier.slots_[index_of(slot)]);
        }
    }

    Counts const& total() const noexcept { return total_; }

    /// The total of what is not forgotten at `now`.
    Counts total_at(time_point now) const noexcept {
        slot_window later = *this;
        later.advance(now);
        return later.total();
    }

    /// Whether a new window would answer alike from `now` on. `Counts` has ==.
    bool is_new_at(time_point now) const noexcept {
        return newest_ <= slot_of(now) && total_at(now) == Counts();
    }

    void clear() noexcept {
        slots_.fill(Counts());
        total_ = Counts();
    }

private:
    std::int64_t slot_of(time_point now) const noexcept {
        auto const since = now.time_since_epoch();
        return since / slot_length_ - (since % slot_length_ < duration::zero() ? 1 : 0);
    }

    time_point beginning_of(std::int64_t slot) const noexcept {
        std::int64_t const first = (time_point::min)().time_since_epoch() / slot_length_; // of all slots
        return time_point((std::max)(slot, first) * slot_length_);
    }

    static std::size_t index_of(std::int64_t slot) noexcept {
        auto const count = static_cast<std::int64_t>(SlotCount);
        return static_cast<std::size_t>((slot % count + count) % count);
    }

    Counts& at(std::int64_t slot) noexcept { return slots_[index_of(slot)]; }

    duration slot_length_;
    std::int64_t newest_ = (std::numeric_limits<std::int64_t>::min)() / 2;
    std::array<Counts, SlotCount> slots_{};
    Counts total_;
};

} // namespace asio_retry::detail
