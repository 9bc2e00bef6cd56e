#include <asio_retry/traffic/window_budget.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace asio_retry {
namespace {

constexpr std::int64_t scale = 1000;           // Finagle's, which counts in whole numbers
constexpr std::int64_t fine_scale = 1'000'000; // above one retry per request, where Finagle is inexact
constexpr duration::rep never_begun = std::numeric_limits<duration::rep>::min();

window_budget_options const& checked(window_budget_options const& o) {
    using namespace std::chrono_literals;
    detail::demand(0 <= o.ratio && o.ratio <= 1000, "window_budget.ratio", o.ratio, "must be in [0, 1000]");
    // A number of seconds may be too great for a duration.
    if (o.ttl < 1s || o.ttl > 60s)
        detail::refuse("window_budget.ttl", std::to_string(o.ttl.count()) + "s", "must be from 1s to 60s");
    return o;
}

std::int64_t deposit_of(double ratio) noexcept {
    if (ratio > 1)
        return std::llround(fine_scale * ratio);
    return ratio == 0 ? 0 : scale;
}

std::int64_t withdrawal_of(double ratio) noexcept {
    if (ratio > 1)
        return fine_scale;
    constexpr double greatest = std::numeric_limits<std::int32_t>::max(); // Finagle uses an int
    return ratio == 0 ? 1 : static_cast<std::int64_t>(std::min(scale / ratio, greatest));
}

} // namespace

window_budget::window_budget(window_budget_options const& options)
    : deposit_(deposit_of(checked(options).ratio))
    , withdrawal_(withdrawal_of(options.ratio))
    , reserve_(static_cast<std::int64_t>(
          std::min(static_cast<double>(options.min_per_second) * static_cast<double>(options.ttl.count()) *
                       static_cast<double>(withdrawal_),
                   4e18)))
    , slot_length_(duration(options.ttl) / slot_count)
    , slot_began_(never_begun) {}

/// Forgets slots that are older than the window. A slot begins when something happens in it.
void window_budget::advance(time_point now) const noexcept {
    duration::rep const at = now.time_since_epoch().count();
    duration::rep began = slot_began_.load();
    while (began == never_begun)
        if (slot_began_.compare_exchange_weak(began, at))
            return;
    for (;;) {
        auto const passed = elapsed_between(time_point(duration(began)), now) / slot_length_;
        if (passed == 0)
            return;
        if (!slot_began_.compare_exchange_weak(began, at))
            continue;
        auto const steps = static_cast<std::size_t>(std::min<duration::rep>(passed, slot_count));
        std::size_t const last = present_.load();
        for (std::size_t i = 1; i <= steps; ++i) {
            slot& oldest = slots_[(last + i) % slot_count];
            sum_.fetch_add(oldest.retries.exchange(0) * withdrawal_ - oldest.deposits.exchange(0));
        }
        present_.fetch_add(steps);
        return;
    }
}

std::int64_t window_budget::balance(time_point now) const noexcept {
    advance(now);
    return (sum_.load() + reserve_) / withdrawal_;
}

bool window_budget::is_idle(time_point now) const noexcept {
    duration::rep const began = slot_began_.load();
    if (began == never_begun)
        return true;
    auto const passed = elapsed_between(time_point(duration(began)), now) / slot_length_;
    if (passed == 0)
        return false; // the slot of a new budget would begin at `now`, and this one began before
    std::size_t const last = present_.load();
    for (std::size_t i = 1; i <= slot_count; ++i) {
        slot const& counted = slots_[(last + i) % slot_count];
        bool const is_forgotten = static_cast<duration::rep>(i) <= passed;
        if (!is_forgotten && (counted.deposits.load() != 0 || counted.retries.load() != 0))
            return false;
    }
    return true;
}

bool window_budget::acquire(failure_kind, time_point now) noexcept {
    advance(now);
    std::int64_t sum = sum_.load();
    while (sum + reserve_ >= withdrawal_)
        if (sum_.compare_exchange_weak(sum, sum - withdrawal_)) {
            present().retries.fetch_add(1);
            return true;
        }
    return false;
}

/// Takes one retry out of the oldest slot that has one, and adds its cost to the sum. If no slot has one,
/// `advance` has done both.
void window_budget::give_back(failure_kind) noexcept {
    std::size_t const last = present_.load();
    for (std::size_t i = 1; i <= slot_count; ++i) {
        auto& retries = slots_[(last + i) % slot_count].retries;
        std::int64_t count = retries.load();
        while (count > 0)
            if (retries.compare_exchange_weak(count, count - 1)) {
                sum_.fetch_add(withdrawal_);
                return;
            }
    }
}

admission window_budget::admit(std::uint64_t number, time_point now) noexcept {
    if (number == 1) {
        advance(now);
        sum_.fetch_add(deposit_);
        present().deposits.fetch_add(deposit_);
    }
    return now;
}

} // namespace asio_retry
