#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/policy/operation_story.hpp>
#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/retry_report.hpp>

#include "policy/failure_rules.hpp"

#include <algorithm>
#include <cassert>
#include <optional>

namespace asio_retry {
namespace {

retry_action wait_for(duration delay) noexcept {
    retry_action action;
    action.what = retry_action::kind::wait;
    action.delay = delay;
    return action;
}

} // namespace

retry_action retry_machine::answer_attempt(time_point now) noexcept {
    begin_attempt(now);
    retry_action action;
    action.what = retry_action::kind::attempt;
    return action;
}

retry_action retry_machine::begin(time_point now, random* source) {
    if (!is_admitted_) // otherwise it began when the gate was asked
        began_ = now;
    if (may_start(now) && (!is_told_ || announce_attempt(now)))
        return answer_attempt(now);
    if (cancelled())
        return end_without_attempt(stop_reason::cancelled, aborted_error(), now);
    if (is_refused_)
        return on_refused(now, source);
    return end_without_attempt(stop_reason::deadline, timed_out_error(), now);
}

retry_action retry_machine::refuse(error_code const& code, time_point now) {
    return end_without_attempt(stop_reason::budget, code, now);
}

retry_action retry_machine::end_without_attempt(stop_reason reason, error_code const& code, time_point now) {
    interrupted_by_ = interruption::none;
    wish_ = detail::retry_wish::unasked;
    return give_up(reason, verdict::failure(code), code, now);
}

retry_action retry_machine::on_failure(verdict const& v, time_point now, random& source) {
    assert(!v.succeeded());
    bool const is_cancelled = cancelled(); // asked while this attempt may still be the first
    if (is_cancelled || attempt_expired_)
        return on_interrupted_failure(v, is_cancelled, now, source);
    count_failure(now, interruption::none);
    if (observer_)
        detail::tell_all(observer_, &detail::machine_observer::on_failure, v, interruption::none, now);
    return retry_or_end(v, now, source);
}

/// Handles the failure of an attempt that its limit stopped, or after which the operation is cancelled.
retry_action retry_machine::on_interrupted_failure(verdict const& v, bool is_cancelled, time_point now,
                                                   random& source) {
    bool const expired = attempt_expired_;
    attempt_expired_ = false;
    auto interrupted_by = interruption::none;
    if (is_cancelled && stops_attempt())
        interrupted_by = interruption::cancellation;
    else if (expired)
        interrupted_by = limited_by_deadline_ ? interruption::deadline : interruption::attempt_timeout;

    count_failure(now, interrupted_by);
    std::optional<verdict> timed_out;
    if (is_out_of_time())
        timed_out = verdict::timed_out(v);
    if (is_admitted_) {
        if (interrupted_by == interruption::cancellation)
            tell_abandoned(now);
        else if (is_cancelled || interrupted_by == interruption::deadline)
            tell_unjudged(timed_out ? *timed_out : v, now);
    }
    if (observer_)
        detail::tell_all(observer_, &detail::machine_observer::on_failure,
                         interrupted_by == interruption::attempt_timeout ? *timed_out : v, interrupted_by, now);
    if (is_cancelled)
        return give_up(stop_reason::cancelled, v, aborted_error(), now);
    if (interrupted_by == interruption::deadline)
        return give_up(stop_reason::deadline, *timed_out, timed_out->error(), now, timed_out->exception());
    return retry_or_end(*timed_out, now, source);
}

/// Counts the failure. After enough health (reset_after) the counts begin anew first, with this failure. An
/// attempt that reached its time limit was not healthy, unless it said so.
void retry_machine::count_failure(time_point now, interruption interrupted_by) noexcept {
    auto const& stable_for = policy_.settings().reset_after;
    bool const hung = interrupted_by == interruption::attempt_timeout && !marks_health_;
    bool const says_so =
        marks_health_ || stable_for > duration::zero(); // otherwise every failure would be the first
    if (stable_for && says_so && !hung && healthy_since_ <= now &&
        elapsed_between(healthy_since_, now) >= *stable_for) {
        failures_ = 0;
        if ((has_hooks_ || policy_.settings().tells_events()) && story())
            story_->initiated = std::min(story_->initiated, started_);
        if (story_) {
            story_->refusals = 0;
            story_->waited = duration::zero();
            std::fill_n(story_->rules(), policy_.settings().rules.size(), detail::rule_state());
        }
        started_ = now;
        at_edge_ = false;
    }
    ++failures_;
    interrupted_by_ = interrupted_by;
    wish_ = detail::retry_wish::unasked;
    if (story_ && story_->marks && story_->marks->sent && policy_.settings().outer)
        policy_.settings().outer->sent = true;
}

retry_action retry_machine::retry_or_end(verdict const& failure, time_point now, random& source) {
    error stage = error::predicate_threw;
    try {
        if (auto const reason = judge(failure, now))
            return end_after(*reason, failure, now);
        duration delay{};
        if (auto const reason = plan_retry(failure, delay, stage, now, source))
            return end_after(*reason, failure, now);
        return wait_for(delay);
    } catch (...) {
        if (is_admitted_)
            tell_unjudged(failure, now);
        return give_up(stop_reason::not_retryable, failure, stage, now, std::current_exception());
    }
}

/// Tells gates and observers how the attempt ended. Returns why no retry may follow, regardless of time.
std::optional<stop_reason> retry_machine::judge(verdict const& failure, time_point now) {
    retry_settings const& settings = policy_.settings();
    bool is_wanted = !failure.is_permanent(), may_repeat = true;
    if (is_wanted && settings.needs_.facts) {
        detail::attempt_facts known = facts(now);
        known.wish = detail::retry_wish::asked;
        is_wanted = detail::is_retryable(settings, failure, known);
        may_repeat = is_wanted && detail::may_repeat(settings, failure, known);
    } else if (is_wanted) {
        is_wanted = detail::is_retryable(settings, failure);
    }
    wish_ = is_wanted ? detail::retry_wish::wanted : detail::retry_wish::refused;
    pushback const said = story_ ? said_with(failure) : failure.said();
    if (is_admitted_)
        tell_failure(failure, detail::heard_kind(settings, failure, is_out_of_time(), wish_), now);
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

/// Plans a retry and tells gates, hooks and observers of it. Or returns why there is no retry after all.
/// `stage` names the callable that is being called.
std::optional<stop_reason> retry_machine::plan_retry(verdict const& failure, duration& delay, error& stage,
                                                     time_point now, random& source) {
    retry_settings const& settings = policy_.settings();
    detail::delay_source from{&settings.backoff, story_ ? counted_for_backoff() : failures_, &course_};
    if (!settings.rules.empty() && makes_attempts_ &&
        !follow_rules(from, settings, failure, facts(now), failures_, [this] { return story(); }))
        return stop_reason::attempts;
    stage = error::backoff_threw;
    duration const ceiling = from.shape->ceiling(from.counted);
    stage = error::jitter_threw;
    delay = settings.jitter.draw(from.course->step(*from.shape, from.counted, ceiling), source);
    from.course->drew(delay);

    duration least{};
    if (pushback const said = story_ ? said_with(failure) : failure.said())
        if (auto const reason = obey(said, delay, least, now, source))
            return reason;
    if (settings.clamp)
        count_length(now);
    if (deadline_ != time_point::max() || settings.needs_.wait_limits)
        if (auto const reason = limit_wait(delay, least, now))
            return reason;
    if (cancelled())
        return stop_reason::cancelled;
    if (is_told_ && !take_lease(now) && !settings.wait_when_refused)
        return stop_reason::budget;

    stage = error::hook_threw;
    if (settings.on_retry || has_hooks_)
        call_on_retry(failure, delay, now);
    if (cancelled())
        return stop_reason::cancelled;
    if (is_told_)
        tell_retry(failure, delay, now);
    return std::nullopt;
}

/// Delivers the attempt's own result, unless a limit had stopped the attempt, or it marked its error as
/// permanent.
retry_action retry_machine::end_after(stop_reason reason, verdict const& failure, time_point now) {
    if (cancelled())
        return give_up(stop_reason::cancelled, failure, aborted_error(), now);
    bool const is_unmarked = failure.is_permanent() && !policy_.settings().is_nested;
    if (!is_out_of_time() && !is_unmarked)
        return give_up(reason, failure, error_code(), now);
    return give_up(reason, failure, failure.error(), now, failure.exception());
}

retry_action retry_machine::on_exception(error_code const& code, std::exception_ptr thrown, time_point now) {
    verdict const failure = verdict::failure(code);
    interrupted_by_ = interruption::none;
    wish_ = detail::retry_wish::undecidable;
    if (is_admitted_ &&
        code == error::predicate_threw) // the attempt has a result, but there is no decision on it
        tell_failure(failure, failure_kind::permanent, now);
    return give_up(stop_reason::not_retryable, failure, code, now, std::move(thrown));
}

retry_action retry_machine::end_wait(time_point now, random* source) {
    if (observer_)
        detail::tell_all(observer_, &detail::machine_observer::on_wait_over, now);
    began_ = now;
    if (cancelled())
        return end_without_attempt(stop_reason::cancelled, aborted_error(), now);
    if (now > deadline_ && !at_edge_)
        return end_without_attempt(stop_reason::deadline, timed_out_error(), now);
    at_edge_ = at_edge_ && now >= healthy_since_; // the wait may have been cut short
    if (is_told_) {
        is_refused_ = false;
        bool const is_granted = attempts_ == 0 || has_lease_ || take_lease(now);
        if (!is_granted || !ask_gate(now) || !announce_attempt(now))
            return on_refused(now, source);
    }
    return answer_attempt(now);
}

/// A gate has refused, or an observer has cancelled: no attempt may begin.
retry_action retry_machine::on_refused(time_point now, random* source) {
    verdict const last = last_failure();
    auto const end_for = [&](stop_reason reason) {
        return cancelled() ? end_without_attempt(stop_reason::cancelled, aborted_error(), now)
                           : give_up(reason, last, last.error(), now, last.exception());
    };
    if (cancelled()) // the gate or the observer may have cancelled
        return end_for(stop_reason::cancelled);
    if (!policy_.settings().wait_when_refused)
        return end_for(stop_reason::refused);
    error stage = error::backoff_threw;
    try {
        duration delay = delay_after_refusal(source, stage);
        if (auto const reason = limit_wait(delay, duration::zero(), now))
            return end_for(*reason);
        if (cancelled())
            return end_for(stop_reason::cancelled);
        if (observer_)
            detail::tell_all(observer_, &detail::machine_observer::on_wait, delay, now);
        return wait_for(delay);
    } catch (...) {
        return give_up(stop_reason::not_retryable, last, stage, now, std::current_exception());
    }
}

retry_action retry_machine::give_up(stop_reason reason, verdict const& failure, error_code const& replacement,
                                    time_point now, std::exception_ptr thrown) {
    retry_action action;
    action.reason = reason;
    action.error = replacement;
    if (names_rejected_ && failure.is_rejected() && !replacement)
        action.error = error::exhausted;
    if (is_told_)
        tell_end(reason, action.error ? action.error : failure.error(), now);
    action.thrown = std::move(thrown);
    if (replacement && failure.is_permanent() && policy_.settings().is_nested)
        detail::mark_permanent(action.error, action.thrown); // the outer retry has to see the mark
    if (has_hooks_ || policy_.settings().on_give_up)
        call_on_give_up(failure, now, reason);
    return action;
}

void retry_machine::drain() noexcept {
    if (stopping_ == stopping::no)
        stopping_ = stopping::drained;
}

bool retry_machine::cancel_total() noexcept {
    bool const counts = total_counts();
    if (counts)
        cancel();
    return counts;
}

} // namespace asio_retry
