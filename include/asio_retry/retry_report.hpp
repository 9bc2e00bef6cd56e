#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/interruption.hpp>
#include <asio_retry/stop_reason.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace asio_retry::detail {
class report_recorder;
}

namespace asio_retry {

/// A failed attempt, as a retry_report remembers it.
struct failed_attempt {
    std::uint64_t number = 0;                  ///< from 1
    error_code error;                          ///< as the policy was told; timed_out for one that took too long
    interruption stopped = interruption::none; ///< what told it to stop
    duration ended_after{};                    ///< since the initiation of the operation
    duration delay{};                          ///< the wait that was decided on; zero if none followed
    std::exception_ptr exception{};            ///< null if it failed with an error code
};

/// What became of an operation: filled in while it runs, for an operation made by `with_report`.
///
/// It tells who ended the operation:
/// - the caller or a scope: `reason` is `cancelled`;
/// - the total_timeout or the deadline: `reason` is `deadline`;
/// - the attempt_timeout: the last attempt in `history`, if there is any, was `stopped` by it;
/// - a socket that was closed elsewhere: `last_error` is `operation_aborted`. That error is not recorded of an
/// attempt that had been told to stop.
///
/// What a hook throws at the end of the operation changes nothing but `hook_exceptions` and `hook_exception`.
struct retry_report {
    /// Remembers the first failed attempt and the `last` latest ones, of which there may be 1000.
    explicit retry_report(std::size_t last = 8) noexcept
        : last_(last < 1000 ? last : 1000) {}

    bool ended = false;         ///< the operation has completed; what follows is final
    stop_reason reason{};       ///< has no meaning before
    std::uint64_t attempts = 0; ///< how many were made
    duration elapsed{};         ///< from the initiation to the end
    duration waited{};          ///< of that, between the attempts, and for a gate before the first
    error_code last_error; ///< the error of the last attempt that failed by itself. One that was told to stop
                           ///< may do so too, and attempt_timeout makes it `timed_out`; one that was merely
                           ///< aborted leaves the error of an earlier attempt here
    std::exception_ptr last_exception;   ///< that attempt's; null if it failed with an error code
    std::uint64_t hook_exceptions = 0;   ///< how many hooks threw
    std::exception_ptr hook_exception;   ///< the first that a hook threw; null if none did
    std::vector<failed_attempt> history; ///< the first and the latest, oldest first

private:
    friend class detail::report_recorder;

    std::size_t last_;
};

} // namespace asio_retry
