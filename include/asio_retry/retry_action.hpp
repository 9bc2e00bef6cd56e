#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/stop_reason.hpp>

#include <exception>

namespace asio_retry {

/// The next step for the code that runs a retry_machine.
struct retry_action {
    /// The kinds of steps.
    enum class kind {
        attempt,  ///< make an attempt now
        wait,     ///< wait for `delay`, then ask `on_wait_over`; a delay of zero lets others run first
        complete, ///< the operation is over
    };

    kind what = kind::complete;                  ///< the next step
    duration delay{};                            ///< of a wait
    stop_reason reason = stop_reason::succeeded; ///< of a completion
    error_code error; ///< of a completion: if set, it is delivered in place of the last attempt's own error
    std::exception_ptr thrown; ///< of a completion: the exception of a callback, or the one inside a permanent
                               ///< error; if set, it is delivered instead of `error`
};

} // namespace asio_retry
