#pragma once

#include <asio_retry/duration.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace asio_retry::detail {

/// A duration as one byte: 8 steps per octave, from 64 ns to 18 minutes. 0 is unknown.
using latency_step = std::uint8_t;

/// The step of a duration; the first or the last one for a duration outside their range.
constexpr latency_step step_of(duration took) noexcept {
    constexpr duration::rep greatest = (duration::rep(1) << 40) - 1;
    auto const units = static_cast<std::uint64_t>(std::clamp<duration::rep>(took.count(), 64, greatest)) >> 6;
    if (units < 8)
        return static_cast<latency_step>(units);
    auto const octave = static_cast<std::uint64_t>(std::bit_width(units)) - 4;
    return static_cast<latency_step>(octave * 8 + (units >> octave));
}

/// The greatest duration of a step; zero if it is unknown.
constexpr duration greatest_in(latency_step step) noexcept {
    if (step == 0)
        return duration::zero();
    unsigned const octave = step < 8 ? 0 : step / 8u - 1;
    std::uint64_t const next = std::uint64_t(step - octave * 8 + 1) << octave;
    return duration(static_cast<duration::rep>((next << 6) - 1));
}

/// The median of the last 15 latencies.
class recent_latency {
public:
    /// Adds a latency. Returns the median, or 0 while there are fewer than 8 latencies.
    latency_step add(latency_step latest) noexcept {
        std::size_t at = count_;
        if (count_ == last_.size())
            at = static_cast<std::size_t>(std::find(sorted_.begin(), sorted_.end(), last_[next_]) -
                                          sorted_.begin());
        else
            ++count_;
        for (; at > 0 && sorted_[at - 1] > latest; --at)
            sorted_[at] = sorted_[at - 1];
        for (; at + 1 < count_ && sorted_[at + 1] < latest; ++at)
            sorted_[at] = sorted_[at + 1];
        sorted_[at] = latest;
        last_[next_] = latest;
        next_ = next_ + 1 == last_.size() ? 0 : next_ + 1;
        return count_ < 8 ? latency_step(0) : sorted_[count_ / 2];
    }

private:
    std::array<latency_step, 15> last_{}; // a ring
    std::array<latency_step, 15> sorted_{};
    std::size_t count_ = 0;
    std::size_t next_ = 0;
};

} // namespace asio_retry::detail
