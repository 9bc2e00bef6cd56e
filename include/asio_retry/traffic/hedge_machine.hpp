#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/policy/config.hpp>
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

namespace asio_retry {

/// What whoever runs a hedge_machine has to do next.
struct hedge_action {
    /// What there is to do.
    enum class kind : unsigned char {
        begin,   ///< begin attempt `attempt` now, and ask again
        wait,    ///< ask again when an attempt has ended or at `until`; max(): whenever an attempt ends
        stop,    ///< tell all attempts that run to stop (`terminal`), and ask again
        deliver, ///< the operation is over for its caller; if attempts still run, ask again when one has ended
        done,    ///< and nothing runs any more
        abandon, ///< nobody will answer any more: there is nothing to deliver
    };

    kind what = kind::done;    ///< the next step
    std::uint64_t attempt = 0; ///< the one to begin; or the one whose result is delivered, 0 for none
    time_point until = (time_point::max)();      ///< of a wait
    stop_reason reason = stop_reason::succeeded; ///< of a delivery
    error_code error;                            ///< of a delivery: in place of the result's own error, if set
    std::exception_ptr thrown;                   ///< of a delivery: instead of `error`, if not null
};

/// What a hedge_machine keeps of an attempt.
struct hedged_attempt {
    time_point began{};                       ///< when it began
    pushback heeded;                          ///< what its peer said
    detail::shared_value<nested_marks> marks; ///< of a retry nested in it; null if there is none
    bool is_running = false;                  ///< whether it has not ended
    bool is_recorded = false;                 ///< in the quantile
};

/// Decides for every hedged operation, as retry_machine does for retries.
///
/// Told what happened and what time it is, it is then asked what to do (`next`) until it answers `wait`, `done`
/// or `abandon`. It performs no I/O and reads no clock. It calls the policy's callables, its gate and its
/// quantile. Thread safety: one machine is used by one operation, never concurrently; a callable may call
/// `cancel`.
class ASIO_RETRY_DECL hedge_machine {
public:
    /// `attempts` is memory for as many as the policy may make, and must outlive the machine.
    hedge_machine(hedge_policy const& policy, std::span<hedged_attempt> attempts) noexcept;
    hedge_machine(hedge_machine const&) = delete;
    hedge_machine& operator=(hedge_machine const&) = delete;

    /// Attempts that run end as abandoned in the gate, and what it granted in vain is given back. The memory
    /// may then be freed as it is.
    ~hedge_machine();

    /// What it decides by.
    hedge_policy const& policy() const noexcept { return policy_; }

    /// @name Before the start
    /// @{
    /// The operation has no more time than what it is a part of.
    void inherit_deadline(time_point deadline) noexcept { deadline_ = deadline; }

    /// From now on `probe` is asked too whether to stop, before every attempt and after every callback. It must
    /// outlive the machine.
    void watch(cancellation_probe const& probe) noexcept { probe_ = &probe; }
    /// @}

    /// Begins the operation: the time counts from `now`.
    void start(time_point now);

    /// Instead: ends it with `code` before its first attempt, because there is no room for it.
    void refuse(error_code const& code) noexcept;

    /// What to do.
    hedge_action next(time_point now);

    /// When `next` wants to be asked, unless an attempt ends before; time_point::max() if only then.
    time_point expiry() const noexcept;

    /// What `next` has said, for whoever cannot deliver at once. Precondition: it has answered `deliver`.
    hedge_action delivery() const;

    /// @name What an attempt came to
    /// Each is told once for every attempt that began. They return whether its result has to be kept, because
    /// it will be delivered; any other is to be destroyed.
    /// @{
    /// It succeeded.
    bool on_success(std::uint64_t attempt, time_point now);
    bool on_failure(std::uint64_t attempt, verdict const& failure, time_point now); ///< not one that succeeded

    /// Nobody can decide on its result: ends the operation with `code`, or with `thrown` if that is not null.
    bool on_exception(std::uint64_t attempt, error_code const& code, std::exception_ptr thrown, time_point now);

    /// It will never complete.
    void on_dropped(std::uint64_t attempt) noexcept;

    /// It has completed when its result did not matter any more: after the deadline it timed out, and otherwise
    /// it is abandoned. `now` needs to be the time if `was_too_late`.
    void on_unwanted(std::uint64_t attempt, time_point now) noexcept;
    /// @}

    /// Something outside the policy failed: ends the operation with it, unless it has ended.
    void fail(error_code const& code, std::exception_ptr thrown) noexcept;

    /// @name Cancellation
    /// @{
    /// The caller cancels: no further attempt begins. `told`: those that run have been told with `terminal`;
    /// otherwise `next` does not ask for it either, unless the operation ends in another way.
    void cancel(bool told) noexcept;

    /// One that only a side-effect-free operation may obey. Returns false, and does nothing, if a second
    /// attempt has begun or the first one has failed.
    bool cancel_total() noexcept;

    /// The scope cancels: those that run have to be told, also if they have been told before.
    void cancel_by_scope() noexcept;

    /// The attempts that run may go on; no further one begins.
    void drain() noexcept;

    /// Whether somebody has cancelled it.
    bool is_cancelled() const noexcept { return stopping_ == stopping::cancelled; }

    /// Whether `next` has to be told the time, also where no result is wanted.
    bool watches_deadline() const noexcept { return running_ > 0 && tells_at_ != (time_point::max)(); }

    /// Ends a wait during which nothing runs, no later than `latest`.
    void begin_by(time_point latest) noexcept;
    /// The same at once.
    void begin_now(time_point now) noexcept { begin_by(now); }
    /// @}

    /// @name The attempts
    /// @{
    /// What the attempt of that number is told.
    attempt attempt_at(std::uint64_t number) const noexcept { return {number, deadline_, nullptr}; }
    /// What the peer said to that attempt.
    void heed(std::uint64_t number, pushback said) noexcept { attempts_[number - 1].heeded = said; }
    /// An attempt may have sent something, which the attempt that the hedge is nested in hears.
    void on_sent() noexcept;
    detail::shared_value<nested_marks> marks_of_nested(std::uint64_t number) noexcept; ///< null without memory
    /// How many attempts have begun.
    std::uint64_t begun() const noexcept { return begun_; }
    /// How many of them run.
    std::uint64_t running() const noexcept { return running_; }
    /// Whether that one runs.
    bool is_running(std::uint64_t number) const noexcept { return attempts_[number - 1].is_running; }

    /// Whether the result of an attempt still matters.
    bool wants_results() const noexcept { return phase_ < phase::closed; }

    /// Whether the attempts that still run have missed the deadline.
    bool was_too_late() const noexcept { return !wants_results() && reason_ == stop_reason::deadline; }

    /// Whether there is something to deliver though nobody answers any more.
    bool has_end() const noexcept { return phase_ != phase::open || failures_ > 0; }
    /// @}

    /// Whether successes have to be told the time.
    bool measures_successes() const noexcept;

private:
    enum class phase : unsigned char {
        open,   // no result yet
        ending, // its end is known, unless an attempt succeeds after all
        closed, // its end is known
        over,   // delivered
    };
    enum class stopping : unsigned char { no, drained, cancelled };

    hedged_attempt& at(std::uint64_t number) noexcept {
        assert(number >= 1 && number <= begun_ + 1u);
        return attempts_[number - 1];
    }
    retry_settings const& common() const noexcept { return policy_.settings().common.settings(); }
    bool is_stopping() noexcept;
    bool may_begin(time_point when) const noexcept;
    time_point deadline_after(time_point reached) noexcept;
    void go_on(time_point now);
    void begin_another(time_point now);
    void make_ready(time_point now, verdict const* after = nullptr);
    void end_by_hook(verdict const* after) noexcept;
    void drop_ready() noexcept;
    hedge_action launch(time_point now);
    bool take_lease(time_point now) noexcept;
    void give_lease_back() noexcept;
    void plan_after_failure(verdict const& failure, pushback said, time_point now);
    bool conclude_failure(std::uint64_t number, verdict const& failure);
    void conclude_unanswered() noexcept;
    void end(phase to, stop_reason reason, std::uint64_t result, error_code const& error,
             std::exception_ptr thrown = {}) noexcept;
    hedged_attempt& take(std::uint64_t number) noexcept;
    void end_attempt(std::uint64_t number, attempt_end::how outcome, failure_kind kind, pushback said,
                     time_point now) noexcept;
    pushback end_failed(std::uint64_t number, verdict const& failure, bool timed_out,
                        std::optional<bool> wanted, time_point now) noexcept;
    pushback said_with(std::uint64_t number, verdict const& failure) const noexcept;
    void record(hedged_attempt& one, time_point now) noexcept;

    hedge_policy policy_;
    hedged_attempt* attempts_;
    cancellation_probe const* probe_ = nullptr;
    time_point deadline_ = (time_point::max)();
    time_point tells_at_ = (time_point::max)(); // those that run, whatever they have been told before
    time_point started_{};
    time_point next_at_ = (time_point::max)(); // when another attempt may begin
    time_point not_before_ = (time_point::min)();
    time_point admitted_at_{}; // the attempt that is ready or began last
    error_code error_;         // to deliver; or of the last failure, or the refusal of the first attempt
    std::exception_ptr thrown_;
    std::uint8_t begun_ = 0;
    std::uint8_t running_ = 0;
    std::uint8_t failures_ = 0;
    std::uint8_t result_ = 0;
    stop_reason reason_ = stop_reason::attempts; // why it ended; before that, why no further attempt begins
    phase phase_ = phase::open;
    stopping stopping_ = stopping::no;
    bool no_more_ = false;
    bool is_ready_ = false;  // the next attempt is admitted
    bool has_lease_ = false; // for the next attempt
    bool has_to_stop_ = false;
    bool was_told_ = false; // to stop, with terminal
    bool is_lost_ = false;
    bool has_marked_ = false; // an attempt has failed with a permanent error
};

} // namespace asio_retry
