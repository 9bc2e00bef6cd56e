#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>

#include <exception>
#include <type_traits>

namespace asio_retry {

using boost::system::error_code;

/// The library's own errors; all other errors are the operation's own and pass through unchanged.
enum class error {
    operation_threw = 1, ///< the operation threw without an error code, or with the code of a success
    result_rejected,     ///< `fail_if` judged a successful result to be a failure
    predicate_threw,     ///< a callable given to retry_if, fail_if, when, max_attempts_when or classify threw
    backoff_threw,       ///< your backoff threw, or returned a negative duration
    jitter_threw,        ///< your jitter threw, or returned a negative duration
    hook_threw,          ///< a hook before a retry or a hedge threw
    exhausted,        ///< a `backoff_ticker` allows no further tick, or `or_error` made it of a rejected value
    attempt_refused,  ///< a gate refused the attempt and had no code of its own for the refusal
    circuit_open,     ///< a `circuit_breaker` refused the attempt: too many have failed lately
    client_throttled, ///< an `adaptive_throttle` refused the attempt: the server accepts too few
    too_many_in_flight, ///< a `concurrency_limit` refused the attempt
    cooling_down,       ///< a `cooldown` refused the attempt, or all endpoints rest: a server wants a delay
    rate_limited,       ///< a `rate_limit` refused the attempt: its time has not come
};

/// Groups of errors, to compare with: `if (ec == condition::callback_threw)`.
enum class condition {
    callback_threw = 1, ///< predicate_threw, backoff_threw, jitter_threw or hook_threw
    refused, ///< attempt_refused, circuit_open, client_throttled, too_many_in_flight, cooling_down or
             ///< rate_limited
};

/// The category of `error`.
ASIO_RETRY_DECL boost::system::error_category const& error_category() noexcept;
/// The category of `condition`.
ASIO_RETRY_DECL boost::system::error_category const& condition_category() noexcept;

/// Makes a code; Boost.System finds this function, also for comparisons.
inline error_code make_error_code(error e) noexcept {
    return error_code(static_cast<int>(e), error_category());
}

/// Makes a condition; Boost.System finds this function, also for comparisons.
inline boost::system::error_condition make_error_condition(condition c) noexcept {
    return boost::system::error_condition(static_cast<int>(c), condition_category());
}

/// The error code of an exception.
///
/// - The code inside a `system_error` of Boost or of the standard library, or inside a permanent error.
/// - `no_memory` for std::bad_alloc.
/// - `error::operation_threw` for every other exception, and if the code inside is that of a success.
///
/// Precondition: e is not null.
ASIO_RETRY_DECL error_code code_of(std::exception_ptr const& e);

namespace detail {

/// The code `boost::asio::error::timed_out`, without Asio.
ASIO_RETRY_DECL error_code timed_out_error() noexcept;

/// The code `boost::asio::error::no_memory`, without Asio.
ASIO_RETRY_DECL error_code no_memory_error() noexcept;

/// The code `boost::asio::error::no_buffer_space`, without Asio.
ASIO_RETRY_DECL error_code no_buffer_space_error() noexcept;

/// The code `boost::asio::error::operation_aborted`, without Asio.
ASIO_RETRY_DECL error_code aborted_error() noexcept;

/// Whether Boost wraps a code of a standard category.
ASIO_RETRY_DECL bool wraps_standard(error_code const& code) noexcept;

/// Boost's own code for a standard code that Boost wraps, if both libraries have it.
///
/// The wrapped code equals no other.
ASIO_RETRY_DECL error_code unwrapped(error_code const& code) noexcept;

/// A boost::system::system_error of `code`; a bad_alloc, as std::make_exception_ptr, without memory for it.
ASIO_RETRY_DECL std::exception_ptr exception_of(error_code const& code) noexcept;

/// The exception of `code` with `own` nested in it. Precondition: own is not null.
ASIO_RETRY_DECL std::exception_ptr exception_of(error_code const& code, std::exception_ptr const& own) noexcept;

} // namespace detail

} // namespace asio_retry

template <>
struct boost::system::is_error_code_enum<asio_retry::error> : std::true_type {};
template <>
struct boost::system::is_error_condition_enum<asio_retry::condition> : std::true_type {};
