#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/stop_reason.hpp>

#include <cstdint>

namespace asio_retry {

/// An event of an operation.
struct observation {
    /// The kinds of events.
    enum class kind : unsigned char {
        started,
        attempt_began, ///< it does, unless the observer itself cancels the operation now
        attempt_ended,
        retry_decided, ///< a wait of `delay` follows
        refused,       ///< a gate refused the retry or the attempt
        ended,
    };

    kind what = kind::started;   ///< the kind of this event
    std::uint64_t operation = 0; ///< the operation's number, unique in the process
    std::uint64_t attempt =
        0;            ///< the number of the attempt; at the end of the operation, the number of attempts made
    time_point now{}; ///< the time of the event
    error_code error; ///< the failure's, or the refusal; operation_aborted for an abandoned attempt
    failure_kind failure =
        failure_kind::none; ///< as a gate hears it; none is a success, and an abandoned attempt is `permanent`
    duration took{};        ///< duration of the attempt, or of the operation
    duration delay{};       ///< of retry_decided
    stop_reason reason = stop_reason::succeeded; ///< of ended
    bool is_hedge = false; ///< the operation is an `async_hedge`: attempts after the first are hedges
};

/// Hears of every event of the operations of a policy.
///
/// It hears one story of each operation: `started`, then any number of attempts, each with its beginning and
/// its end, then `ended`.
/// - An admitted attempt that did not begin, because the operation ended first, is left out.
/// - The observer may cancel the operation when it hears that an attempt begins. Then that attempt is not made,
///   and has ended, abandoned.
/// - After the end of an attempt may come `refused`, of a retry and without an error, and `retry_decided`.
/// - Then, as before the first attempt, one or more `refused` of an attempt may follow. If a policy waits when
///   refused, they may be of the retry again.
/// - An operation without memory at the start is left out entirely. So is a `backoff_ticker`, which makes no
///   attempts.
///
/// Thread safety: every thread that runs an operation calls an observer, without a lock. An override may do
/// anything but throw. It may cancel the operation or start another. Post an operation that you start at every
/// end, because it may end before `on_event` returns.
class ASIO_RETRY_DECL retry_observer {
public:
    virtual ~retry_observer();
    /// Called for each event, in their order.
    virtual void on_event(observation const& event) noexcept = 0;
};

} // namespace asio_retry
