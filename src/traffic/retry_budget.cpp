#include <asio_retry/traffic/retry_budget.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace asio_retry {
namespace {

constexpr std::int64_t one_retry = 1'000'000'000;
constexpr double greatest_balance = 4e18; // the sum of two such numbers still fits
constexpr duration::rep never_folded = std::numeric_limits<duration::rep>::min();

std::int64_t billionths(double retries) noexcept {
    return static_cast<std::int64_t>(std::min(std::round(retries * one_retry), greatest_balance));
}

retry_budget_options const& checked(retry_budget_options const& o) {
    detail::share("retry_budget.ratio", o.ratio);
    detail::positive("retry_budget.window", o.window);
    detail::amount("retry_budget.keep", o.keep);
    detail::amount("retry_budget.initial", o.initial);
    detail::amount("retry_budget.per_second", o.per_second);
    return o;
}

duration interval_of(double per_second) noexcept {
    double const nanoseconds = 1e9 / per_second;
    return nanoseconds < 9e18 ? duration(static_cast<duration::rep>(std::ceil(nanoseconds))) : duration::max();
}

} // namespace

retry_budget::retry_budget(retry_budget_options const& options)
    : options_(checked(options))
    , keep_(billionths(options.keep))
    , extra_interval_(interval_of(options.per_second))
    , balance_(billionths(options.initial))
    , folded_at_(never_folded)
    , next_extra_(std::numeric_limits<duration::rep>::min()) {}

double retry_budget::balance(time_point now) const noexcept {
    return static_cast<double>(fold(now)) / one_retry;
}

/// The time since the last fold; nothing before the first.
std::optional<duration> retry_budget::time_since_fold(time_point now) const noexcept {
    duration::rep const begin = folded_at_.load();
    if (begin == never_folded)
        return std::nullopt;
    return begin < now.time_since_epoch().count() ? elapsed_between(time_point(duration(begin)), now)
                                                  : duration::zero();
}

/// Claims the time since the last fold for this fold.
duration retry_budget::claim_time(time_point now) const noexcept {
    duration::rep const end = now.time_since_epoch().count();
    duration::rep begin = folded_at_.load();
    while (begin < end)
        if (folded_at_.compare_exchange_weak(begin, end))
            return begin == never_folded ? duration::zero() : elapsed_between(time_point(duration(begin)), now);
    return duration::zero();
}

double retry_budget::in_windows(duration time) const noexcept {
    return static_cast<double>(time.count()) / static_cast<double>(options_.window.count());
}

std::int64_t retry_budget::fold(time_point now) const noexcept {
    // Take the earnings before the time: a thread that finds the time taken then finds its earnings taken, too.
    std::optional<duration> const earned_over = time_since_fold(now);
    std::uint64_t const earnings = earnings_.load(std::memory_order_relaxed) == 0 ? 0 : earnings_.exchange(0);
    duration const passed = claim_time(now);
    std::int64_t before = balance_.load(), after;
    do {
        after = folded(before, earnings, passed, earned_over);
        if (after == before)
            return before;
    } while (!balance_.compare_exchange_weak(before, after));
    return after;
}

/// The balance after the time `passed`, with the successes since the last fold.
std::int64_t retry_budget::folded(std::int64_t before, std::uint64_t earnings, duration passed,
                                  std::optional<duration> earned_over) const noexcept {
    if (earnings == 0 && (passed == duration::zero() || before <= keep_))
        return before;
    double const faded = std::exp(-in_windows(passed));
    double const all = options_.ratio * static_cast<double>(earnings);
    double const x = earned_over ? in_windows(*earned_over) : std::numeric_limits<double>::infinity();
    std::int64_t const gain = billionths(x > 0 ? all * -std::expm1(-x) / x : all);
    std::int64_t const whole_gain = billionths(all);
    auto const left = static_cast<std::int64_t>(static_cast<double>(before - keep_) * faded);
    std::int64_t const after =
        std::max((before > keep_ ? keep_ + left : before) + gain, std::min(keep_, before + whole_gain));
    return std::min(after, static_cast<std::int64_t>(greatest_balance));
}

bool retry_budget::is_idle(time_point now) const noexcept {
    std::optional<duration> const since = time_since_fold(now);
    std::int64_t const then =
        folded(balance_.load(), earnings_.load(), since.value_or(duration::zero()), since);
    return then == billionths(options_.initial) && next_extra_.load() <= now.time_since_epoch().count();
}

bool retry_budget::take_extra(time_point now) noexcept {
    if (options_.per_second == 0)
        return false;
    duration::rep const at = now.time_since_epoch().count();
    duration::rep const next = saturating_add(now, extra_interval_).time_since_epoch().count();
    duration::rep due = next_extra_.load();
    while (due <= at)
        if (next_extra_.compare_exchange_weak(due, next)) {
            extras_in_use_.fetch_add(1, std::memory_order_relaxed);
            return true;
        }
    return false;
}

/// Whether one was in use.
bool retry_budget::forget_extra() noexcept {
    std::uint32_t in_use = extras_in_use_.load(std::memory_order_relaxed);
    while (in_use != 0)
        if (extras_in_use_.compare_exchange_weak(in_use, in_use - 1, std::memory_order_relaxed))
            return true;
    return false;
}

bool retry_budget::acquire(failure_kind, time_point now) noexcept {
    std::int64_t left = fold(now);
    while (left >= one_retry)
        if (balance_.compare_exchange_weak(left, left - one_retry))
            return true;
    return take_extra(now);
}

/// A retry of `per_second` has cost no balance, so it does not become balance: another one may begin now.
void retry_budget::give_back(failure_kind) noexcept {
    if (forget_extra())
        next_extra_.fetch_sub(extra_interval_.count());
    else
        balance_.fetch_add(one_retry);
}

void retry_budget::on_end(attempt_end const& end) noexcept {
    if (end.number > 1 && !end.is_unbegun)
        forget_extra();
    bool const earns = options_.earn_by_request ? end.number == 1 && end.outcome != attempt_end::how::abandoned
                                                : end.outcome == attempt_end::how::succeeded;
    if (earns)
        earnings_.fetch_add(1, std::memory_order_relaxed);
}

} // namespace asio_retry
