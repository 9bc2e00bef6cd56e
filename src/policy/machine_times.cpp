#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/policy/operation_story.hpp>

#include <algorithm>
#include <bit>
#include <optional>

// Time limits of the operation and its attempts, and the length of waits.

namespace asio_retry {
namespace {

time_point after(time_point from, std::optional<duration> const& limit) noexcept {
    return limit ? saturating_add(from, *limit) : time_point::max();
}

duration sum(duration a, duration b) noexcept {
    return a > duration::max() - b ? duration::max() : a + b;
}

} // namespace

// --- the operation

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
        return is_total ? std::pair(time_limit::total_timeout, *settings.total_timeout)
                        : std::pair(time_limit::deadline, duration::zero());
    }
    if (interrupted_by_ != interruption::attempt_timeout)
        return {time_limit::none, duration::zero()};
    std::pair first(time_limit::attempt_timeout, settings.attempt_timeout.value_or(duration::zero()));
    if (auto const* const said = pulse()) {
        time_point const heard(duration(said->heard.load(std::memory_order_relaxed)));
        time_point expiry = after(began_, settings.attempt_timeout);
        if (time_point const idle = after(heard, settings.idle_timeout); idle < expiry) {
            expiry = idle;
            first = {time_limit::idle_timeout, *settings.idle_timeout};
        }
        if (!said->is_healthy.load(std::memory_order_relaxed) && after(began_, settings.set_up_within) < expiry)
            first = {time_limit::set_up_within, *settings.set_up_within};
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
/// stop.
std::optional<stop_reason> retry_machine::obey(pushback said, duration& delay, duration& least, time_point now,
                                               random& source) const {
    retry_settings const& settings = policy_.settings();
    least = said.delay();
    if (least > settings.pushback_limit)
        switch (settings.over_pushback_limit) {
        case over_limit::stop:
            return stop_reason::pushback;
        case over_limit::clamp:
            least = settings.pushback_limit;
            break;
        case over_limit::ignore:
            least = duration::zero();
            return std::nullopt;
        }
    double const share = settings.pushback_spread * static_cast<double>(least.count());
    duration spread = share < 0x1p63 ? duration(static_cast<duration::rep>(share)) : duration::max();
    duration const allowed = longest_wait(now).first;
    if (allowed >= least)
        spread = std::min(spread, allowed - least);
    duration wish = least;
    if (spread != duration::zero())
        wish = sum(wish, source.uniform(duration::zero(), spread));
    bool const only_wish_fits = delay > allowed && wish <= allowed && wish > duration::zero();
    if (wish > delay || only_wish_fits)
        delay = wish;
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

duration retry_machine::delay_after_refusal(random* source, error& stage) {
    retry_settings const& settings = policy_.settings();
    std::uint64_t const counted = std::max<std::uint64_t>(counted_for_backoff(), 1);
    duration delay = settings.backoff.ceiling(counted);
    stage = error::jitter_threw;
    backoff_step const step = course_.step(settings.backoff, counted, delay);
    if (source)
        delay = settings.jitter.draw(step, *source);
    course_.drew(delay);
    return is_refused_ && story_ ? sum(story_->refused_for, delay) : delay;
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
