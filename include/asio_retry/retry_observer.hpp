#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/interruption.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/stop_reason.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry {

/// An event of an operation.
struct observation {
    /// The kinds of events.
    enum class kind : unsigned char {
        started,
        attempt_began, ///< an attempt begins, unless the observer itself cancels the operation now
        attempt_ended,
        retry_decided, ///< a wait of `delay` follows; never of a hedge
        refused,       ///< a gate refused the retry or the attempt
        held, ///< a gate lets the attempt begin later: after `delay`, or from its queue if that is zero
        ended,
    };

    kind what = kind::started;   ///< the kind of this event
    std::uint64_t operation = 0; ///< the operation's number, unique in the process
    std::uint64_t attempt =
        0;            ///< the number of the attempt; at the end of the operation, the number of attempts made
    time_point now{}; ///< the time of the event
    error_code error; ///< the failure's, or the refusal; operation_aborted for an abandoned attempt; of
                      ///< attempt_began in a hedge: of the failure after which it begins, if that is why
    failure_kind failure =
        failure_kind::none; ///< as a gate hears it; none is a success, and an abandoned attempt is `permanent`,
                            ///< but `transient` if a gate further in has refused it
    duration took{};        ///< duration of the attempt, or of the operation; of attempt_began, of the
                            ///< operation until then
    duration delay{};       ///< of retry_decided: the wait; of held: until the time that the gate reserved; of
                            ///< `ended`: how long no attempt ran
    stop_reason reason = stop_reason::succeeded; ///< why the operation ended
    bool is_hedge = false;                       ///< the operation is an `async_hedge`
    bool is_abandoned = false; ///< of an attempt that ended: nobody waited for its answer, as for the loser of
                               ///< a hedge, or the program closed its socket
    interruption stopped{}; ///< of an attempt that ended: the time limit, caller, scope or other attempt that
                            ///< cancelled it
    std::string_view gate; ///< of refused and held: `retry_gate::name()`, or "endpoint_set"; of ended: the gate
                           ///< that refused last, if the reason is `budget` or `refused`
    std::exception_ptr exception; ///< the failure's; null if it is an error code
    pushback said{};              ///< the server's wish about retries
    int status = 0;               ///< status of the HTTP response, if `judge_http` judged one; else 0
    time_limit limit{};           ///< the time limit that stopped the attempt
    duration allowed{};           ///< the length of that limit; zero for a deadline
    std::string_view policy{}; ///< `retry_policy::name`; empty without one. Valid while the policy or a copy of
                               ///< it lives, as in `on_event`

    /// What happened in one line: `retry_event::message` for a failure, "token_budget refused the retry" for a
    /// refusal, "in the queue of concurrency_limit" for a wait, and "succeeded" if there is none of them.
    ASIO_RETRY_DECL std::string message() const;
};

/// Hears of every event of the operations of a policy.
///
/// It hears one story of each operation: `started`, then any number of attempts, each with its beginning and
/// its end, then `ended`. Attempts of a hedge overlap.
/// - An admitted attempt that did not begin, because the operation ended first, is left out.
/// - The observer may cancel the operation when it hears that an attempt begins. Then that attempt is not made,
///   and has ended, abandoned.
/// - After the end of an attempt may come `refused`, of a retry and without an error, and `retry_decided`.
/// - Then, as before the first attempt, one or more `refused` of an attempt may follow. If a policy waits when
///   refused, they may be of the retry again.
/// - With `deliver_at_once`, an attempt that is left behind has ended, abandoned, before the operation ends.
/// - An operation without memory at the start is left out entirely. So is a `backoff_ticker`, which makes no
///   attempts.
///
/// Thread safety: every thread that runs an operation calls an observer, without a lock. An override may do
/// anything but throw. It may cancel the operation or start another. Post an operation that you start at every
/// end, because it may end before `on_event` returns.
class ASIO_RETRY_DECL retry_observer {
public:
    virtual ~retry_observer();

    /// Whether the observer hears of the operation of this number. By default it hears of all.
    ///
    /// Asked before an operation starts. An operation of which nobody hears costs no memory and reads no clock
    /// for the observer. Always the same answer for the same number.
    virtual bool wants(std::uint64_t operation) noexcept;

    /// Called for each event, in their order.
    virtual void on_event(observation const& event) noexcept = 0;
};

/// Makes one observer that tells all of these, in this order.
///
/// Each hears of the operations that it wants. Null pointers are left out; without any observer the result is
/// null too.
ASIO_RETRY_DECL std::shared_ptr<retry_observer>
all_observers(std::vector<std::shared_ptr<retry_observer>> observers);

} // namespace asio_retry
