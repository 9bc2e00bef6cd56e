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

namespace asio_retry {

/// Which limit of time told an attempt to stop.
enum class time_limit : unsigned char {
    none,            ///< none did
    attempt_timeout, ///< that of the policy, as are the others
    set_up_within,   ///< it had not called `attempt::mark_healthy`
    idle_timeout,    ///< it had been silent
    total_timeout,   ///< of the operation
    deadline,        ///< the policy's, or that of a scope or of an operation around it
};

/// What the hooks of a policy or an operation are told, and predicates that take it. Where there is one of them
/// the clock is read when an operation starts, for the times.
struct retry_event {
    std::uint64_t attempt = 0;    ///< number of the attempt that just ended; 0 if none was made
    error_code error;             ///< its error; for an exception the code in it, or error::operation_threw; if
                                  ///< the operation ends in a wait, what it ends with
    std::exception_ptr exception; ///< its exception, nested in `timed_out` if it took too long; null if it
                                  ///< failed with an error code
    duration delay{};             ///< on_retry: the wait that follows; else zero
    stop_reason reason{};         ///< at the end: why no attempt follows; else without meaning
    duration elapsed{};           ///< since the initiation
    duration took{};        ///< what the attempt took, until the executor got to it; zero if the operation ends
                            ///< without one, as in a wait
    interruption stopped{}; ///< what told the attempt to stop
    effect sent{};          ///< `none` if the peer has surely done nothing: the attempt has not said that it
                            ///< sent anything, or the error above says so, as operation_aborted and timed_out
                            ///< at the end of a wait do not; see `attempt::mark_sent`
    failure_kind kind{};    ///< what a gate hears: see attempt_end::kind; `permanent` of an abandoned attempt,
                            ///< none of a success. To `retry_if` it is what `classify` says of the error,
                            ///< `timeout` after a limit
    pushback said{};        ///< what the server said about trying again
    int status = 0;         ///< of the HTTP response, if `judge_http` judged one; else 0
    time_limit limit{};     ///< which one told the attempt to stop
    duration allowed{};     ///< how long that limit is; zero for a deadline

    /// What went wrong, in one line: `what()` of the exception, "HTTP 503, retry after 1 s" of a judged value,
    /// "attempt timed out after 500 ms" of a limit, or else the message of the error code.
    ASIO_RETRY_DECL std::string message() const;
};

/// One line for a log: the attempt, the message, and what follows. "attempt 1: Connection refused; next attempt
/// in 50 ms", "attempt 3: HTTP 503; gave up: attempts", "attempt 2: succeeded".
ASIO_RETRY_DECL std::string to_string(retry_event const& event);
/// Writes it.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, retry_event const& event);

} // namespace asio_retry
