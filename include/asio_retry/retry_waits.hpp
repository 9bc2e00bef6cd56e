#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/random.hpp>

#include <concepts>

namespace asio_retry {

/// How a blocking retry knows the time, waits, is stopped and draws its delays.
///
/// Replace it in tests, for instance by a type whose time moves only when it waits.
///
/// - `now()` never goes back.
/// - `wait_until(when)` returns when that time has come, or sooner once stopped. If it returns too early by
///   `now()`, it is called again.
/// - `stopped()` is asked often, and does not throw; true stays true.
/// - `next_random()` gives the source of randomness of one operation, and is called before its first delay is
///   drawn.
template <typename T>
concept retry_waits = requires(T& waits, time_point when) {
    { waits.now() } -> std::convertible_to<time_point>;
    waits.wait_until(when);
    { waits.stopped() } -> std::convertible_to<bool>;
    { waits.next_random() } -> std::same_as<random>;
};

} // namespace asio_retry
