#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/policy/operation_story.hpp>
#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/retry_report.hpp>

#include "policy/failure_rules.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <optional>
#include <utility>

namespace asio_retry {
namespace {

retry_action wait_for(duration delay) noexcept {
    retry_action action;
    action.what = retry_action::kind::wait;
    action.delay = delay;
    return action;
}

time_point after(time_point from, std::optional<duration> const& limit) noexcept {
    return limit ? saturating_add(from, *limit) : time_point::max();
}

duration sum(duration a, duration b) noexcept {
    return a > duration::max() - b ? duration::max() : a + b;
}

} // namespace

// --- the start

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
        return end_cancelled(now);
    if (is_refused_)
        return on_refused(now, source);
    return end_without_attempt(stop_reason::deadline, timed_out_error(), now);
}

retry_action retry_machine::refuse(error_code const& code, time_point now) {
    return end_without_attempt(stop_reason::budget, code, now);
}

retry_action retry_machine::end_without_attempt(stop_reason reason, error_code const& code, time_point now) {
    bool const is_late = reason == stop_reason::deadline;
    interrupted_by_ = is_late ? interruption::deadline : interruption::none;
    if (auto const& outer = policy_.settings().outer; outer && is_late && is_held_ && attempts_ == 0)
        outer->waited = true;
    wish_ = detail::retry_wish::unasked;
    return give_up(reason, verdict::failure(code), code, now);
}

retry_action retry_machine::end_cancelled(time_point now) {
    return is_late_ ? end_without_attempt(stop_reason::deadline, timed_out_error(), now)
                    : end_without_attempt(stop_reason::cancelled, aborted_error(), now);
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
    if (is_late_) {
        attempt_expired_ = limited_by_deadline_ = true;
        is_cancelled = false;
    }
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
            tell_abandoned(interruption::cancellation, now);
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
    if (story_ && interrupted_by == interruption::attempt_timeout)
        story_->reached = static_cast<unsigned char>(limit_of_attempt()) & 7;
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
        return end_thrown(stage, failure, now);
    }
}

/// A callable of the policy has thrown the exception that is being handled. An error code cannot say what it
/// says, so the report has it.
retry_action retry_machine::end_thrown(error stage, verdict const& failure, time_point now) {
    std::exception_ptr thrown = std::current_exception();
    detail::tell_all(observer_, &detail::machine_observer::on_hook_exception, thrown);
    return give_up(stop_reason::not_retryable, failure, stage, now, std::move(thrown));
}

/// Tells gates and observers how the attempt ended. Returns why no retry may follow, regardless of time.
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
    detail::kept_settings const& settings = policy_.kept();
    detail::delay_source from{&settings.backoff, &settings.jitter, story_ ? counted_for_backoff() : failures_,
                              &course_};
    if (!settings.rules.empty() && makes_attempts_ &&
        !follow_rules(from, settings, failure, facts(now), failures_, [this] { return story(); }))
        return stop_reason::attempts;
    stage = error::backoff_threw;
    duration const ceiling = from.shape->ceiling(from.counted);
    stage = error::jitter_threw;
    delay = from.kind->draw(from.course->step(*from.shape, from.counted, ceiling), source);
    from.course->drew(delay);

    duration least{};
    pushback said = story_ ? said_with(failure) : failure.said();
    if (said && chooses_)
        said = wish_of_choosers(said, now);
    if (said)
        if (auto const reason = obey(said, duration::zero(), delay, least, now, &source))
            return reason;
    if (settings.clamp)
        count_length(now);
    if (deadline_ != time_point::max() || settings.facts.wait_limits)
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
    verdict const failure = verdict::failure(code, thrown);
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
    if (is_held_ && policy_.settings().max_waited)
        story_->waited = sum(story_->waited, elapsed_between(began_, now));
    began_ = now;
    if (cancelled())
        return end_cancelled(now);
    if (now > deadline_ && !at_edge_)
        return end_without_attempt(stop_reason::deadline, timed_out_error(), now);
    at_edge_ = at_edge_ && now >= healthy_since_; // the wait may have been cut short
    if (is_told_) {
        is_refused_ = false;
        if (is_held_ && !take_held(now))
            return on_refused(now, source);
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
        return cancelled() ? end_cancelled(now) : give_up(reason, last, last.error(), now, last.exception());
    };
    if (cancelled()) // the gate or the observer may have cancelled
        return end_for(stop_reason::cancelled);
    if (is_held_) {
        if (auto const wait = wait_held(now)) {
            if (observer_)
                detail::tell_all(observer_, &detail::machine_observer::on_wait, wait->delay, now);
            return *wait;
        }
        stop_reason const limit = longest_wait(now).second;
        return limit == stop_reason::deadline ? end_without_attempt(limit, timed_out_error(), now)
                                              : end_for(limit);
    }
    bool const is_put_off = story_ && story_->is_put_off;
    if (!is_put_off && !policy_.settings().wait_when_refused)
        return end_for(stop_reason::refused);
    error stage = error::backoff_threw;
    try {
        duration delay{}, least{};
        if (!is_put_off)
            delay = delay_after_refusal(source, stage, now);
        else if (auto const reason = put_off(delay, least, now, source))
            return end_for(*reason);
        if (auto const reason = limit_wait(delay, least, now))
            return end_for(*reason);
        if (cancelled())
            return end_for(stop_reason::cancelled);
        if (observer_)
            detail::tell_all(observer_, &detail::machine_observer::on_wait, delay, now);
        return wait_for(delay);
    } catch (...) {
        return end_thrown(stage, last, now);
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
        tell_failed_end(action, failure, replacement, thrown, now);
    action.thrown = std::move(thrown);
    if (replacement && failure.is_permanent() && policy_.settings().is_nested)
        detail::mark_permanent(action.error, action.thrown); // the outer retry has to see the mark
    if (has_hooks_ || policy_.settings().on_give_up)
        call_on_give_up(failure, now, reason);
    return action;
}

/// Tells the attempt's own failure, unless something else replaces it.
[[gnu::noinline]] // or an operation that tells nobody is dearer
void
retry_machine::tell_failed_end(retry_action const& action, verdict const& failure, error_code const& replacement,
                               std::exception_ptr const& thrown, time_point now) noexcept {
    bool const is_own = !replacement || replacement == failure.error();
    verdict const other = is_own ? failure : verdict::failure(replacement, thrown);
    tell_end(action.reason, action.error ? action.error : failure.error(), &other, now);
}

void retry_machine::observe(detail::machine_observer& observer, bool has_hooks) noexcept {
    observer.next = std::exchange(observer_, &observer);
    measures_time_ = is_told_ = true;
    has_hooks_ = has_hooks_ || has_hooks;
}

void retry_machine::choose_with(detail::machine_observer& chooser) noexcept {
    observe(chooser);
    chooses_ = true;
}

void retry_machine::expect_marks() noexcept {
    marks_health_ = policy_.settings().reset_after.has_value();
    attempts_speak_ = true;
}

void retry_machine::cancel(time_point now) noexcept {
    if (stopping_ != stopping::cancelled)
        is_late_ = now >= deadline_ && deadline_ != time_point::max();
    stopping_ = stopping::cancelled;
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

// --- the time limits of the operation

/// Starts the operation's time at `now`, once. Returns whether the deadline is still ahead.
bool retry_machine::start_clock(time_point now) noexcept {
    retry_settings const& settings = policy_.settings();
    if (!is_admitted_ && !is_refused_) { // which may come here twice
        started_ = now;
        if (is_told_)
            tell_start(now);
        if (settings.total_timeout)
            deadline_ = std::min(deadline_, saturating_add(now, *settings.total_timeout));
        if (settings.deadline)
            deadline_ = std::min(deadline_, *settings.deadline);
    }
    return deadline_ == time_point::max() || now < deadline_;
}

// --- an attempt, and its reports that move its limits

/// Null if attempts cannot report, or need not.
detail::attempt_pulse* retry_machine::pulse() const noexcept {
    retry_settings const& settings = policy_.settings();
    return story_ && attempts_speak_ && settings.wants_a_sign() ? &story_->pulse(settings.rules.size())
                                                                : nullptr;
}

time_point retry_machine::attempt_limit(time_point now) noexcept {
    retry_settings const& settings = policy_.settings();
    if (attempts_speak_ && settings.wants_a_sign() && story()) {
        pulse()->heard.store(now.time_since_epoch().count(), std::memory_order_relaxed);
        pulse()->is_healthy.store(false, std::memory_order_relaxed);
    }
    return first_limit(now, time_point::min());
}

time_point retry_machine::renewed_limit(time_point reached) const noexcept {
    return first_limit(began_, reached);
}

time_point retry_machine::on_attempt_limit(time_point reached) noexcept {
    attempt_expired_ = true;
    limited_by_deadline_ = deadline_ <= reached;
    return first_limit(began_, saturating_add(reached, duration(1)));
}

/// The first limit at `earliest` or later; the attempt has been told of earlier ones. Without memory for the
/// attempt's reports, the two limits that depend on them do not hold.
time_point retry_machine::first_limit(time_point began, time_point earliest) const noexcept {
    retry_settings const& settings = policy_.settings();
    time_point first = time_point::max();
    auto const consider = [&](time_point limit) {
        if (limit >= earliest)
            first = std::min(first, limit);
    };
    consider(deadline_);
    consider(after(began, settings.attempt_timeout));
    if (auto const* const said = pulse()) {
        consider(
            after(time_point(duration(said->heard.load(std::memory_order_relaxed))), settings.idle_timeout));
        if (!said->is_healthy.load(std::memory_order_relaxed))
            consider(after(began, settings.set_up_within));
    }
    if (deadline_ < earliest) { // of which the attempt has been told: then the operation's other limits count
        consider(after(started_, settings.total_timeout));
        consider(settings.deadline.value_or(time_point::max()));
        consider(probe_ ? probe_->deadline() : time_point::max());
    }
    return first;
}

/// The deadline that the attempt may tell its server, without limits that the attempt's reports move.
time_point retry_machine::attempt_deadline() const noexcept {
    return std::min(deadline_, after(began_, policy_.settings().attempt_timeout));
}

/// The limit that stopped the last attempt, and its length.
std::pair<time_limit, duration> retry_machine::reached_limit() const noexcept {
    retry_settings const& settings = policy_.settings();
    if (interrupted_by_ == interruption::deadline) {
        time_point const initiated = story_ ? std::min(story_->initiated, started_) : started_;
        bool const is_total =
            settings.total_timeout && deadline_ == saturating_add(initiated, *settings.total_timeout);
        if (is_total)
            return {time_limit::total_timeout, *settings.total_timeout};
        bool const is_own = deadline_ == settings.deadline && !settings.inherits_deadline;
        return {is_own ? time_limit::deadline : time_limit::inherited, duration::zero()};
    }
    if (interrupted_by_ != interruption::attempt_timeout)
        return {time_limit::none, duration::zero()};
    auto const reached = story_ ? static_cast<time_limit>(story_->reached) : time_limit::none;
    if (reached == time_limit::idle_timeout)
        return {reached, *settings.idle_timeout};
    if (reached == time_limit::set_up_within)
        return {reached, *settings.set_up_within};
    return {time_limit::attempt_timeout, settings.attempt_timeout.value_or(duration::zero())};
}

/// Which of the attempt's limits has stopped it. Precondition: another has not begun.
time_limit retry_machine::limit_of_attempt() const noexcept {
    time_limit first = time_limit::attempt_timeout;
    if (auto const* const said = pulse()) {
        retry_settings const& settings = policy_.settings();
        time_point const heard(duration(said->heard.load(std::memory_order_relaxed)));
        time_point expiry = after(began_, settings.attempt_timeout);
        if (time_point const idle = after(heard, settings.idle_timeout); idle < expiry) {
            expiry = idle;
            first = time_limit::idle_timeout;
        }
        if (!said->is_healthy.load(std::memory_order_relaxed) && after(began_, settings.set_up_within) < expiry)
            first = time_limit::set_up_within;
    }
    return first;
}

void retry_machine::on_healthy(time_point now) noexcept {
    if (marks_health_ && now < healthy_since_)
        healthy_since_ = now;
    on_progress(now);
    if (auto* const said = pulse())
        said->is_healthy.store(true, std::memory_order_relaxed);
}

void retry_machine::on_progress(time_point now) noexcept {
    if (auto* const said = pulse())
        said->heard.store(now.time_since_epoch().count(), std::memory_order_relaxed);
}

bool retry_machine::hears_attempt() const noexcept {
    return pulse() != nullptr;
}

// --- a wait

/// Sets the delay to the server's wish with its spread, or to the policy's own delay, whichever is later. If
/// only the wish fits into the limits, it gets the wish, with as much of its spread as fits. Or returns why to
/// stop. Of the wait, `waited` is over at `now`.
std::optional<stop_reason> retry_machine::obey(pushback said, duration waited, duration& delay, duration& least,
                                               time_point now, random* source) const {
    retry_settings const& settings = policy_.settings();
    bool const clamps = settings.over_pushback_limit == over_limit::clamp;
    least = said.delay();
    if (least > settings.pushback_limit && !clamps) {
        if (settings.over_pushback_limit == over_limit::stop)
            return stop_reason::pushback;
        least = duration::zero();
        return std::nullopt;
    }
    duration const wanted = std::min(least, settings.pushback_limit);
    double const share = settings.pushback_spread * static_cast<double>(wanted.count());
    duration spread = share < 0x1p63 ? duration(static_cast<duration::rep>(share)) : duration::max();
    if (clamps) { // below the limit, or all would come together at it
        if (least > wanted)
            least = wanted - std::min(wanted, spread);
        spread = std::min(spread, settings.pushback_limit - least);
    }
    duration const left = longest_wait(now).first, allowed = left > duration::zero() ? sum(left, waited) : left;
    if (allowed >= least)
        spread = std::min(spread, allowed - least);
    duration wish = least;
    if (spread != duration::zero() && source)
        wish = sum(wish, source->uniform(duration::zero(), spread));
    bool const only_wish_fits = delay > allowed && wish <= allowed && wish > duration::zero();
    if (wish > delay || only_wish_fits)
        delay = wish;
    return std::nullopt;
}

/// The wait of an attempt while all servers rest that it might ask. The limit of a wish counts for all such
/// waits of one attempt together, or others could make it wait for ever.
std::optional<stop_reason> retry_machine::put_off(duration& delay, duration& least, time_point now,
                                                  random* source) const {
    time_point since = now;
    for (auto* one = observer_; one; one = one->next)
        since = std::min(since, one->put_off_since(now));
    duration const waited = elapsed_between(since, now);
    duration const whole = sum(waited, elapsed_between(now, story_->held_until));
    if (auto const reason = obey(pushback::after(whole), waited, delay, least, now, source))
        return reason;
    delay -= std::min(delay, waited);
    least -= std::min(least, waited);
    return std::nullopt;
}

/// Returns why a wait of `delay` is too long, if it is. With clamp the wait is cut short, but not below
/// `least`. A wait that is allowed counts for max_waited.
std::optional<stop_reason> retry_machine::limit_wait(duration& delay, duration least, time_point now) noexcept {
    bool const clamps = policy_.settings().clamp;
    auto const [allowed, limit] = longest_wait(now);
    bool const is_last = delay > allowed;
    if (at_edge_ || (is_last && (!clamps || allowed <= duration::zero())))
        return limit;
    if (clamps) {
        duration const shorter = std::min({delay, allowed, wait_leaving_time(now)});
        if (allowed < least)
            return limit;
        delay = std::max(least, shorter);
        at_edge_ = is_last;
        healthy_since_ = saturating_add(now, delay);
    }
    if (policy_.settings().max_waited) {
        if (!story())
            return stop_reason::elapsed; // without memory the waits cannot be counted
        story_->waited = sum(story_->waited, delay);
    }
    return std::nullopt;
}

std::pair<duration, stop_reason> retry_machine::longest_wait(time_point now) const noexcept {
    std::pair result(duration::max(), stop_reason::deadline);
    if (deadline_ != time_point::max())
        result.first = now > deadline_ ? -elapsed_between(deadline_, now) : elapsed_between(now, deadline_);
    if (auto const& max_elapsed = policy_.settings().max_elapsed) {
        duration const left = *max_elapsed - elapsed_between(started_, now);
        if (left < result.first)
            result = {left, stop_reason::elapsed};
    }
    if (auto const& max_waited = policy_.settings().max_waited) {
        duration const left = *max_waited - (story_ ? story_->waited : duration::zero());
        if (left < result.first)
            result = {left, stop_reason::elapsed};
    }
    return result;
}

/// Keeps the length of the longest attempt, for wait_leaving_time. With `reset_after`, attempts are meant to
/// last, so their length tells nothing.
void retry_machine::count_length(time_point now) noexcept {
    if (deadline_ == time_point::max() || policy_.settings().reset_after)
        return;
    auto const took = static_cast<std::uint64_t>(elapsed_between(healthy_since_, now).count());
    auto const bits = static_cast<unsigned char>(std::bit_width(took));
    if (bits > longest_attempt_)
        longest_attempt_ = bits & 63;
}

/// The longest wait that leaves the next attempt time before the deadline. It leaves as much as the longest
/// attempt took, but at least a tenth and at most half of the time left.
duration retry_machine::wait_leaving_time(time_point now) const noexcept {
    if (deadline_ == time_point::max())
        return duration::max();
    duration const longest(static_cast<std::int64_t>((std::uint64_t(1) << longest_attempt_) - 1));
    duration const left = elapsed_between(now, deadline_);
    return left - std::clamp(longest, left / 10, left / 2);
}

duration retry_machine::delay_after_refusal(random* source, error& stage, time_point now) {
    retry_settings const& settings = policy_.settings();
    std::uint64_t const counted = std::max<std::uint64_t>(counted_for_backoff(), 1);
    duration delay = settings.backoff.ceiling(counted);
    stage = error::jitter_threw;
    backoff_step const step = course_.step(settings.backoff, counted, delay);
    if (source)
        delay = settings.jitter.draw(step, *source);
    course_.drew(delay);
    return is_refused_ && story_ ? sum(elapsed_between(now, story_->held_until), delay) : delay;
}

/// Failures and refusals, without failures of rules that have a backoff of their own.
std::uint64_t retry_machine::counted_for_backoff() const noexcept {
    if (!story_)
        return failures_;
    std::uint64_t counted = failures_ + story_->refusals;
    auto const& rules = policy_.settings().rules;
    for (std::size_t i = 0; i != rules.size(); ++i)
        if (rules[i].backoff)
            counted -= story_->rules()[i].failures;
    return counted;
}

} // namespace asio_retry
