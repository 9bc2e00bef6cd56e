#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/interruption.hpp>
#include <asio_retry/stop_reason.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace asio_retry::detail {
class report_recorder;
}

namespace asio_retry {

/// A failed attempt, as a retry_report remembers it.
struct failed_attempt {
    std::uint64_t number = 0; ///< from 1
    error_code error;         ///< as the policy heard it; timed_out for an attempt that took too long
    interruption stopped = interruption::none; ///< the time limit, caller or scope that cancelled it
    duration ended_after{};                    ///< since the initiation of the operation
    duration delay{};                          ///< the wait that was decided on; zero if none followed
    std::exception_ptr exception{};            ///< null if it failed with an error code
};

/// The history of an operation made by `with_report`, filled in while it runs.
///
/// It shows the end of the operation:
/// - the caller or a scope: `reason` is `cancelled`;
/// - the total_timeout or the deadline: `reason` is `deadline`;
/// - the attempt_timeout: the last attempt in `history`, if there is any, was `stopped` by it;
/// - a socket that was closed elsewhere: `last_error` is `operation_aborted`. That error is not recorded of an
///   attempt that had been cancelled.
///
/// An exception of a hook at the end of the operation changes only `hook_exceptions` and `hook_exception`.
struct retry_report {
    /// Remembers the first failed attempt and the `last` latest ones, at most 1000.
    explicit retry_report(std::size_t last = 8) noexcept
        : last_(last < 1000 ? last : 1000) {}

    std::string policy;         ///< `retry_policy::name`; empty without one
    bool ended = false;         ///< the operation has completed, and the fields that follow are final
    stop_reason reason{};       ///< why it made no further attempt; has no meaning before the end
    std::uint64_t attempts = 0; ///< how many attempts were made
    duration elapsed{};         ///< from the initiation to the end
    duration waited{};          ///< time between the attempts, and for a gate before the first
    error_code last_error; ///< the error of the last attempt that failed by itself. A cancelled attempt may do
                           ///< so too, and attempt_timeout makes it `timed_out`; an attempt that was merely
                           ///< aborted leaves the error of an earlier one here
    std::exception_ptr last_exception;   ///< exception of `last_error`; null if that is a code alone
    std::uint64_t hook_exceptions = 0;   ///< how many hooks, predicates, backoffs and jitters threw
    std::exception_ptr hook_exception;   ///< the first exception of these; null if there was none
    std::vector<failed_attempt> history; ///< the first and the latest, oldest first

private:
    friend class detail::report_recorder;

    std::size_t last_;
};

} // namespace asio_retry
