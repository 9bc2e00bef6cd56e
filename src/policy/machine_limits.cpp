#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/policy/retryable.hpp>

#include "policy/rare_state.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

// The limits of a retry_machine: when an attempt is cancelled, and how long a wait may be.

namespace asio_retry {
namespace {

time_point after(time_point from, std::optional<duration> const& limit) noexcept {
    return limit ? saturating_add(from, *limit) : time_point::max();
}

duration sum(duration a, duration b) noexcept {
    return a > duration::max() - b ? duration::max() : a + b;
}

time_point last_heard(detail::attempt_pulse const& said) noexcept {
    return time_point(duration(said.heard.load(std::memory_order_relaxed)));
}

bool is_healthy(detail::attempt_pulse const& said) noexcept {
    return said.is_healthy.load(std::memory_order_relaxed);
}

/// The longest wait that leaves the next attempt time before the deadline. It leaves as much as the longest
/// attempt took, but at least a tenth and at most half of the time left.
duration wait_before(time_point deadline, unsigned bits_of_longest, time_point now) noexcept {
    if (deadline == time_point::max())
        return duration::max();
    duration const longest(static_cast<std::int64_t>((std::uint64_t(1) << bits_of_longest) - 1));
    duration const left = elapsed_between(now, deadline);
    return left - std::clamp(longest, left / 10, left / 2);
}

/// Sets the delay to the server's wish with its spread, or to the policy's own delay, whichever is later. If
/// only the wish fits into the limits, it gets the wish, with as much of its spread as fits. Or returns why to
/// stop. `least` is the wish without its spread.
std::optional<stop_reason> obey(retry_settings const& settings, pushback said, duration allowed,
                                duration& delay, duration& least, random* source) {
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

} // namespace

/// Null without memory.
detail::rare_state* retry_machine::rare() noexcept {
    if (!rare_) {
        try {
            rare_.reset(new detail::rare_state(policy_.settings().rules.size()));
        } catch (...) { // each use says what follows
        }
    }
    return rare_.get();
}

void retry_machine::rare_deleter::operator()(detail::rare_state* kept) const noexcept {
    delete kept;
}

// --- the operation

/// The limit that stopped the last attempt, and its length.
std::pair<time_limit, duration> retry_machine::reached_limit() const noexcept {
    retry_settings const& settings = policy_.settings();
    if (interrupted_by_ == interruption::deadline) {
        auto const& total = settings.total_timeout;
        if (total &&
            deadline_ == saturating_add(rare_ ? std::min(rare_->initiated, started_) : started_, *total))
            return {time_limit::total_timeout, *total};
        bool const is_own = deadline_ == settings.deadline && !settings.inherits_deadline;
        return {is_own ? time_limit::deadline : time_limit::inherited, duration::zero()};
    }
    if (interrupted_by_ != interruption::attempt_timeout)
        return {time_limit::none, duration::zero()};
    auto const reached = rare_ ? rare_->reached : time_limit::none;
    if (reached == time_limit::idle_timeout)
        return {reached, *settings.idle_timeout};
    if (reached == time_limit::setup_timeout)
        return {reached, *settings.setup_timeout};
    return {time_limit::attempt_timeout, settings.attempt_timeout.value_or(duration::zero())};
}

// --- an attempt, and its reports that move its limits

/// Null if attempts cannot report, or need not.
detail::attempt_pulse* retry_machine::pulse() const noexcept {
    return rare_ && tell_.attempts_speak() && policy_.settings().wants_a_sign() ? &rare_->pulse : nullptr;
}

/// An attempt begins that says itself when it is healthy. Without memory it never is.
void retry_machine::expect_health() noexcept {
    tell_.forget_sent();
    if (policy_.settings().reset_after && rare())
        rare_->healthy_since = time_point::max();
}

time_point retry_machine::attempt_limit(time_point now) noexcept {
    if (tell_.attempts_speak() && policy_.settings().wants_a_sign() && rare()) {
        rare_->pulse.heard.store(now.time_since_epoch().count(), std::memory_order_relaxed);
        rare_->pulse.is_healthy.store(false, std::memory_order_relaxed);
    }
    return first_limit(now, time_point::min());
}

time_point retry_machine::renewed_limit(time_point reached) const noexcept {
    return first_limit(began_, reached);
}

time_point retry_machine::on_attempt_limit(time_point reached) noexcept {
    expired_ = deadline_ <= reached ? interruption::deadline : interruption::attempt_timeout;
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
        consider(after(last_heard(*said), settings.idle_timeout));
        if (!is_healthy(*said))
            consider(after(began, settings.setup_timeout));
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

/// Which of the attempt's limits has stopped it. Precondition: another has not begun.
time_limit retry_machine::limit_of_attempt() const noexcept {
    auto const* const said = pulse();
    if (!said)
        return time_limit::attempt_timeout;
    retry_settings const& settings = policy_.settings();
    time_point const whole = after(began_, settings.attempt_timeout);
    time_point const idle = after(last_heard(*said), settings.idle_timeout);
    if (!is_healthy(*said) && after(began_, settings.setup_timeout) < std::min(whole, idle))
        return time_limit::setup_timeout;
    return idle < whole ? time_limit::idle_timeout : time_limit::attempt_timeout;
}

void retry_machine::on_healthy(time_point now) noexcept {
    if (rare_ && tell_.attempts_speak() && policy_.settings().reset_after)
        rare_->healthy_since = std::min(rare_->healthy_since, now);
    on_progress(now);
    if (auto* const said = pulse())
        said->is_healthy.store(true, std::memory_order_relaxed);
}

void retry_machine::on_progress(time_point now) noexcept {
    if (auto* const said = pulse())
        said->heard.store(now.time_since_epoch().count(), std::memory_order_relaxed);
}

detail::shared_value<detail::nested_marks> retry_machine::marks_of_nested() noexcept {
    return tell_.marks_of_nested(attempts_);
}

bool retry_machine::hears_attempt() const noexcept {
    return pulse() != nullptr;
}

// --- a wait

/// Failures and refusals, without failures of rules that have a backoff of their own.
std::uint64_t retry_machine::counted_for_backoff() const noexcept {
    if (!rare_)
        return failures_;
    std::uint64_t counted = failures_ + rare_->refusals;
    auto const& rules = policy_.settings().rules;
    for (std::size_t i = 0; i != rules.size(); ++i)
        if (rules[i].backoff)
            counted -= rare_->rules[i].failures;
    return counted;
}

/// `refused_for` comes first. Without a source there is no jitter.
duration retry_machine::delay_after_refusal(duration refused_for, error& stage, random* source) {
    retry_settings const& settings = policy_.settings();
    std::uint64_t const counted = std::max<std::uint64_t>(counted_for_backoff(), 1);
    duration delay = settings.backoff.ceiling(counted);
    stage = error::jitter_threw;
    backoff_step const step = course_.step(settings.backoff, counted, delay);
    if (source)
        delay = settings.jitter.draw(step, *source);
    course_.drew(delay);
    return sum(refused_for, delay);
}

/// Makes the wait as long as the server wishes and the limits allow. Of the wait, `waited` is over at `now`;
/// with clamp it is cut short, but not below what the server asks for. Or returns why to stop. A wait that is
/// allowed counts for max_waited.
std::optional<stop_reason> retry_machine::fit_wait(pushback said, duration waited, duration& delay,
                                                   time_point now, random* source) {
    bool const clamps = policy_.settings().clamp;
    auto const [allowed, limit] = longest_wait(now);
    duration least{};
    if (said) {
        duration const whole = allowed > duration::zero() ? sum(allowed, waited) : allowed;
        if (auto const reason = obey(policy_.settings(), said, whole, delay, least, source))
            return reason;
        delay -= std::min(delay, waited);
        least -= std::min(least, waited);
    }
    bool const is_last = delay > allowed;
    if (is_at_edge() || (is_last && (!clamps || allowed <= duration::zero())))
        return limit;
    if (clamps) {
        duration const shorter = std::min({delay, allowed, wait_before(deadline_, longest_attempt_, now)});
        if (allowed < least)
            return limit;
        delay = std::max(least, shorter);
        if (is_last && !rare())
            return limit;
        if (is_last)
            rare_->edge = saturating_add(now, delay);
    }
    if (!count_wait(delay))
        return stop_reason::elapsed;
    return std::nullopt;
}

/// Whether the wait that is over was cut short to end at a limit: then one more attempt may begin there.
bool retry_machine::is_at_edge() const noexcept {
    return rare_ && rare_->edge;
}

/// Counts for max_waited. Returns false without memory.
bool retry_machine::count_wait(duration wait) noexcept {
    if (!policy_.settings().max_waited)
        return true;
    if (rare())
        rare_->waited = sum(rare_->waited, wait);
    return rare_ != nullptr;
}

/// The longest possible wait, and the reason of its limit; negative when the limit has passed.
std::pair<duration, stop_reason> retry_machine::longest_wait(time_point now) const noexcept {
    retry_settings const& settings = policy_.settings();
    std::pair result(duration::max(), stop_reason::deadline);
    if (deadline_ != time_point::max())
        result.first = now > deadline_ ? -elapsed_between(deadline_, now) : elapsed_between(now, deadline_);
    auto const consider = [&](duration left) {
        if (left < result.first)
            result = {left, stop_reason::elapsed};
    };
    if (settings.max_elapsed)
        consider(*settings.max_elapsed - elapsed_between(started_, now));
    if (settings.max_waited)
        consider(*settings.max_waited - (rare_ ? rare_->waited : duration::zero()));
    return result;
}

} // namespace asio_retry
