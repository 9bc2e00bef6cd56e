#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>

#include <exception>
#include <type_traits>

namespace asio_retry {

using boost::system::error_code;

/// What the library itself has to say; all other errors are the operation's own and pass through unchanged.
enum class error {
    operation_threw = 1, ///< the operation threw something that carries no error code, or that of a success
    result_rejected,     ///< `fail_if` judged a successful result to be a failure
    predicate_threw,     ///< what retry_if, fail_if, when, max_attempts_when or classify was given threw
    backoff_threw,       ///< a user's backoff threw
    jitter_threw,        ///< a user's jitter threw
    hook_threw,          ///< a hook before a retry or a hedge threw
    exhausted,           ///< a `backoff_ticker` allows no further tick; what `fail_if` judges stayed a failure
    attempt_refused,     ///< a gate refused the attempt and had no code of its own for that
    circuit_open,        ///< a `circuit_breaker` refused it: too many have failed lately
    client_throttled,    ///< an `adaptive_throttle` refused it: the peer accepts too few
    too_many_in_flight,  ///< a `concurrency_limit` refused it
    cooling_down,        ///< a `cooldown` refused it: the peer has asked for a pause
};

/// Groups of errors, to compare with: `if (ec == condition::callback_threw)`.
enum class condition {
    callback_threw = 1, ///< predicate_threw, backoff_threw, jitter_threw or hook_threw
    refused,            ///< attempt_refused, circuit_open, client_throttled, too_many_in_flight or cooling_down
};

/// That of `error`.
ASIO_RETRY_DECL boost::system::error_category const& error_category() noexcept;
/// That of `condition`.
ASIO_RETRY_DECL boost::system::error_category const& condition_category() noexcept;

/// As Boost.System finds it, to make codes and to compare with them.
inline error_code make_error_code(error e) noexcept {
    return error_code(static_cast<int>(e), error_category());
}

/// The same.
inline boost::system::error_condition make_error_condition(condition c) noexcept {
    return boost::system::error_condition(static_cast<int>(c), condition_category());
}

/// The code that `boost::asio::error::timed_out` denotes, without Asio.
ASIO_RETRY_DECL error_code timed_out_error() noexcept;

/// The code that `boost::asio::error::no_memory` denotes, without Asio.
ASIO_RETRY_DECL error_code no_memory_error() noexcept;

/// The code that `boost::asio::error::no_buffer_space` denotes, without Asio.
ASIO_RETRY_DECL error_code no_buffer_space_error() noexcept;

/// The code that `boost::asio::error::operation_aborted` denotes, without Asio.
ASIO_RETRY_DECL error_code aborted_error() noexcept;

/// The code inside a Boost or standard `system_error` or a permanent error, `no_memory` for std::bad_alloc,
/// `error::operation_threw` for every other exception, and for the code of a success in one of these.
/// Precondition: e is not null.
ASIO_RETRY_DECL error_code code_of(std::exception_ptr const& e);

namespace detail {

/// Whether Boost wraps a code of a standard category.
ASIO_RETRY_DECL bool wraps_standard(error_code const& code) noexcept;

/// Boost's own code in place of a standard one that it wraps, if both libraries have it: the wrapped one equals
/// no other.
ASIO_RETRY_DECL error_code unwrapped(error_code const& code) noexcept;

/// A boost::system::system_error; without memory for it, as with std::make_exception_ptr, a bad_alloc.
ASIO_RETRY_DECL std::exception_ptr exception_of(error_code const& code) noexcept;

/// The same of `code`, with `own` nested in it. Precondition: own is not null.
ASIO_RETRY_DECL std::exception_ptr exception_of(error_code const& code, std::exception_ptr const& own) noexcept;

/// A boost::system::system_error of `error::hook_threw` that says what `hook` says, which a hook threw, with
/// `own` nested in it, the failure of the attempt. Precondition: neither is null.
ASIO_RETRY_DECL std::exception_ptr hook_exception(std::exception_ptr hook,
                                                  std::exception_ptr const& own) noexcept;

} // namespace detail

} // namespace asio_retry

template <>
struct boost::system::is_error_code_enum<asio_retry::error> : std::true_type {};
template <>
struct boost::system::is_error_condition_enum<asio_retry::condition> : std::true_type {};
