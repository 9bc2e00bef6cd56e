#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/gate_waiter.hpp>
#include <asio_retry/pushback.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace asio_retry {

/// The end of an admitted attempt, as a gate hears it.
struct attempt_end {
    /// How an attempt ended.
    enum class how : unsigned char {
        succeeded,
        failed,
        abandoned, ///< it says nothing of the server: cancelled by the caller, never begun, beaten by another
                   ///< attempt of a hedge, ended with an operation_aborted that no time limit caused, or
                   ///< refused by a gate further in (condition::refused)
    };

    how outcome = how::succeeded; ///< how it ended

    /// The kind of a failure: the answer of `classify`, or of the policy's own function, for its code.
    ///
    /// The kind does not depend on whether the failure is retried.
    ///
    /// - A judged value has the kind of its judgement.
    /// - `timeout` if a time limit had cancelled the attempt.
    /// - `permanent` if the attempt marked its error as permanent, unless the error is operation_aborted.
    /// - If nothing is known of the failure, as of a code of a foreign category or of an exception without a
    ///   code: `permanent` where `retry_if` refuses it, and `transient` otherwise.
    /// - `transient` where `retry_if` wants a retry after an operation_aborted that no time limit caused.
    failure_kind kind = failure_kind::none;
    failure_kind after =
        failure_kind::none;   ///< the failure that this attempt retries; none for a first one, and for a retry
                              ///< that did not begin after all: it is given back, or asked for again
    std::uint64_t number = 1; ///< number of the attempt, from 1

    /// The time of the end.
    ///
    /// - An abandoned attempt has the `now` of its `admit` instead, or its reserved time.
    /// - Without meaning if no gate measures time, unless the attempt failed.
    time_point now{};

    /// The time since the `now` of its `admit`.
    ///
    /// Without meaning if the attempt was abandoned, or if no gate measures time.
    duration took{};

    pushback said{};          ///< the server's wish about retries
    bool is_beaten = false;   ///< abandoned, because an attempt of the hedge that began later has succeeded
    bool is_unbegun = false;  ///< abandoned, and it did not begin
    std::uint64_t ticket = 0; ///< of its admission
};

namespace detail {

/// error::attempt_refused, made once, so that an admitted attempt does not pay for an unused code.
inline error_code const& attempt_refused_error() noexcept {
    static error_code const code = error::attempt_refused;
    return code;
}

/// The end of an attempt that was admitted at the time `admitted` and does not begin.
inline attempt_end unbegun(std::uint64_t number, time_point admitted) noexcept {
    attempt_end end;
    end.outcome = attempt_end::how::abandoned;
    end.number = number;
    end.now = admitted;
    end.is_unbegun = true;
    return end;
}

} // namespace detail

/// Whether an attempt may begin. A time alone makes one: `return now;`
struct admission {
    /// With a time up to now, the attempt may begin. With a later one, the gate refuses it with `why`.
    admission(time_point when, error_code const& why = detail::attempt_refused_error()) noexcept
        : until(when)
        , refusal(why) {}

    time_point until;   ///< up to now: begin. Later: refused until then. max(): refused for an unknown time
    error_code refusal; ///< the error with which a refused first attempt completes

    /// Admitted for the time `until`, and for no other time.
    ///
    /// With `wait_when_refused` the operation waits until then, without the delay of its backoff, and begins.
    /// Otherwise it is refused. The gate hears of the end either way: if the attempt does not begin, it ends
    /// abandoned, `is_unbegun`, and its `now` is the reserved time.
    bool reserved = false;

    /// Refused, but the operation may wait in the gate's queue: see retry_gate::enqueue.
    bool can_queue = false;

    /// Identifies this admission: `attempt_end::ticket` has the same number. 0: the gate needs none.
    std::uint64_t ticket = 0;
};

namespace detail {

/// The end of an attempt that was admitted with the answer `given` and does not begin.
inline attempt_end unbegun(std::uint64_t number, admission const& given) noexcept {
    attempt_end end = unbegun(number, given.until);
    end.ticket = given.ticket;
    return end;
}

} // namespace detail

/// Something that many operations share and that may refuse attempts: a retry budget, a circuit breaker, a
/// limit.
///
/// Override the functions that matter; the others do nothing. A gate hears of each operation in this order:
/// - An attempt is asked for (`admit`) and ends (`on_end`).
/// - A retry is asked for (`acquire`) after the end of the failed attempt, or in a hedge while others run.
/// - Then its attempt is asked for, or the retry is given back (`give_back`).
/// - If the gate refuses the attempt of a retry, the retry is given back too. If the policy waits instead,
///   another attempt is asked for.
/// - An attempt that was admitted and has waited since, for a time or in a queue, is asked for again before it
///   begins (`admit_again`).
/// - If an admitted attempt does not begin, the retry is given back, and the attempt ends abandoned, `after`
///   nothing.
///
/// An operation inside an attempt (`nested_in`) may have the same gate, alone or in `all_gates`. The first
/// attempt that asks there is the request that the gate has admitted already. It takes over the admission and
/// the cost of the retry, and tells the end. The attempt around it then tells no end to this gate. The gate is
/// asked about later attempts inside as about any other.
///
/// A `backoff_ticker` makes no attempts and asks for retries alone. A hedge and a blocking `retry` wait in no
/// queue, and a hedge waits for no reserved time: both are refused.
///
/// Thread safety: every thread that runs an operation calls a gate, without a lock. An override may do anything
/// but throw. It reads no clock, because it receives `now`.
class ASIO_RETRY_DECL retry_gate {
public:
    virtual ~retry_gate();

    /// Takes the cost of one retry; false refuses the retry, which ends its operation with stop_reason::budget.
    ///
    /// Asked once for each retry, after the decision to retry and before its wait; never for a first attempt.
    /// If the policy waits when refused, the operation continues, and asks again after that wait. `kind` is
    /// that of the failure.
    virtual bool acquire(failure_kind kind, time_point now) noexcept;

    /// Gives back the cost that `acquire` took for a failure of this kind, because no attempt followed.
    virtual void give_back(failure_kind kind) noexcept;

    /// Whether attempt `number` may begin at `now`; asked before every attempt.
    ///
    /// `now` is time_point() if no gate of the policy measures time.
    virtual admission admit(std::uint64_t number, time_point now) noexcept;

    /// Puts an operation into the gate's queue, after a refusal with `can_queue`.
    ///
    /// The answer says whether the operation waits: `can_queue` is true then, and `until` is the time when it
    /// gives up. The gate calls `waiter.grant()` when the attempt may begin. Any other answer is as that of
    /// `admit`. A gate without a queue need not override this.
    virtual admission enqueue(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept;

    /// Takes an operation that waits from the queue. Called once after each `enqueue` that let it wait.
    ///
    /// The answer is as that of `admit`: up to now, if the gate has granted the attempt before.
    virtual admission leave(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept;

    /// Called exactly once for every admitted attempt.
    virtual void on_end(attempt_end const& end) noexcept;

    /// Whether `admit` and successes need the time: true unless a gate says otherwise. Always the same answer.
    ///
    /// Without the time, first attempts read no clock, and the gate's operations wait neither in its queue nor
    /// for a time that it reserves.
    virtual bool measures_time() const noexcept;

    /// The name of the gate, for observers: "gate" unless a gate says otherwise.
    ///
    /// A literal, or text that lives as long as the program. The result of `all_gates` has the name of its gate
    /// that has refused last on the calling thread.
    virtual std::string_view name() const noexcept;

    /// Whether attempt `number` may begin at `now`, although it was admitted `before`: it has waited since for
    /// its reserved time, or at another gate of `all_gates`.
    ///
    /// The answer replaces the admission `before`, and means what an answer of `admit` means. A refusal is the
    /// end of that admission: no `on_end` follows. Unless a gate overrides this, a time that the gate has
    /// reserved stays reserved. Any other admission ends (`on_end`), and the attempt is asked for anew
    /// (`admit`).
    virtual admission admit_again(admission const& before, std::uint64_t number, time_point now) noexcept;

    /// Links an operation that waits for the time that it was `given`, and returns whether it has done so. If
    /// that time moves, the gate calls `waiter.grant()`: the operation wakes, and asks again (`admit_again`). A
    /// gate that never moves a time need not override this.
    virtual bool watch(gate_waiter& waiter, admission const& given) noexcept;

    /// Unlinks an operation that was woken or waits no more. Called once after each `watch` that answered true.
    virtual void unwatch(gate_waiter& waiter, admission const& given) noexcept;

    /// Whether a new gate with the same options would answer alike from `now` on, so that `keyed_gates` may
    /// forget this gate and nobody notices.
    ///
    /// True unless a gate says otherwise: override it in a gate that remembers something. Random draws do not
    /// count. The function changes nothing, and `now` may be any time.
    ///
    /// Any thread may call it. `keyed_gates` calls it while it holds its mutex, so an override calls no
    /// `keyed_gates`, and does not block.
    virtual bool is_idle(time_point now) const noexcept;
};

/// A gate that asks several gates, in this order.
///
/// If a later gate refuses a retry, it is given back to the earlier ones. If a later gate refuses an attempt,
/// the attempt ends in the earlier ones, abandoned. While an operation waits in the queue of one gate, the
/// earlier ones have admitted its attempt, and the later ones have not been asked. An operation that has waited
/// in one queue may wait in a later one, too. When a wait is over, all gates that had admitted the attempt
/// before are asked again. Null pointers are left out; without any other gate the result is null too. It is
/// idle if all of them are: a gate that several of such gates share makes all of them busy.
ASIO_RETRY_DECL std::shared_ptr<retry_gate> all_gates(std::vector<std::shared_ptr<retry_gate>> gates);

} // namespace asio_retry
