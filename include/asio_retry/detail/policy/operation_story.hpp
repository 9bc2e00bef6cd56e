#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/pushback.hpp>

#include <cstdint>
#include <exception>
#include <memory>

namespace asio_retry::detail {

/// What a retry_machine keeps for gates and observers, and for attempts that say what they were told. Apart,
/// because most operations need none of it.
struct operation_story {
    // What the operation ends with if nothing happens any more: the failure before this wait, of which the
    // result is gone, or else the refusal.
    error_code last = error::attempt_refused;
    std::exception_ptr thrown;               // by the attempt that failed
    duration refused_for = duration::zero(); // by the time that the gate named; zero where it named none
    std::uint64_t has_failure : 1 = false;
    std::uint64_t refusals : 63 = 0; // since the last reset of the failures

    // Of the running attempt.
    pushback heeded;
    shared_value<nested_marks> marks; // of a retry nested in it; null if there is none

    duration waited{}; // since the last reset; for max_waited

    // For the observer.
    std::uint64_t number = 0; // of the operation; 0 before the start, after the end, and without an observer
    time_point initiated = time_point::max(); // for hooks too, from the first reset on
    time_point seen{};                        // when something happened last
};

} // namespace asio_retry::detail
