#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/narrator.hpp>
#include <asio_retry/detail/policy/operation_limits.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/interruption.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/stop_reason.hpp>
#include <asio_retry/verdict.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

namespace asio_retry {
namespace detail {
enum class retry_wish : unsigned char;
} // namespace detail

/// The next step for the code that runs a retry_machine.
struct retry_action {
    /// The kinds of steps.
    enum class kind {
        attempt,  ///< make an attempt now
        wait,     ///< wait for `delay`, then ask `on_wait_over`; a delay of zero lets others run first
        complete, ///< the operation is over
    };

    kind what = kind::complete;                  ///< the next step
    duration delay{};                            ///< how long to wait
    stop_reason reason = stop_reason::succeeded; ///< why the operation completes
    error_code error; ///< of a completion: if set, it is delivered in place of the last attempt's own error
    std::exception_ptr thrown; ///< of a completion: the exception of a callback, or the one inside a permanent
                               ///< error; if set, it is delivered instead of `error`
};

/// Decides every next step, for every form of retry.
///
/// You tell it the result of each attempt and the time, and it answers with the next step. It performs no I/O,
/// reads no clock and owns no source of randomness; time and randomness are parameters. It calls the policy's
/// callables.
///
/// Thread safety: one operation uses one machine, never concurrently; a callable may call `cancel`.
class retry_machine {
public:
    /// Makes the machine of one operation.
    explicit retry_machine(retry_policy policy) noexcept
        : retry_machine(std::move(policy), policy.kept()) {}
    retry_machine(retry_machine const&) = delete;
    retry_machine& operator=(retry_machine const&) = delete;
    ~retry_machine() {
        if (tell_.is_told())
            tell_.tell_loss(attempts_);
    }

    retry_policy const& policy() const noexcept { return policy_; } ///< the policy of the operation

    /// @name Before the start
    /// @{
    /// Gives the operation no more time than the operation or scope around it has.
    void inherit_deadline(time_point deadline) noexcept {
        limits_.inherit(deadline);
        if (deadline != (time_point::max)())
            limits_attempts_ = measures_time_ = true;
    }
    /// Tells `observer` all events, before the observers given earlier. It must outlive the machine.
    ASIO_RETRY_DECL void observe(detail::machine_observer& observer, bool has_hooks = false) noexcept;
    /// Tells `chooser` all events, and asks it as a gate: it chooses a server for each attempt.
    ASIO_RETRY_DECL void choose_with(detail::machine_observer& chooser) noexcept;
    /// Whether there is a chooser, which draws from the operation's source.
    bool chooses() const noexcept { return tell_.chooses(); }
    void draw_from(random& source) noexcept { tell_.draw_from(source); } ///< before the start
    /// Lets the attempts themselves say when they are healthy, and when they have sent something.
    void expect_marks() noexcept { tell_.expect_marks(); }
    /// Makes a value that stays a failure end the operation with `error::exhausted`.
    void expect_errors() noexcept { names_rejected_ = true; }
    /// Makes the attempts ticks of a backoff_ticker: the gate sees only retries, the observer hears nothing.
    void expect_ticks() noexcept { tell_.expect_ticks(); }
    /// Makes the operation wait in no queue of a gate, because nobody can wake it.
    void expect_no_wake_up() noexcept { tell_.expect_no_wake_up(); }
    /// Asks `probe` before every initiation and after every callback whether to stop. It must outlive this.
    void watch(detail::cancellation_probe const& probe) noexcept { limits_.watch(probe); }

    bool limits_attempts() const noexcept { return limits_attempts_; } ///< whether an attempt may be cancelled
    bool measures_time() const noexcept { return measures_time_; }     ///< whether `start` needs the time
    /// Whether the driver must call `on_success`.
    bool tells_success() const noexcept { return tell_.is_told(); }
    bool is_observed() const noexcept { return tell_.needs_time_of_success(); } ///< and pass the time
    /// Whether the first attempt may begin without a question to the gate, a probe or the clock.
    bool asks_nothing() const noexcept {
        return stopping_ == stopping::no && !measures_time_ && !tell_.is_told() && !limits_.probe();
    }
    /// @}

    /// Whether a success calls a hook, which belongs on the executor.
    bool hears_success() const noexcept {
        return tell_.is_told() && (tell_.has_hooks() || policy_.settings().on_success);
    }
    /// Whether it answers a refusal with a wait, whose delay needs randomness.
    bool waits_when_refused() const noexcept {
        return tell_.is_told() && (tell_.chooses() || policy_.settings().wait_when_refused);
    }

    /// Begins the operation: the time counts from `now`, which only a machine that measures time needs.
    ///
    /// If the gate refuses and the policy waits when refused, the answer is a wait; without a `source` its
    /// delay has no jitter.
    retry_action start(time_point now = {}) { return begin(now, nullptr); }
    retry_action start(time_point now, random& source) { return begin(now, &source); } ///< begins with jitter
    /// Whether `start(now)` will answer with an attempt, and so call none of the policy's callables. It asks
    /// the gate now, and only once.
    bool may_start(time_point now = {}) noexcept {
        return (!measures_time_ || start_clock(now)) && !cancelled() && (!tell_.is_told() || is_admitted(now));
    }
    /// Whether may_start has answered false because of the gate.
    bool was_refused() const noexcept { return tell_.is_refused(); }
    /// Begins the operation with an attempt, like `start`. Precondition: may_start(now) has answered true.
    /// Returns false if the policy's observer cancels when it hears of the attempt: then it has not begun.
    bool start_with_attempt(time_point now = {}) noexcept {
        if (tell_.is_told() && tell_.announce(attempts_ + 1, now) && stopping_ != stopping::no)
            return false;
        begin_attempt(now);
        return true;
    }
    /// Ends the operation with `code` before its first attempt, because there is no room for it.
    ASIO_RETRY_DECL retry_action refuse(error_code const& code, time_point now = {});

    /// An attempt succeeded; a success wins over a cancellation or a deadline that arrived meanwhile.
    retry_action on_success(time_point now = {}) noexcept {
        return tell_.is_told() ? tell_success(now) : retry_action();
    }
    /// An attempt failed at `now`. Precondition: !failure.succeeded().
    ASIO_RETRY_DECL retry_action on_failure(verdict const& failure, time_point now, random& source);
    /// Ends the operation with `code`, or with `thrown` if that is not null, because code outside the policy
    /// threw: a predicate of `fail_if`, or the library's own steps.
    ASIO_RETRY_DECL retry_action on_exception(error_code const& code, std::exception_ptr thrown,
                                              time_point now = {});

    /// The wait ended, or a cancellation or a `retry_now` cut it short.
    retry_action on_wait_over(time_point now) { return end_wait(now, nullptr); }
    /// Like `on_wait_over(now)`, with jitter after a refusal.
    retry_action on_wait_over(time_point now, random& source) { return end_wait(now, &source); }
    /// Lets the gate that holds the attempt end the wait with `wake(who)`, on any thread.
    ///
    /// Call this when the wait has begun. Returns false if the wait is over already.
    bool listen_to_gate(void (*wake)(void*) noexcept, void* who) noexcept { return tell_.listen(wake, who); }
    bool may_be_queued() const noexcept { return tell_.is_held(); } ///< whether a gate may end the wait
    /// The operation is about to be destroyed: it leaves the queue, so that no thread calls `wake` any more.
    void leave_queue() noexcept {
        if (tell_.is_held())
            tell_.leave_queue(attempts_, {});
    }

    /// Cancels for good: no further attempt begins, and the running attempt is cancelled too.
    ///
    /// It does not change events that have happened already. At or after the operation's deadline a
    /// cancellation counts as the deadline, because an outer limit may fire at the same time, and first.
    ASIO_RETRY_DECL void cancel(time_point now = (time_point::min)()) noexcept;
    /// Whether the running attempt is being cancelled already.
    bool tells_attempt() const noexcept { return stopping_ >= stopping::cancelled; }
    /// Cancels for good, but the running attempt may finish.
    ASIO_RETRY_DECL void drain() noexcept;
    /// A cancellation that only an operation without side effects may obey.
    ///
    /// Before the first attempt has failed, or if the policy allows it, this cancels for good and returns true.
    /// Otherwise it ignores the cancellation and returns false.
    ASIO_RETRY_DECL bool cancel_total(time_point now = (time_point::min)()) noexcept;
    /// Whether no further attempt begins, because of `cancel`, `drain` or the probe.
    bool cancelled() noexcept {
        auto const* const probe = limits_.probe();
        if (stopping_ == stopping::no && probe && probe->stops(total_counts()))
            stopping_ = stopping::drained;
        return stopping_ != stopping::no;
    }

    /// When to cancel the attempt that began at `now`; time_point::max() for never.
    time_point attempt_limit(time_point now) noexcept {
        return limits_.attempt_limit(policy_.settings(), now, tell_.attempts_speak());
    }
    /// When to cancel the attempt, after the time `reached` has come.
    ///
    /// `reached` is an answer of `attempt_limit` or of this function. If the attempt has reported progress
    /// meanwhile, the answer may be later than `reached`: wait until then and ask again.
    time_point renewed_limit(time_point reached) const noexcept {
        return limits_.renewed_limit(policy_.settings(), reached);
    }
    /// Call this when the attempt is cancelled at the limit `reached`. Returns when a later one cancels again.
    ///
    /// The attempt may have missed the first one, or may hang in its clean-up. time_point::max() for never.
    time_point on_attempt_limit(time_point reached) noexcept {
        return limits_.on_attempt_limit(policy_.settings(), reached);
    }

    /// The running attempt reports that its connection works.
    void on_healthy(time_point now) noexcept { limits_.on_healthy(policy_.settings(), now); }
    /// Tells that the running attempt has made progress, which may move its limit.
    void on_progress(time_point now) noexcept { limits_.on_progress(now); }
    /// Whether a mark of the attempt may move its limit.
    bool hears_attempt() const noexcept { return limits_.hears_attempt(); }
    /// Tells that the running attempt may have done something at the server.
    void on_sent() noexcept { tell_.note_sent(); }
    /// Takes the server's wish about retries from the running attempt. Forgets it if there is no memory for it.
    void heed(pushback said) noexcept { tell_.heed(said); }
    /// The number of the operation for its observer; 0 if no observer hears of it.
    std::uint64_t operation_number() const noexcept { return tell_.operation_number(); }
    /// The marks for a retry nested in the running attempt; null without memory.
    detail::shared_value<detail::nested_marks> marks_of_nested() noexcept {
        return tell_.marks_of_nested(attempts_);
    }
    /// The attempt that is running or ran last.
    attempt current_attempt() const noexcept {
        return {attempts_, limits_attempts_ ? limits_.attempt_deadline(policy_.settings()) : limits_.deadline(),
                nullptr};
    }

private:
    retry_machine(retry_policy&& policy, detail::kept_settings const& kept) noexcept
        : policy_(std::move(policy))
        , tell_(kept, kept.facts.story)
        , limits_attempts_(kept.facts.limits)
        , measures_time_((kept.facts.observed && tell_.ask_observer()) || kept.facts.time) {}

    // From `cancelled` on the running attempt is cancelled, too; `late`: at the deadline, or later.
    enum class stopping : unsigned char { no, drained, cancelled, late };

    // The steps. They report to `tell_`.
    ASIO_RETRY_DECL retry_action begin(time_point now, random* source);
    ASIO_RETRY_DECL bool start_clock(time_point now) noexcept;
    ASIO_RETRY_DECL bool is_admitted(time_point now) noexcept;
    void begin_attempt(time_point now) noexcept {
        ++attempts_;
        limits_.begin(now);
        if (tell_.attempts_speak())
            expect_health();
        if (tell_.is_told())
            tell_.begin(attempts_, now);
    }
    ASIO_RETRY_DECL retry_action tell_success(time_point now) noexcept;
    retry_action on_interrupted_failure(verdict const& v, bool is_cancelled, time_point now, random& source);
    retry_action retry_or_end(verdict const& failure, time_point now, random& source);
    std::optional<stop_reason> judge(verdict const& failure, time_point now);
    std::optional<stop_reason> plan_retry(verdict const& failure, duration& delay, error& stage, time_point now,
                                          random& source);
    ASIO_RETRY_DECL retry_action end_wait(time_point now, random* source);
    retry_action on_refused(time_point now, random* source);
    retry_action end_without_attempt(stop_reason reason, error_code const& code, time_point now);
    retry_action end_cancelled(time_point now);
    retry_action end_after(stop_reason reason, verdict const& failure, time_point now);
    retry_action end_thrown(error stage, verdict const& failure, time_point now);
    retry_action give_up(stop_reason reason, verdict const& failure, error_code const& replacement,
                         time_point now, std::exception_ptr thrown = {});
    void tell_failed_end(retry_action const& action, verdict const& failure, error_code const& replacement,
                         time_point now) noexcept;
    detail::attempt_facts facts(time_point now) const noexcept;

    // What follows, and when.
    bool total_counts() const noexcept { return failures_ == 0 || policy_.settings().allow_total_cancellation; }
    void expect_health() noexcept {
        tell_.forget_sent();
        limits_.expect_health(policy_.settings());
    }
    void count_failure(time_point now, interruption interrupted_by) noexcept;
    duration delay_after_refusal(duration refused_for, error& stage, random* source);

    retry_policy policy_;
    std::uint64_t attempts_ = 0;
    std::uint64_t failures_ = 0; // since the last reset; a reset also moves the start in `limits_`
    detail::jitter_course course_;
    detail::narrator tell_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS detail::operation_limits limits_; // the members below use its last word
    stopping stopping_ = stopping::no;
    interruption interrupted_by_ = interruption::none; // of the last attempt
    detail::retry_wish wish_{};                        // answer of `retry_if` to the last failure
    bool limits_attempts_ = false;
    bool measures_time_ = false;
    bool names_rejected_ = false; // a value that stays rejected becomes error::exhausted
};

} // namespace asio_retry
