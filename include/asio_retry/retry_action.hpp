#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/stop_reason.hpp>

#include <exception>

namespace asio_retry {

/// What whoever runs a retry_machine has to do next.
struct retry_action {
    /// What there is to do.
    enum class kind {
        attempt,  ///< make an attempt now
        wait,     ///< wait for `delay`, then ask `on_wait_over`; a delay of zero lets others run first
        complete, ///< the operation is over
    };

    kind what = kind::complete;                  ///< the next step
    duration delay{};                            ///< of a wait
    stop_reason reason = stop_reason::succeeded; ///< of a completion
    error_code error; ///< of a completion: to be delivered in place of the last attempt's own error, if set
    std::exception_ptr thrown; ///< of a completion: what a callback threw, or the exception inside a permanent
                               ///< error; to be delivered instead of `error`
};

} // namespace asio_retry
