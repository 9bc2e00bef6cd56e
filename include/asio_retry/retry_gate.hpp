#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/pushback.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace asio_retry {

/// What an admitted attempt came to.
struct attempt_end {
    /// How it ended.
    enum class how : unsigned char {
        succeeded,
        failed,
        abandoned, ///< it says nothing of the server: cancelled by the caller, never begun, lost to another
                   ///< one of a hedge, or ended with an operation_aborted that no limit caused
    };

    how outcome = how::succeeded; ///< how it ended

    /// Of a failure, whether it is retried or not: what `classify`, or the policy's own, says of its code.
    ///
    /// - A judged value has the kind of its judgement.
    /// - `timeout` if a limit had told the attempt to stop.
    /// - `permanent` if the attempt marked its error as permanent, unless the error is operation_aborted.
    /// - If nothing is known of the failure, as of a code of a foreign category or of an exception without a
    ///   code: `permanent` where `retry_if` refuses it, and `transient` otherwise.
    /// - `transient` where `retry_if` wants a retry after an operation_aborted that no limit caused.
    failure_kind kind = failure_kind::none;
    failure_kind after = failure_kind::none; ///< the failure that this attempt was a retry of; none for a first
                                             ///< one, and for a retry that did not begin after all: it is
                                             ///< given back, or asked for again
    std::uint64_t number = 1;                ///< of the attempt, from 1
    time_point now{}; ///< of an abandoned one, the `now` of its `admit`; without meaning if no gate measures
                      ///< time, unless it failed
    duration took{};  ///< since the `now` of its `admit`; without meaning if abandoned, and, though it failed,
                      ///< if no gate measures time
    pushback said;    ///< what the peer said about trying again
};

namespace detail {

/// error::attempt_refused, made once: an attempt that is admitted should not pay for a code that nobody reads.
inline error_code const& attempt_refused_error() noexcept {
    static error_code const code = error::attempt_refused;
    return code;
}

} // namespace detail

/// Whether an attempt may begin. It can be made of a time alone: `return now;`
struct admission {
    /// Up to now: the attempt may begin. Later: it is refused with `why`.
    admission(time_point when, error_code const& why = detail::attempt_refused_error()) noexcept
        : until(when)
        , refusal(why) {}

    time_point until;   ///< up to now: begin. Later: refused until then; max(): nobody knows until when
    error_code refusal; ///< what a refused first attempt completes with
};

/// Something that many operations share and that may refuse what they are about to do: a budget, a breaker, a
/// limit.
///
/// Override the functions that matter; the others do nothing. Of each operation a gate is told a story: an
/// attempt is asked for (`admit`) and ends (`on_end`); a retry is asked for (`acquire`) after the end of the
/// attempt that failed, or in a hedge beside those that run, and either its attempt is asked for, or it is
/// given back (`give_back`). It is given back too where its attempt was refused, and another attempt is asked
/// for where the policy waits instead; and where its attempt was admitted and did not begin, which ends
/// abandoned, after nothing. A `backoff_ticker` makes no attempts and asks for retries alone.
///
/// Thread safety: called from every thread that runs an operation, without a lock. An override may do anything
/// but throw; it reads no clock, because `now` says what time it is.
class ASIO_RETRY_DECL retry_gate {
public:
    virtual ~retry_gate();

    /// Takes what one retry costs; false refuses the retry, which ends its operation with stop_reason::budget.
    /// Asked once for each retry, when it has been decided and before its wait; never for a first attempt.
    /// Where the policy waits when refused, the operation goes on, and asks again after that wait. `kind` is
    /// that of the failure.
    virtual bool acquire(failure_kind kind, time_point now) noexcept;

    /// Gives back what `acquire` took for a failure of this kind, because no attempt followed.
    virtual void give_back(failure_kind kind) noexcept;

    /// Whether attempt `number` may begin at `now`; asked before every attempt. `now` is time_point() where no
    /// gate of the policy measures time.
    virtual admission admit(std::uint64_t number, time_point now) noexcept;

    /// Called exactly once for every admitted attempt.
    virtual void on_end(attempt_end const& end) noexcept;

    /// Whether `admit` and successes need the time, which costs reading a clock. Always the same answer.
    virtual bool measures_time() const noexcept;
};

/// A gate that asks several, in this order. What a later one refuses is given back to the earlier ones, and an
/// attempt that a later one refuses has ended in the earlier ones, abandoned.
///
/// Null pointers are left out; without any other there is no gate, and the result is null too.
ASIO_RETRY_DECL std::shared_ptr<retry_gate> all_gates(std::vector<std::shared_ptr<retry_gate>> gates);

} // namespace asio_retry
