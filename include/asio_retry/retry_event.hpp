#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/interruption.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/stop_reason.hpp>

#include <cstdint>
#include <exception>
#include <iosfwd>
#include <string>
#include <string_view>

namespace asio_retry {

/// The time limit that cancelled an attempt.
enum class time_limit : unsigned char {
    none,            ///< none
    attempt_timeout, ///< the limit of the policy
    setup_timeout,   ///< the attempt had not called `attempt::mark_healthy`
    idle_timeout,    ///< the attempt had been silent
    total_timeout,   ///< the limit of the operation
    deadline,        ///< the deadline of the policy
    inherited,       ///< the deadline of a scope, or of the attempt that the operation is nested in
    /// The name of 0.3, which 0.5 will no longer have.
    set_up_within [[deprecated("use setup_timeout")]] = setup_timeout,
};

/// The enumerator's name, for logs.
ASIO_RETRY_DECL std::string_view to_string(time_limit limit) noexcept;
/// Writes the enumerator's name.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, time_limit limit);

/// The facts for hooks of a policy or an operation, and for predicates that take an event.
///
/// With such a hook or predicate, the clock is read when an operation starts.
struct retry_event {
    std::uint64_t attempt = 0; ///< number of the attempt that just ended; 0 if none was made
    error_code error; ///< its error; for an exception the code in it, or error::operation_threw; if the
                      ///< operation ends in a wait, the operation's error
    std::exception_ptr exception; ///< its exception, nested in `timed_out` if it took too long; null if none
    duration delay{};             ///< on_retry: the wait that follows; else zero
    stop_reason reason{};         ///< at the end: why no attempt follows; else without meaning
    duration elapsed{};           ///< since the initiation
    duration took{};              ///< duration of the attempt, until the executor got to it; zero without one
    interruption stopped{};       ///< the time limit, caller or scope that cancelled the attempt
    effect sent{}; ///< `none`: the server has surely done nothing: no `attempt::mark_sent`, or by the error
                   ///< above; operation_aborted and timed_out in a wait do not say so
    /// As a gate hears it: see attempt_end::kind. `permanent` of an abandoned attempt, but `transient` if a
    /// gate further in has refused it; none of a success. For `retry_if` it is the answer of `classify` for the
    /// error, or `timeout` after a time limit.
    failure_kind kind{};
    pushback said{};           ///< the server's wish about retries
    int status = 0;            ///< status of the HTTP response, if `judge_http` judged one; else 0
    time_limit limit{};        ///< the time limit that cancelled the attempt
    duration allowed{};        ///< the length of that limit; zero for a deadline
    std::string_view policy{}; ///< `retry_policy::name`, or empty; valid while the policy or a copy of it lives

    /// The failure in one line.
    ///
    /// It is `what()` of the exception, or "HTTP 503, retry after 1 s" of a judged value. Of a time limit it is
    /// "attempt timed out after 500 ms". Otherwise it is the message of the error code. Where `what()` has the
    /// number of a code, and the place in Asio where it arose, these are left out.
    ASIO_RETRY_DECL std::string message() const;
};

/// One line for a log: the attempt, the message, and the next step.
///
/// "attempt 1: Connection refused; next attempt in 50 ms", "attempt 3: HTTP 503; gave up: attempts", "attempt
/// 2: succeeded". The name of the policy comes first: "orders.get, attempt 2: succeeded".
ASIO_RETRY_DECL std::string to_string(retry_event const& event);
/// Writes the line of `to_string`.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, retry_event const& event);

} // namespace asio_retry
