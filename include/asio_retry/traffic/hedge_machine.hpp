#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/narrator.hpp>
#include <asio_retry/detail/policy/operation_limits.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/hedge_policy.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/stop_reason.hpp>
#include <asio_retry/verdict.hpp>

#include <atomic>
#include <cassert>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace asio_retry {
namespace detail {
class hedge_driver;
}

/// The next step that a hedge_machine asks for.
struct hedge_action {
    /// The kinds of steps.
    enum class kind : unsigned char {
        begin,   ///< begin attempt `attempt` now, and ask again
        wait,    ///< ask again when an attempt has ended, or at `until`; max(): only when an attempt ends
        stop,    ///< emit `terminal` to all running attempts, and ask again
        deliver, ///< deliver the result to the caller; if attempts still run, ask again when one has ended
        done,    ///< the operation has ended, and no attempt runs
        abandon, ///< no attempt will ever answer: there is nothing to deliver
    };

    kind what = kind::done;    ///< the next step
    std::uint64_t attempt = 0; ///< the attempt to begin; or the one whose result is delivered, 0 for none
    time_point until = (time_point::max)();      ///< when to ask again, of a wait
    stop_reason reason = stop_reason::succeeded; ///< why the operation ends, of a delivery
    error_code error;                            ///< of a delivery: if set, it replaces the result's own error
    std::exception_ptr thrown;                   ///< of a delivery: if not null, it replaces `error`
};

/// The record of one attempt in a hedge_machine.
struct hedged_attempt {
    time_point began{};                               ///< when it began
    std::uint64_t ticket = 0;                         ///< ticket of its admission; set before it begins
    pushback heeded;                                  ///< what its server said
    detail::shared_value<detail::nested_marks> marks; ///< marks of a retry nested in it; null if there is none
    bool is_running = false;                          ///< whether it has not ended
    bool is_recorded = false;                         ///< whether the `latency_quantile` has its duration
};

/// Decides when the attempts of a hedged operation begin and stop, as retry_machine does for retries.
///
/// Report what happened and the time, then call `next` until it answers `wait`, `done` or `abandon`. The
/// machine does no I/O and reads no clock. It calls the policy's callables, its gate and its quantile.
///
/// Thread safety: one operation uses one machine, never concurrently. A callable may call `cancel`.
class ASIO_RETRY_DECL hedge_machine {
public:
    /// `attempts` has room for as many attempts as the policy may make, and must outlive the machine.
    hedge_machine(hedge_policy const& policy, std::span<hedged_attempt> attempts) noexcept;
    hedge_machine(hedge_machine const&) = delete;
    hedge_machine& operator=(hedge_machine const&) = delete;

    /// Ends running attempts as abandoned in the gate, and gives back retries that the gate granted in vain.
    ///
    /// The memory of `attempts` may then be freed without destructors.
    ~hedge_machine();

    /// The policy that it follows.
    hedge_policy const& policy() const noexcept { return policy_; }

    /// @name Before the start
    /// @{
    /// The operation ends by `deadline` at the latest: the deadline of the operation that this one is part of.
    void inherit_deadline(time_point deadline) noexcept { deadline_ = deadline; }

    /// `chooser`, if not null, is a gate of the operation's own: it chooses a server for each attempt. It must
    /// outlive the machine, unless the machine is told that there is none any more.
    void choose_with(detail::machine_observer* chooser) noexcept;

    /// Asks `probe` too whether to stop, before every attempt and after every callback. It must outlive the
    /// machine.
    void watch(detail::cancellation_probe const& probe) noexcept { probe_ = &probe; }
    /// @}

    /// Begins the operation; its time limits count from `now`.
    void start(time_point now);

    /// Call this instead of `start`: ends the operation with `code` before its first attempt, for want of room.
    ///
    /// Only an observer needs the time.
    void refuse(error_code const& code, time_point now = {}) noexcept;

    /// The next step at `now`.
    hedge_action next(time_point now);

    /// When to call `next` even if no attempt ends; time_point::max() if never.
    time_point expiry() const noexcept;

    /// The step `deliver` again, for a caller who could not deliver at once.
    ///
    /// Precondition: `next` has answered `deliver`.
    hedge_action delivery() const;

    /// @name How an attempt ended
    /// Report the end of each attempt exactly once. The result true means: keep the attempt's result, because
    /// it will be delivered. Destroy any other.
    /// @{
    /// The attempt succeeded.
    bool on_success(std::uint64_t attempt, time_point now);
    bool on_failure(std::uint64_t attempt, verdict const& failure, time_point now); ///< `failure` is no success

    /// Nobody can decide on the result of the attempt: ends the operation with `code`, or with `thrown` if that
    /// is not null.
    bool on_exception(std::uint64_t attempt, error_code const& code, std::exception_ptr thrown, time_point now);

    /// The attempt will never complete.
    void on_dropped(std::uint64_t attempt) noexcept;

    /// The attempt has completed after its result ceased to matter.
    ///
    /// After the deadline it timed out; otherwise it is abandoned. `now` must be the time only if
    /// `was_too_late` or `measures_successes`.
    void on_unwanted(std::uint64_t attempt, time_point now) noexcept;
    /// @}

    /// Ends the operation with a failure from outside the policy, unless it has ended.
    void fail(error_code const& code, std::exception_ptr thrown) noexcept;

    /// @name Cancellation
    /// @{
    /// The caller cancels: no further attempt begins. `told`: the running attempts have been told with
    /// `terminal`. If not, `next` answers `stop` only if a result, a failure or the deadline ends the
    /// operation. At or after the deadline of the operation it counts as the deadline, as for a retry_machine.
    void cancel(bool told, time_point now = (time_point::min)()) noexcept;

    /// The caller cancels with `total`, which only an operation without side effects may obey.
    ///
    /// Returns false, and does nothing, if a second attempt has begun or the first one has failed.
    bool cancel_total(time_point now = (time_point::min)()) noexcept;

    /// The scope cancels: `next` asks to stop running attempts, also if they have been told before.
    void cancel_by_scope(time_point now = (time_point::min)()) noexcept;

    /// No further attempt begins; running attempts go on.
    void drain() noexcept;

    /// Whether it was cancelled.
    bool is_cancelled() const noexcept { return stopping_ == stopping::cancelled; }

    /// Whether `next` must be called at the deadline, also when no result is wanted.
    bool watches_deadline() const noexcept { return running_ > 0 && stops_at_ != (time_point::max)(); }

    /// Ends a wait without a running attempt, at `latest` at the latest.
    void begin_by(time_point latest) noexcept;
    /// Ends a wait without a running attempt at once.
    void begin_now(time_point now) noexcept { begin_by(now); }
    /// @}

    /// @name The attempts
    /// @{
    /// The attempt object to pass to the attempt of that number.
    attempt attempt_at(std::uint64_t number) const noexcept { return {number, deadline_, nullptr}; }
    /// The server said this to that attempt.
    void heed(std::uint64_t number, pushback said) noexcept { attempts_[number - 1].heeded = said; }
    /// That attempt may have sent something; the attempt that this hedge is nested in is told.
    void on_sent(std::uint64_t number) noexcept;
    detail::shared_value<detail::nested_marks>
    marks_of_nested(std::uint64_t number) noexcept; ///< null without memory
    /// How many attempts have begun.
    std::uint64_t begun() const noexcept { return begun_; }
    /// How many attempts run.
    std::uint64_t running() const noexcept { return running_; }
    /// Whether that attempt runs.
    bool is_running(std::uint64_t number) const noexcept { return attempts_[number - 1].is_running; }

    /// Whether the result of an attempt still matters.
    bool wants_results() const noexcept { return phase_ < phase::closed; }

    /// Whether the attempts that still run have missed the deadline.
    bool was_too_late() const noexcept { return !wants_results() && reason_ == stop_reason::deadline; }

    /// Whether there is something to deliver though no attempt will answer.
    bool has_end() const noexcept { return phase_ != phase::open || failures_ > 0 || begun_ == 0; }
    /// @}

    /// Whether `on_success` needs the time.
    bool measures_successes() const noexcept { return measures_successes_; }

    /// The number of the operation for its observer; 0 if no observer hears of it.
    std::uint64_t operation_number() const noexcept { return tell_.operation_number(); }

private:
    friend detail::hedge_driver;

    /// A hedge_action without the result of a delivery.
    struct step {
        hedge_action::kind what;
        std::uint64_t attempt = 0;
        time_point until = (time_point::max)();
    };

    enum class phase : unsigned char {
        open,   // no result yet
        ending, // its end is known, unless an attempt succeeds meanwhile
        closed, // its end is known
        over,   // delivered
    };
    enum class stopping : unsigned char { no, drained, cancelled };

    hedged_attempt& at(std::uint64_t number) noexcept {
        assert(number >= 1 && number <= begun_ + 1u);
        return attempts_[number - 1];
    }
    retry_settings const& common() const noexcept { return policy_.settings().common.settings(); }
    bool is_stopping() noexcept; // asks the probe, too
    void note_cancelled(time_point now) noexcept;
    void end_cancelled() noexcept;
    bool may_begin(time_point when) const noexcept;
    bool is_held_back() const noexcept;
    void pass_on_sent() noexcept;
    time_point deadline_after(time_point reached) noexcept;
    void go_on(time_point now);
    void begin_another(time_point now);
    void make_ready(time_point now);
    bool put_off(time_point until, time_point now) noexcept;
    void end_by_hook() noexcept;
    void on_refused(admission const& answer, std::string_view refuser, time_point now) noexcept;
    void drop_ready() noexcept;
    void tell_end(std::uint64_t number, attempt_end::how outcome, failure_kind kind, pushback said,
                  verdict const* failure, time_point now) noexcept;
    step advance(time_point now);
    step launch(time_point now);
    bool take_lease(time_point now) noexcept;
    void plan_after_failure(pushback said, time_point now);
    bool conclude_failure(std::uint64_t number, verdict const& failure);
    void conclude_unanswered() noexcept;
    void end(phase to, stop_reason reason, std::uint64_t result, error_code const& error,
             std::exception_ptr thrown = {}) noexcept;
    hedged_attempt& take(std::uint64_t number) noexcept;
    void end_attempt(std::uint64_t number, attempt_end::how outcome, failure_kind kind, pushback said,
                     time_point now, verdict const* failure = nullptr) noexcept;
    pushback end_failed(std::uint64_t number, verdict const& failure, bool timed_out,
                        std::optional<bool> wanted, time_point now) noexcept;
    pushback said_with(std::uint64_t number, verdict const& failure) const noexcept;
    void record(hedged_attempt& one, time_point now) noexcept;
    detail::attempt_facts facts_of(interruption stopped) const noexcept;
    void observe_attempt_end(attempt_end end, verdict const* failure, time_point now) noexcept;
    void observe_end(stop_reason reason, error_code const& error, std::exception_ptr const& thrown,
                     time_point now) noexcept;
    interruption stopped_by() const noexcept;

    hedge_policy policy_;
    hedged_attempt* attempts_;
    detail::cancellation_probe const* probe_ = nullptr;
    detail::narrator tell_;
    time_point deadline_ = (time_point::max)();
    time_point stops_at_ = (time_point::max)(); // the next deadline: `next` answers `stop` there
    time_point started_{};
    time_point next_at_ = (time_point::max)();    // when another attempt may begin
    time_point not_before_ = (time_point::min)(); // as servers wish: no attempt begins earlier
    time_point admitted_at_{};                    // of the attempt that is ready or began last
    error_code error_; // the end would deliver it now: the last failure, or the refusal of the first attempt
    std::exception_ptr thrown_;
    std::atomic<std::uint16_t> sent_ = 0; // a bit for each running attempt that has, unless `hedge_sent` is set
    std::uint8_t begun_ = 0;
    std::uint8_t running_ = 0;
    std::uint8_t failures_ = 0;                  // attempts that failed while it was open
    std::uint8_t result_ = 0;                    // the attempt whose result is delivered; 0 for none
    stop_reason reason_ = stop_reason::attempts; // why no further attempt begins, and so why it ends
    phase phase_ = phase::open;
    stopping stopping_ = stopping::no;
    bool no_more_ = false;        // no further attempt begins; `reason_` says why
    bool is_ready_ = false;       // the next attempt is admitted
    bool has_to_stop_ = false;    // `next` answers `stop` as soon as the end is known, if attempts run
    bool was_told_ = false;       // to stop, with `terminal`
    bool cancelled_late_ = false; // at its deadline, or later
    bool is_unanswered_ = false;  // all attempts were dropped: there is nothing to deliver
    bool has_marked_ = false;     // an attempt has failed with a permanent error
    bool measures_successes_ = false;
};

} // namespace asio_retry
