#include <asio_retry/traffic/cooldown.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>

namespace asio_retry {
namespace {

constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15; // its multiples modulo 2^64 are spread evenly

} // namespace

cooldown::cooldown(cooldown_options const& options)
    : greatest_(detail::positive("cooldown.greatest", options.greatest))
    , spread_(options.spread)
    , until_(time_point::min().time_since_epoch().count()) {
    detail::demand(0 <= spread_ && spread_ <= 1, "cooldown.spread", spread_, "must be in [0, 1]");
}

time_point cooldown::until() const noexcept {
    return time_point(duration(until_.load()));
}

admission cooldown::admit(std::uint64_t, time_point now) noexcept {
    time_point const end = until();
    if (end <= now)
        return now;
    double const place =
        static_cast<double>(next_place_.fetch_add(golden_ratio, std::memory_order_relaxed) >> 11) * 0x1p-53;
    double const later = place * spread_ * static_cast<double>(length_.load(std::memory_order_relaxed));
    return {saturating_add(end, duration(static_cast<duration::rep>(later))), error::cooling_down};
}

void cooldown::on_end(attempt_end const& end) noexcept {
    duration const asked = std::min(end.said.delay(), greatest_);
    if (end.outcome != attempt_end::how::failed || asked == duration::zero())
        return;
    duration::rep const over = saturating_add(end.now, asked).time_since_epoch().count();
    duration::rep latest = until_.load();
    while (latest < over)
        if (until_.compare_exchange_weak(latest, over))
            return length_.store(asked.count(), std::memory_order_relaxed);
}

} // namespace asio_retry
