#pragma once

#include <chrono>

namespace asio_retry {

/// Every duration in the library is a whole number of nanoseconds.
using duration = std::chrono::nanoseconds;

/// Every point in time is one of the steady clock; wall-clock jumps change nothing.
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

/// `from + by`, held at the first or the last representable point instead of wrapping round.
constexpr time_point saturating_add(time_point from, duration by) noexcept {
    if (by < duration::zero())
        return from < (time_point::min)() - by ? (time_point::min)() : from + by;
    return from > (time_point::max)() - by ? (time_point::max)() : from + by;
}

/// `to - from`, at least zero and at most duration::max().
constexpr duration elapsed_between(time_point from, time_point to) noexcept {
    if (to <= from)
        return duration::zero();
    if (from < time_point() && to > (time_point::max)() + from.time_since_epoch())
        return (duration::max)();
    return to - from;
}

} // namespace asio_retry
