#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/interruption.hpp>
#include <asio_retry/stop_reason.hpp>

#include <cstdint>
#include <exception>

namespace asio_retry {

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
};

} // namespace asio_retry
