#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/stop_reason.hpp>

#include <cstdint>
#include <exception>

namespace asio_retry {

/// What the hooks of a policy are told.
struct retry_event {
    std::uint64_t attempt = 0;    ///< number of the attempt that just ended; 0 if none was made
    error_code error;             ///< its error; for an exception the code in it, or error::operation_threw
    std::exception_ptr exception; ///< its exception, nested in `timed_out` if it took too long; null if it
                                  ///< failed with an error code
    duration delay{};             ///< on_retry: the wait that follows; on_give_up: zero
    stop_reason reason{};         ///< on_give_up: why no attempt follows; without meaning in on_retry
};

} // namespace asio_retry
