#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/interruption.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/stop_reason.hpp>
#include <asio_retry/verdict.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace asio_retry {
struct observation;
}

namespace asio_retry::detail {
struct attempt_facts;
struct attempt_pulse;
struct operation_story;
enum class retry_wish : unsigned char;
} // namespace asio_retry::detail

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
    explicit retry_machine(retry_policy given_policy) noexcept
        : policy_(std::move(given_policy)) {
        detail::settings_facts const& facts = policy_.kept().facts;
        limits_attempts_ = facts.limits;
        measures_time_ = facts.time;
        is_told_ = facts.story;
        if (facts.observed)
            ask_observer();
    }
    retry_machine(retry_machine const&) = delete;
    retry_machine& operator=(retry_machine const&) = delete;
    ~retry_machine() {
        if (is_told_)
            end_story();
    }

    retry_policy const& policy() const noexcept { return policy_; } ///< the policy by which it decides

    /// @name Before the start
    /// @{
    /// Gives the operation no more time than the operation or scope around it has.
    void inherit_deadline(time_point deadline) noexcept {
        deadline_ = deadline;
        if (deadline != (time_point::max)())
            limits_attempts_ = measures_time_ = true;
    }

    /// Tells `observer` all events, before the observers given earlier. It must outlive the machine.
    ASIO_RETRY_DECL void observe(detail::machine_observer& observer, bool has_hooks = false) noexcept;

    /// Tells `chooser` all events, and asks it as a gate: it chooses a server for each attempt.
    ASIO_RETRY_DECL void choose_with(detail::machine_observer& chooser) noexcept;

    /// Whether there is a chooser, which draws from the operation's source.
    bool chooses() const noexcept { return chooses_; }
    ASIO_RETRY_DECL void draw_from(random& source) noexcept; ///< before the start

    /// Lets the attempts themselves say when they are healthy, and when they have sent something.
    ASIO_RETRY_DECL void expect_marks() noexcept;

    /// Makes a value that stays a failure end the operation with `error::exhausted`.
    void expect_errors() noexcept { names_rejected_ = true; }

    /// Takes the attempts for ticks: the gate is asked for retries alone, and the observer hears nothing.
    void expect_ticks() noexcept { makes_attempts_ = false; }

    /// Says that nobody can wake the operation, so that it waits in no queue of a gate.
    void expect_no_wake_up() noexcept { is_wakeable_ = false; }

    /// Asks `probe` too whether to stop, before every initiation and after every callback. It must outlive the
    /// machine.
    void watch(detail::cancellation_probe const& probe) noexcept { probe_ = &probe; }

    bool limits_attempts() const noexcept { return limits_attempts_; } ///< whether an attempt may be cancelled
    bool measures_time() const noexcept { return measures_time_; }     ///< whether `start` needs the time

    /// Whether it needs to hear of a success, and the time of the success.
    bool tells_success() const noexcept { return is_told_; }
    ASIO_RETRY_DECL bool is_observed() const noexcept; ///< whether a success has to tell its time

    /// Whether the first attempt may begin without a question to the gate, a probe or the clock.
    bool asks_nothing() const noexcept {
        return stopping_ == stopping::no && !measures_time_ && !is_told_ && !probe_;
    }
    /// @}

    /// Whether a success calls a hook, which belongs on the executor.
    bool hears_success() const noexcept { return is_told_ && (has_hooks_ || policy_.settings().on_success); }

    /// Whether it answers a refusal with a wait, whose delay needs randomness.
    bool waits_when_refused() const noexcept {
        return is_told_ && (chooses_ || policy_.settings().wait_when_refused);
    }

    /// Begins the operation: the time counts from `now`, which may be left out unless the machine measures
    /// time.
    ///
    /// If the gate refuses and the policy waits when refused, the answer is a wait; without a `source` its
    /// delay has no jitter.
    retry_action start(time_point now = {}) { return begin(now, nullptr); }
    retry_action start(time_point now, random& source) { return begin(now, &source); } ///< begins with jitter

    /// Whether `start(now)` will answer with an attempt, and so call none of the policy's callables.
    ///
    /// It asks the gate now, and only once.
    bool may_start(time_point now = {}) noexcept {
        return (!measures_time_ || start_clock(now)) && !cancelled() && (!is_told_ || ask_gate(now));
    }

    /// Whether may_start has answered false because of the gate.
    bool was_refused() const noexcept { return is_refused_; }

    /// Begins the operation with an attempt, like `start`. Precondition: may_start(now) has answered true.
    ///
    /// Returns false if the policy's observer cancels when it hears of the attempt: then the attempt has not
    /// begun.
    bool start_with_attempt(time_point now = {}) noexcept {
        if (is_told_ && !announce_attempt(now))
            return false;
        began_ = now;
        begin_attempt(now);
        return true;
    }

    /// Ends the operation with `code` before its first attempt, because there is no room for it.
    ASIO_RETRY_DECL retry_action refuse(error_code const& code, time_point now = {});

    /// An attempt succeeded; a success wins over a cancellation or a deadline that arrived meanwhile.
    retry_action on_success(time_point now = {}) noexcept {
        return is_told_ ? tell_success(now) : retry_action();
    }

    /// An attempt failed at `now`. Precondition: !failure.succeeded().
    ASIO_RETRY_DECL retry_action on_failure(verdict const& failure, time_point now, random& source);

    /// Ends the operation because code outside the policy threw: a predicate of `fail_if`, or the library's own
    /// steps.
    ///
    /// It ends with `code`, or with `thrown` if that is not null.
    ASIO_RETRY_DECL retry_action on_exception(error_code const& code, std::exception_ptr thrown,
                                              time_point now = {});

    /// The wait ended, or a cancellation or a `retry_now` cut it short.
    retry_action on_wait_over(time_point now) { return end_wait(now, nullptr); }
    retry_action on_wait_over(time_point now, random& source) {
        return end_wait(now, &source);
    } ///< ends the wait; a wait that follows has jitter

    /// Whether the wait is in the queue of a gate, which ends it with `wake(who)` on any thread.
    ///
    /// To be called when the wait has begun. Returns false if the wait is over already.
    ASIO_RETRY_DECL bool listen_to_gate(void (*wake)(void*) noexcept, void* who) noexcept;
    bool may_be_queued() const noexcept { return is_held_; } ///< whether a gate may end the wait

    /// The operation is about to be destroyed: it leaves the queue, so that no thread calls `wake` any more.
    void leave_queue() noexcept {
        if (is_held_)
            leave_queue({});
    }

    /// Cancels for good: no further attempt begins, and the running attempt is cancelled too.
    ///
    /// It does not change events that have happened already. At or after the operation's deadline it counts as
    /// the deadline, because a limit around the operation ends at the same time and may come first.
    ASIO_RETRY_DECL void cancel(time_point now = (time_point::min)()) noexcept;

    /// Whether the running attempt is being cancelled already.
    bool tells_attempt() const noexcept { return stopping_ == stopping::cancelled; }

    /// Cancels for good, but the running attempt may finish.
    ASIO_RETRY_DECL void drain() noexcept;

    /// A cancellation that only an operation without side effects may obey.
    ///
    /// Before the first attempt has failed, or if the policy allows it, this cancels for good and returns true.
    /// Otherwise it ignores the cancellation and returns false.
    ASIO_RETRY_DECL bool cancel_total(time_point now = (time_point::min)()) noexcept;

    /// Whether no further attempt begins, because of `cancel`, `drain` or the probe.
    bool cancelled() noexcept {
        if (stopping_ == stopping::no && probe_ && probe_->stops(total_counts()))
            stopping_ = stopping::drained;
        return stopping_ != stopping::no;
    }

    /// When to cancel the attempt that began at `now`; time_point::max() for never.
    ASIO_RETRY_DECL time_point attempt_limit(time_point now) noexcept;

    /// When to cancel the attempt, now that the time `reached` has come.
    ///
    /// `reached` is an answer of `attempt_limit` or of this function. The attempt may have reported progress
    /// meanwhile: if the answer is still to come, ask again then.
    ASIO_RETRY_DECL time_point renewed_limit(time_point reached) const noexcept;

    /// The attempt reached that limit and is being cancelled. Answers when to cancel it again, because of a
    /// later limit.
    ///
    /// The attempt may have missed the first cancellation, or may hang in its clean-up. time_point::max() for
    /// never.
    ASIO_RETRY_DECL time_point on_attempt_limit(time_point reached) noexcept;

    /// Tells that the connection, or whatever the running attempt has set up, works.
    ASIO_RETRY_DECL void on_healthy(time_point now) noexcept;

    /// Tells that the running attempt has made progress, which may move its limit.
    ASIO_RETRY_DECL void on_progress(time_point now) noexcept;
    ASIO_RETRY_DECL bool hears_attempt() const noexcept; ///< whether a mark of the attempt may move its limit

    /// Tells that the running attempt may have done something at the server.
    ASIO_RETRY_DECL void on_sent() noexcept;

    /// Takes the server's wish about retries from the running attempt. Forgets it if there is no memory for it.
    ASIO_RETRY_DECL void heed(pushback said) noexcept;

    /// The number of the operation for its observer; 0 if no observer hears of it.
    ASIO_RETRY_DECL std::uint64_t operation_number() const noexcept;

    /// The marks for a retry nested in the running attempt; null without memory.
    ASIO_RETRY_DECL detail::shared_value<detail::nested_marks> marks_of_nested() noexcept;

    /// The attempt that is running or ran last.
    attempt current_attempt() const noexcept {
        return {attempts_, limits_attempts_ ? attempt_deadline() : deadline_, nullptr};
    }

private:
    ASIO_RETRY_DECL retry_action begin(time_point now, random* source);
    ASIO_RETRY_DECL retry_action end_wait(time_point now, random* source);
    ASIO_RETRY_DECL bool start_clock(time_point now) noexcept;
    retry_action on_interrupted_failure(verdict const& v, bool is_cancelled, time_point now, random& source);
    // `failure` is verdict::timed_out if is_out_of_time().
    retry_action retry_or_end(verdict const& failure, time_point now, random& source);
    std::optional<stop_reason> judge(verdict const& failure, time_point now);
    std::optional<stop_reason> plan_retry(verdict const& failure, duration& delay, error& stage, time_point now,
                                          random& source);
    retry_action end_after(stop_reason reason, verdict const& failure, time_point now);
    retry_action end_thrown(error stage, verdict const& failure, time_point now);
    retry_action answer_attempt(time_point now) noexcept;
    void begin_attempt(time_point now) noexcept {
        ++attempts_;
        healthy_since_ = marks_health_ ? (time_point::max)() : now;
        has_sent_ = false;
        if (is_told_)
            tell_attempt_begun(now);
    }
    void count_failure(time_point now, interruption interrupted_by) noexcept;
    bool is_out_of_time() const noexcept {
        return interrupted_by_ == interruption::attempt_timeout || interrupted_by_ == interruption::deadline;
    }
    bool stops_attempt() const noexcept { return tells_attempt() || (probe_ && probe_->tells_attempt()); }

    /// The longest possible wait, and the reason of its limit; negative when the limit has passed.
    std::pair<duration, stop_reason> longest_wait(time_point now) const noexcept;
    duration wait_leaving_time(time_point now) const noexcept;
    void count_length(time_point now) noexcept;
    std::optional<stop_reason> limit_wait(duration& delay, duration least, time_point now) noexcept;
    retry_action give_up(stop_reason reason, verdict const& failure, error_code const& replacement,
                         time_point now, std::exception_ptr thrown = {});
    retry_action end_without_attempt(stop_reason reason, error_code const& code, time_point now);
    retry_action end_cancelled(time_point now);
    bool total_counts() const noexcept { return failures_ == 0 || policy_.settings().allow_total_cancellation; }
    // The facts for hooks and predicates.
    detail::attempt_facts facts(time_point now) const noexcept;
    void call_on_retry(verdict const& failure, duration delay, time_point now) const;
    void call_on_give_up(verdict const& failure, time_point now, stop_reason reason) const noexcept;
    void call_on_success(time_point now) const noexcept;
    // Wishes of servers, and refusals of gates.
    pushback said_with(verdict const& failure) const noexcept;
    std::optional<stop_reason> obey(pushback said, duration waited, duration& delay, duration& least,
                                    time_point now, random* source) const;
    std::optional<stop_reason> put_off(duration& delay, duration& least, time_point now, random* source) const;
    pushback wish_of_choosers(pushback said, time_point now) const noexcept;
    retry_action on_refused(time_point now, random* source);
    admission ask_policys_gate(time_point asked) noexcept;
    bool keep(admission const& given, time_point asked) noexcept;
    admission kept() const noexcept;
    void end_unbegun(admission const& given) noexcept;
    bool hold(admission& answer, time_point asked) noexcept;
    void keep_held(admission const& answer, time_point now) noexcept;
    std::optional<retry_action> wait_held(time_point now) noexcept;
    void keep_nothing(time_point now) noexcept;
    bool take_held(time_point now) noexcept;
    bool ask_later_gates(time_point now) noexcept;
    void stop_watching() noexcept;
    void leave_queue(time_point now) noexcept;
    void refuse(std::string_view refuser, admission const& answer, time_point asked, time_point now) noexcept;
    verdict last_failure() const;
    duration delay_after_refusal(random* source, error& stage, time_point now);
    std::uint64_t counted_for_backoff() const noexcept;
    detail::attempt_pulse* pulse() const noexcept;
    time_point first_limit(time_point began, time_point earliest) const noexcept;
    ASIO_RETRY_DECL time_point attempt_deadline() const noexcept;
    std::pair<time_limit, duration> reached_limit() const noexcept;
    time_limit limit_of_attempt() const noexcept;
    // The story for gates and observers, only if is_told_.
    detail::operation_story* story() noexcept;
    ASIO_RETRY_DECL bool ask_gate(time_point now) noexcept;
    admission ask_choosers(time_point now, std::string_view& refuser) noexcept;
    bool has_gate() const noexcept { return chooses_ || policy_.settings().gate; }
    ASIO_RETRY_DECL bool announce_attempt(time_point now) noexcept;
    ASIO_RETRY_DECL void tell_attempt_begun(time_point now) noexcept;
    ASIO_RETRY_DECL retry_action tell_success(time_point now) noexcept;
    ASIO_RETRY_DECL void end_story() noexcept;
    void tell_start(time_point now) noexcept;
    detail::shared_value<detail::nested_marks>
    lend_admission(detail::shared_value<detail::nested_marks> marks) noexcept;
    void tell_failure(verdict const& failure, std::optional<failure_kind> kind, time_point now) noexcept;
    void tell_unjudged(verdict const& failure, time_point now) noexcept;
    void tell_abandoned(interruption stopped, time_point now) noexcept;
    void tell_retry(verdict const& failure, duration delay, time_point now) noexcept;
    void tell_end(stop_reason reason, error_code const& error, verdict const* failure, time_point now) noexcept;
    void tell_failed_end(retry_action const& action, verdict const& failure, error_code const& replacement,
                         std::exception_ptr const& thrown, time_point now) noexcept;
    void tell_attempt_end(attempt_end end, verdict const* failure, interruption stopped,
                          time_point now) noexcept;
    ASIO_RETRY_DECL void ask_observer() noexcept;
    bool is_policy_observed() const noexcept;
    void describe(observation& event, verdict const& failure) const noexcept;
    void observe(observation& event, time_point now) noexcept;
    void observe_refusal(std::string_view gate, error_code const& refusal, failure_kind after,
                         time_point now) noexcept;
    bool take_lease(time_point now) noexcept;
    void give_lease_back() noexcept;

    enum class stopping : unsigned char {
        no,
        drained,   ///< no further attempt begins
        cancelled, ///< and the running attempt is cancelled
    };

    retry_policy policy_;
    std::uint64_t attempts_ = 0;
    std::uint64_t failures_ = 0; // this and the start, since the last reset
    time_point started_{};
    time_point deadline_ = (time_point::max)();
    detail::jitter_course course_;
    detail::cancellation_probe const* probe_ = nullptr;
    detail::machine_observer* observer_ = nullptr;
    detail::operation_story* story_ = nullptr;       // its own; made when it is needed
    time_point began_{};                             // the attempt, or what would have been one
    time_point healthy_since_ = (time_point::max)(); // of the running attempt; or the end of a clamped wait
    stopping stopping_ : 2 = stopping::no;
    bool limits_attempts_ : 1 = false;
    bool measures_time_ : 1 = false;
    bool marks_health_ : 1 = false;
    bool limited_by_deadline_ : 1 = false;
    bool at_edge_ : 1 = false; // the last wait was cut short to end at a limit
    bool attempt_expired_ : 1 = false;
    bool is_late_ : 1 = false;   // it was cancelled at its deadline, or later
    bool has_lease_ : 1 = false; // what a retry costs is held from its decision until its attempt begins
    unsigned char longest_attempt_ : 6 = 0; // how many bits its nanoseconds have; with clamp and a deadline
    // Apart from those: an attempt that runs may heed while another thread cancels.
    unsigned char : 0;
    bool is_told_ : 1 = false; // somebody is, or there is a story
    bool makes_attempts_ : 1 = true;
    bool is_admitted_ : 1 = false;               // and its end has to be told
    bool is_refused_ : 1 = false;                // and the gate has not been asked again
    bool has_begun_ : 1 = false;                 // the attempt that is admitted
    failure_kind kind_ : 3 = failure_kind::none; // of the last failure, which a lease is for
    bool attempts_speak_ : 1 = false;
    bool names_rejected_ : 1 = false; // by an error of its own
    bool has_hooks_ : 1 = false;      // an observer has
    bool chooses_ : 1 = false;        // an observer does
    bool is_wakeable_ : 1 = true;
    bool is_held_ : 1 = false;       // waits in a queue, or for a reserved time
    detail::retry_wish wish_ : 3 {}; // about the last failure
    unsigned char : 0;
    bool has_sent_ = false;                            // the attempt, as it says itself
    interruption interrupted_by_ = interruption::none; // the last attempt
};

} // namespace asio_retry
