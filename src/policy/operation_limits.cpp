#include <asio_retry/detail/policy/operation_limits.hpp>

#include <asio_retry/pushback.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_settings.hpp>
#include <asio_retry/stop_reason.hpp>

#include "policy/rare_state.hpp"
#include "policy/saturating_sum.hpp"

#include <algorithm>
#include <bit>

namespace asio_retry::detail {
namespace {

time_point after(time_point from, std::optional<duration> const& limit) noexcept {
    return limit ? saturating_add(from, *limit) : time_point::max();
}

time_point last_heard(attempt_pulse const& said) noexcept {
    return time_point(duration(said.heard.load(std::memory_order_relaxed)));
}

bool is_healthy(attempt_pulse const& said) noexcept {
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

/// Sets `delay` to the later of the server's wish and the policy's own delay. If only the wish fits into the
/// limits, sets `delay` to the wish. A wish gets as much of its spread as fits; `least` is the wish without it.
/// Returns a reason to stop, if there is one.
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
    if (clamps) { // spread below the limit: otherwise all clients would return at the limit
        if (least > wanted)
            least = wanted - std::min(wanted, spread);
        spread = std::min(spread, settings.pushback_limit - least);
    }
    if (allowed >= least)
        spread = std::min(spread, allowed - least);
    duration wish = least;
    if (spread != duration::zero() && source)
        wish = saturating_sum(wish, source->uniform(duration::zero(), spread));
    bool const only_wish_fits = delay > allowed && wish <= allowed && wish > duration::zero();
    if (wish > delay || only_wish_fits)
        delay = wish;
    return std::nullopt;
}

} // namespace

rare_state* operation_limits::rare(retry_settings const& settings) noexcept {
    if (!rare_) {
        try {
            rare_ = new rare_state(settings.rules.size());
        } catch (...) { // no memory: callers handle null
        }
    }
    return rare_;
}

void operation_limits::forget_rare() noexcept {
    delete rare_;
}

// --- the operation

/// The start of the operation, and not its last reset.
time_point operation_limits::initiated() const noexcept {
    return rare_ ? std::min(rare_->initiated, started_) : started_;
}

// --- an attempt, and its reports that move its limits

/// Null if attempts cannot report, or need not.
attempt_pulse* operation_limits::pulse() const noexcept {
    return rare_ && rare_->has_pulse ? &rare_->pulse : nullptr;
}

bool operation_limits::hears_attempt() const noexcept {
    return pulse() != nullptr;
}

/// An attempt begins that reports its health itself. Without memory it is never healthy.
void operation_limits::expect_health(retry_settings const& settings) noexcept {
    if (settings.reset_after && rare(settings))
        rare_->healthy_since = time_point::max();
}

/// `speaks`: the attempt itself reports its health.
[[gnu::hot]] time_point operation_limits::attempt_limit(retry_settings const& settings, time_point now,
                                                        bool speaks) noexcept {
    if (speaks && settings.wants_a_sign() && rare(settings)) {
        rare_->has_pulse = true;
        rare_->pulse.heard.store(now.time_since_epoch().count(), std::memory_order_relaxed);
        rare_->pulse.is_healthy.store(false, std::memory_order_relaxed);
    }
    return first_limit(settings, now, time_point::min());
}

time_point operation_limits::renewed_limit(retry_settings const& settings, time_point reached) const noexcept {
    return first_limit(settings, began_, reached);
}

time_point operation_limits::on_attempt_limit(retry_settings const& settings, time_point reached) noexcept {
    expired_ = deadline_ <= reached ? interruption::deadline : interruption::attempt_timeout;
    return first_limit(settings, began_, saturating_add(reached, duration(1)));
}

/// The first limit at `earliest` or later. Earlier limits have cancelled the attempt already. Without memory
/// for the attempt's reports, idle_timeout and setup_timeout do not hold.
[[gnu::hot]] time_point operation_limits::first_limit(retry_settings const& settings, time_point began,
                                                      time_point earliest) const noexcept {
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
    if (deadline_ < earliest) { // the deadline has passed: the operation's other limits count, too
        consider(after(started_, settings.total_timeout));
        consider(settings.deadline.value_or(time_point::max()));
        consider(probe_ ? probe_->deadline() : time_point::max());
    }
    return first;
}

/// The deadline that the attempt may tell its server, without limits that the attempt's reports move.
[[gnu::hot]] time_point operation_limits::attempt_deadline(retry_settings const& settings) const noexcept {
    return std::min(deadline_, after(began_, settings.attempt_timeout));
}

/// The limit that has stopped the attempt. Precondition: no later attempt has begun.
time_limit operation_limits::limit_of_attempt(retry_settings const& settings) const noexcept {
    auto const* const said = pulse();
    if (!said)
        return time_limit::attempt_timeout;
    time_point const whole = after(began_, settings.attempt_timeout);
    time_point const idle = after(last_heard(*said), settings.idle_timeout);
    if (!is_healthy(*said) && after(began_, settings.setup_timeout) < std::min(whole, idle))
        return time_limit::setup_timeout;
    return idle < whole ? time_limit::idle_timeout : time_limit::attempt_timeout;
}

void operation_limits::on_healthy(retry_settings const& settings, time_point now) noexcept {
    if (rare_ && settings.reset_after)
        rare_->healthy_since = std::min(rare_->healthy_since, now);
    on_progress(now);
    if (auto* const said = pulse())
        said->is_healthy.store(true, std::memory_order_relaxed);
}

void operation_limits::on_progress(time_point now) noexcept {
    if (auto* const said = pulse())
        said->heard.store(now.time_since_epoch().count(), std::memory_order_relaxed);
}

/// An attempt that reached its time limit was not healthy, unless it `speaks` and has reported its health.
bool operation_limits::end_attempt(retry_settings const& settings, interruption stopped, bool speaks,
                                   time_point now) noexcept {
    auto const& stable_for = settings.reset_after;
    bool const says_so = stable_for && speaks;
    bool const hung = stopped == interruption::attempt_timeout && !says_so;
    bool const may_reset = stable_for && !hung && (says_so || *stable_for > duration::zero());
    time_point const since = !says_so ? began_ : rare_ ? rare_->healthy_since : time_point::max();
    bool const resets = may_reset && since <= now && elapsed_between(since, now) >= *stable_for;
    if (resets) {
        if (rare(settings))
            rare_->reset(started_);
        started_ = now;
    }
    if (settings.clamp && !stable_for && has_deadline()) {
        auto const bits = std::bit_width(static_cast<std::uint64_t>(took(now).count()));
        bits_of_longest_ = std::max(bits_of_longest_, static_cast<unsigned char>(bits));
    }
    if (rare_ && stopped == interruption::attempt_timeout)
        rare_->reached = limit_of_attempt(settings);
    return resets;
}

std::pair<time_limit, duration> operation_limits::reached(retry_settings const& settings,
                                                          interruption stopped) const noexcept {
    if (stopped == interruption::deadline) {
        auto const& total = settings.total_timeout;
        if (total && deadline_ == saturating_add(initiated(), *total))
            return {time_limit::total_timeout, *total};
        bool const is_own = deadline_ == settings.deadline && !settings.inherits_deadline;
        return {is_own ? time_limit::deadline : time_limit::inherited, duration::zero()};
    }
    if (stopped != interruption::attempt_timeout)
        return {time_limit::none, duration::zero()};
    auto const which = rare_ ? rare_->reached : time_limit::none;
    if (which == time_limit::idle_timeout)
        return {which, *settings.idle_timeout};
    if (which == time_limit::setup_timeout)
        return {which, *settings.setup_timeout};
    return {time_limit::attempt_timeout, settings.attempt_timeout.value_or(duration::zero())};
}

// --- a wait

/// Failures and refusals, without failures of rules that have a backoff of their own.
std::uint64_t operation_limits::counted(retry_settings const& settings, std::uint64_t failures) const noexcept {
    if (!rare_)
        return failures;
    std::uint64_t counted = failures + rare_->refusals;
    for (std::size_t i = 0; i != settings.rules.size(); ++i)
        if (settings.rules[i].backoff)
            counted -= rare_->rules[i].failures;
    return counted;
}

void operation_limits::count_refusal(retry_settings const& settings) noexcept {
    if (rare(settings))
        ++rare_->refusals;
}

/// Fits `delay` to the server's wish and the limits. `waited`: the part of the wait that is over at `now`. With
/// `clamp` the wait is cut short, but not below the server's wish. Returns a reason to stop, if there is one. A
/// wait that is allowed counts for max_waited.
std::optional<stop_reason> operation_limits::fit_wait(retry_settings const& settings, pushback said,
                                                      duration waited, duration& delay, time_point now,
                                                      random* source) {
    bool const clamps = settings.clamp;
    auto const [allowed, limit] = longest_wait(settings, now);
    duration least{};
    if (said) {
        duration const whole = allowed > duration::zero() ? saturating_sum(allowed, waited) : allowed;
        if (auto const reason = obey(settings, said, whole, delay, least, source))
            return reason;
        delay -= std::min(delay, waited);
        least -= std::min(least, waited);
    }
    bool const is_last = delay > allowed;
    if (was_cut() || (is_last && (!clamps || allowed <= duration::zero())))
        return limit;
    if (clamps) {
        duration const shorter = std::min({delay, allowed, wait_before(deadline_, bits_of_longest_, now)});
        if (allowed < least)
            return limit;
        delay = std::max(least, shorter);
        if (is_last && !rare(settings))
            return limit;
        if (is_last)
            rare_->cut_to = saturating_add(now, delay);
    }
    if (!count_wait(settings, delay))
        return stop_reason::elapsed;
    return std::nullopt;
}

/// Whether the wait that is over was cut short to end at a limit: then one more attempt may begin there.
bool operation_limits::was_cut() const noexcept {
    return rare_ && rare_->cut_to;
}

/// A wait is over. Returns whether the operation ends at its deadline.
bool operation_limits::end_wait(time_point now) noexcept {
    if (!was_cut())
        return now > deadline_;
    if (now < rare_->cut_to) // the wait was ended early
        rare_->cut_to.reset();
    return false;
}

/// Counts for max_waited. Returns false without memory.
bool operation_limits::count_wait(retry_settings const& settings, duration wait) noexcept {
    if (!settings.max_waited)
        return true;
    if (rare(settings))
        rare_->waited = saturating_sum(rare_->waited, wait);
    return rare_ != nullptr;
}

/// The longest possible wait, and the reason of its limit; negative when the limit has passed.
std::pair<duration, stop_reason> operation_limits::longest_wait(retry_settings const& settings,
                                                                time_point now) const noexcept {
    std::pair result(duration::max(), stop_reason::deadline);
    if (has_deadline())
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

} // namespace asio_retry::detail
