#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/policy/retryable.hpp>

#include "policy/failure_rules.hpp"
#include "policy/saturating_sum.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace asio_retry {
namespace {

retry_action step(retry_action::kind what, duration delay = {}) noexcept {
    retry_action action;
    action.what = what;
    action.delay = delay;
    return action;
}

bool is_out_of_time(interruption stopped) noexcept {
    return stopped == interruption::attempt_timeout || stopped == interruption::deadline;
}

} // namespace

void retry_machine::observe(detail::machine_observer& observer, bool has_hooks) noexcept {
    tell_.observe(observer, has_hooks, false);
    measures_time_ = true;
}

void retry_machine::choose_with(detail::machine_observer& chooser) noexcept {
    tell_.observe(chooser, false, true);
    measures_time_ = true;
}

retry_action retry_machine::begin(time_point now, random* source) {
    if (may_start(now) && start_with_attempt(now))
        return step(retry_action::kind::attempt);
    if (cancelled())
        return end_cancelled(now);
    if (tell_.is_refused())
        return on_refused(now, source);
    return end_without_attempt(stop_reason::deadline, detail::timed_out_error(), now);
}

/// Starts the operation's time at `now`, once. Returns whether the deadline is still ahead.
[[gnu::hot]] bool retry_machine::start_clock(time_point now) noexcept {
    if (!tell_.is_admitted() && !tell_.is_refused()) { // a refused operation asks a second time
        limits_.start(now);
        if (tell_.is_told())
            tell_.tell_start(now);
        if (auto const& total = policy_.settings().total_timeout)
            limits_.end_by(saturating_add(now, *total));
        if (auto const& own = policy_.settings().deadline)
            limits_.end_by(*own);
    }
    return !limits_.has_deadline() || now < limits_.deadline();
}

bool retry_machine::is_admitted(time_point now) noexcept {
    auto const allowed = [](void const* machine, time_point from) noexcept {
        auto const& self = *static_cast<retry_machine const*>(machine);
        return self.limits_.longest_wait(self.policy_.settings(), from).first;
    };
    return tell_.admits(attempts_ + 1, now, allowed, this) && !cancelled(); // by the gate or another thread
}

// --- the end of an attempt

retry_action retry_machine::tell_success(time_point now) noexcept {
    tell_.succeed(attempts_, measures_time_ ? limits_.took(now) : duration::zero(), now);
    if (tell_.has_hooks() || policy_.settings().on_success)
        tell_.call_on_success(facts(now));
    return {};
}

retry_action retry_machine::on_failure(verdict const& v, time_point now, random& source) {
    assert(!v.succeeded());
    bool const is_cancelled = cancelled(); // before `failures_` grows: `total` counts only before the first
    if (is_cancelled || limits_.is_expired())
        return on_interrupted_failure(v, is_cancelled, now, source);
    count_failure(now, interruption::none);
    if (tell_.is_told())
        tell_.tell_failure(v, interruption::none, now);
    return retry_or_end(v, now, source);
}

/// Handles a failure after a time limit of the attempt, or in a cancelled operation.
retry_action retry_machine::on_interrupted_failure(verdict const& v, bool is_cancelled, time_point now,
                                                   random& source) {
    auto stopped = limits_.take_expired();
    if (stopping_ == stopping::late)
        stopped = interruption::deadline;
    else if (is_cancelled && (tells_attempt() || (limits_.probe() && limits_.probe()->tells_attempt())))
        stopped = interruption::cancellation;
    is_cancelled = is_cancelled && stopping_ != stopping::late;
    count_failure(now, stopped);
    std::optional<verdict> timed_out;
    if (is_out_of_time(stopped))
        timed_out = verdict::timed_out(v);
    if (tell_.is_admitted()) {
        if (stopped == interruption::cancellation)
            tell_.abandon(attempts_, stopped, facts(now).took, now);
        else if (is_cancelled || stopped == interruption::deadline)
            tell_.fail_unjudged(attempts_, timed_out ? *timed_out : v, facts(now), now);
    }
    if (tell_.is_told())
        tell_.tell_failure(stopped == interruption::attempt_timeout ? *timed_out : v, stopped, now);
    if (is_cancelled)
        return give_up(stop_reason::cancelled, v, detail::aborted_error(), now);
    if (stopped == interruption::deadline)
        return give_up(stop_reason::deadline, *timed_out, timed_out->error(), now, timed_out->exception());
    return retry_or_end(*timed_out, now, source);
}

/// Counts the failure. After enough health (reset_after) the counts begin anew first, with this failure.
void retry_machine::count_failure(time_point now, interruption interrupted_by) noexcept {
    if (limits_.end_attempt(policy_.settings(), interrupted_by, tell_.attempts_speak(), now))
        failures_ = 0;
    ++failures_;
    interrupted_by_ = interrupted_by;
    wish_ = detail::retry_wish::unasked;
}

// --- what follows a failure

/// `failure` is verdict::timed_out if is_out_of_time(interrupted_by_).
retry_action retry_machine::retry_or_end(verdict const& failure, time_point now, random& source) {
    error stage = error::predicate_threw;
    try {
        if (auto const reason = judge(failure, now))
            return end_after(*reason, failure, now);
        duration delay{};
        if (auto const reason = plan_retry(failure, delay, stage, now, source))
            return end_after(*reason, failure, now);
        return step(retry_action::kind::wait, delay);
    } catch (...) {
        if (tell_.is_admitted()) {
            wish_ = detail::retry_wish::unasked;
            tell_.fail_unjudged(attempts_, failure, facts(now), now);
        }
        return end_thrown(stage, failure, now);
    }
}

/// Judges the failure and reports it. Returns a reason if no retry may follow, regardless of time.
std::optional<stop_reason> retry_machine::judge(verdict const& failure, time_point now) {
    detail::kept_settings const& settings = policy_.kept();
    bool is_wanted = !failure.is_permanent(), may_repeat = true;
    if (is_wanted && settings.facts.failures) {
        detail::attempt_facts known = facts(now);
        known.wish = detail::retry_wish::asked;
        is_wanted = detail::is_retryable(settings, failure, known);
        may_repeat = is_wanted && detail::may_repeat(settings, failure, known);
    } else if (is_wanted) {
        is_wanted = detail::is_retryable(settings, failure);
    }
    wish_ = is_wanted ? detail::retry_wish::wanted : detail::retry_wish::refused;
    pushback const said = tell_.said_with(failure);
    if (tell_.is_admitted())
        tell_.fail(attempts_, failure,
                   detail::heard_kind(settings, failure, is_out_of_time(interrupted_by_), wish_), facts(now),
                   now);
    if (said.forbids() && settings.outer)
        settings.outer->forbidden = true;
    if (!is_wanted || !may_repeat)
        return stop_reason::not_retryable;
    if (said.forbids())
        return stop_reason::pushback;
    if (settings.max_attempts && failures_ >= *settings.max_attempts)
        return stop_reason::attempts;
    return std::nullopt;
}

/// Plans a retry and announces it. Returns a reason if there is none after all. `stage`: names the callable
/// that throws, if one does.
std::optional<stop_reason> retry_machine::plan_retry(verdict const& failure, duration& delay, error& stage,
                                                     time_point now, random& source) {
    detail::kept_settings const& settings = policy_.kept();
    detail::delay_source from{&settings.backoff, &settings.jitter, limits_.counted(settings, failures_),
                              &course_};
    if (!settings.rules.empty() && tell_.makes_attempts() &&
        !follow_rules(from, settings, failure, facts(now), failures_, [&] { return limits_.rare(settings); }))
        return stop_reason::attempts;
    stage = error::backoff_threw;
    duration const ceiling = from.shape->ceiling(from.counted);
    stage = error::jitter_threw;
    delay = from.kind->draw(from.course->step(*from.shape, from.counted, ceiling), source);
    from.course->drew(delay);

    pushback said = tell_.said_with(failure);
    if (said && tell_.chooses())
        said = tell_.wish_of_choosers(said, now);
    if (said || limits_.has_deadline() || settings.facts.wait_limits)
        if (auto const reason = limits_.fit_wait(settings, said, duration::zero(), delay, now, &source))
            return reason;
    if (cancelled())
        return stop_reason::cancelled;
    if (tell_.is_told() && !tell_.take_lease(attempts_, now)) {
        if (!settings.wait_when_refused)
            return stop_reason::budget;
        limits_.count_refusal(policy_.settings());
    }

    stage = error::hook_threw;
    if (settings.on_retry || tell_.has_hooks())
        tell_.call_on_retry(failure, facts(now), delay);
    if (cancelled())
        return stop_reason::cancelled;
    if (tell_.is_told())
        tell_.tell_retry(attempts_, failure, facts(now), delay, now);
    return std::nullopt;
}

// --- a wait

/// The refused time, plus the delay of the backoff. Without a `source` there is no jitter.
duration retry_machine::delay_after_refusal(duration refused_for, error& stage, random* source) {
    retry_settings const& settings = policy_.settings();
    std::uint64_t const counted = std::max<std::uint64_t>(limits_.counted(settings, failures_), 1);
    duration delay = settings.backoff.ceiling(counted);
    stage = error::jitter_threw;
    backoff_step const step = course_.step(settings.backoff, counted, delay);
    if (source)
        delay = settings.jitter.draw(step, *source);
    course_.drew(delay);
    return detail::saturating_sum(refused_for, delay);
}

retry_action retry_machine::end_wait(time_point now, random* source) {
    limits_.forget_attempt();
    if (tell_.is_told())
        limits_.count_wait(policy_.settings(), tell_.tell_wait_over(now));
    if (cancelled())
        return end_cancelled(now);
    if (limits_.end_wait(now))
        return end_without_attempt(stop_reason::deadline, detail::timed_out_error(), now);
    bool const may_begin =
        !tell_.is_told() ||
        (tell_.admits_held(attempts_ + 1, now, limits_.longest_wait(policy_.settings(), now).first) &&
         (attempts_ == 0 || tell_.take_lease(attempts_, now)) && is_admitted(now));
    return may_begin && start_with_attempt(now) ? step(retry_action::kind::attempt) : on_refused(now, source);
}

/// A gate has refused, or an observer has cancelled: no attempt may begin.
retry_action retry_machine::on_refused(time_point now, random* source) {
    verdict const last = tell_.last_failure();
    auto const end_for = [&](stop_reason reason) {
        return cancelled() ? end_cancelled(now) : give_up(reason, last, last.error(), now, last.exception());
    };
    if (cancelled()) // the gate or the observer may have cancelled
        return end_for(stop_reason::cancelled);
    if (tell_.is_held()) {
        auto const [allowed, limit] = limits_.longest_wait(policy_.settings(), now);
        if (auto const delay = tell_.held_wait(now, allowed)) {
            tell_.tell_wait(*delay, now);
            return step(retry_action::kind::wait, *delay);
        }
        return limit == stop_reason::deadline ? end_without_attempt(limit, detail::timed_out_error(), now)
                                              : end_for(limit);
    }
    if (!tell_.is_put_off() && !policy_.settings().wait_when_refused)
        return end_for(stop_reason::refused);
    limits_.count_refusal(policy_.settings());
    error stage = error::backoff_threw;
    try {
        duration delay{}, waited{};
        pushback rest; // how long the servers rest; all waits of this attempt count together
        if (tell_.is_put_off())
            std::tie(rest, waited) = tell_.rest_of_servers(now);
        else
            delay = delay_after_refusal(tell_.refused_for(now), stage, source);
        if (auto const reason = limits_.fit_wait(policy_.settings(), rest, waited, delay, now, source))
            return end_for(*reason);
        if (cancelled())
            return end_for(stop_reason::cancelled);
        tell_.tell_wait(delay, now);
        return step(retry_action::kind::wait, delay);
    } catch (...) {
        return end_thrown(stage, last, now);
    }
}

// --- the end

retry_action retry_machine::refuse(error_code const& code, time_point now) {
    return end_without_attempt(stop_reason::budget, code, now);
}

retry_action retry_machine::end_without_attempt(stop_reason reason, error_code const& code, time_point now) {
    bool const is_late = reason == stop_reason::deadline;
    interrupted_by_ = is_late ? interruption::deadline : interruption::none;
    if (is_late && attempts_ == 0 && tell_.is_held() && policy_.settings().outer)
        policy_.settings().outer->waited = true;
    wish_ = detail::retry_wish::unasked;
    return give_up(reason, verdict::failure(code), code, now);
}

retry_action retry_machine::end_cancelled(time_point now) {
    return stopping_ == stopping::late
               ? end_without_attempt(stop_reason::deadline, detail::timed_out_error(), now)
               : end_without_attempt(stop_reason::cancelled, detail::aborted_error(), now);
}

/// Delivers the attempt's own result, unless a limit had stopped the attempt, or it marked its error as
/// permanent.
retry_action retry_machine::end_after(stop_reason reason, verdict const& failure, time_point now) {
    if (cancelled())
        return give_up(stop_reason::cancelled, failure, detail::aborted_error(), now);
    bool const unwraps_permanent = failure.is_permanent() && !policy_.settings().is_nested;
    if (!is_out_of_time(interrupted_by_) && !unwraps_permanent)
        return give_up(reason, failure, error_code(), now);
    return give_up(reason, failure, failure.error(), now, failure.exception());
}

/// A callable of the policy has thrown the current exception. An error code cannot carry it, so the report
/// does.
retry_action retry_machine::end_thrown(error stage, verdict const& failure, time_point now) {
    std::exception_ptr thrown = std::current_exception();
    tell_.tell_exception(thrown);
    return give_up(stop_reason::not_retryable, failure, stage, now, std::move(thrown));
}

retry_action retry_machine::on_exception(error_code const& code, std::exception_ptr thrown, time_point now) {
    verdict const failure = verdict::failure(code, thrown);
    interrupted_by_ = interruption::none;
    wish_ = detail::retry_wish::undecidable;
    if (tell_.is_admitted() && code == error::predicate_threw) // the server has answered
        tell_.fail(attempts_, failure, failure_kind::permanent, facts(now), now);
    return give_up(stop_reason::not_retryable, failure, code, now, std::move(thrown));
}

retry_action retry_machine::give_up(stop_reason reason, verdict const& failure, error_code const& replacement,
                                    time_point now, std::exception_ptr thrown) {
    retry_action action;
    action.reason = reason;
    action.error = replacement;
    if (names_rejected_ && failure.is_rejected() && !replacement)
        action.error = error::exhausted;
    action.thrown = std::move(thrown);
    if (tell_.is_told())
        tell_failed_end(action, failure, replacement, now);
    if (replacement && failure.is_permanent() && policy_.settings().is_nested)
        detail::mark_permanent(action.error, action.thrown); // the outer retry has to see the mark
    if (tell_.has_hooks() || policy_.settings().on_give_up)
        tell_.call_on_give_up(failure, facts(now), reason);
    return action;
}

[[gnu::noinline]] // inlining would slow down operations that tell nobody
void
retry_machine::tell_failed_end(retry_action const& action, verdict const& failure, error_code const& replacement,
                               time_point now) noexcept {
    tell_.tell_failed_end(attempts_, action, failure, replacement, facts(now), now);
}

// --- cancellations

void retry_machine::cancel(time_point now) noexcept {
    bool const is_late = limits_.has_deadline() && now >= limits_.deadline();
    if (!tells_attempt())
        stopping_ = is_late ? stopping::late : stopping::cancelled;
}

void retry_machine::drain() noexcept {
    if (stopping_ == stopping::no)
        stopping_ = stopping::drained;
}

bool retry_machine::cancel_total(time_point now) noexcept {
    bool const counts = total_counts();
    if (counts)
        cancel(now);
    return counts;
}

/// Facts for hooks, predicates and observers.
detail::attempt_facts retry_machine::facts(time_point now) const noexcept {
    bool const has_attempt = attempts_ != 0 && tell_.makes_attempts();
    detail::attempt_facts known{.number = attempts_,
                                .stopped = interrupted_by_,
                                .may_have_sent = has_attempt && tell_.may_have_sent(),
                                .wish = wish_};
    if (measures_time_)
        known.elapsed = limits_.elapsed(now);
    if (measures_time_ && has_attempt)
        known.took = limits_.took(now);
    std::tie(known.limit, known.allowed) = limits_.reached(policy_.settings(), interrupted_by_);
    tell_.complete(known);
    return known;
}

} // namespace asio_retry
