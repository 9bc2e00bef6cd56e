#include <asio_retry/traffic/cooldown.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>

namespace asio_retry {

cooldown::cooldown(cooldown_options const& options)
    : greatest_(detail::positive("cooldown.greatest", options.greatest))
    , until_(time_point::min().time_since_epoch().count()) {}

time_point cooldown::until() const noexcept {
    return time_point(duration(until_.load()));
}

admission cooldown::admit(std::uint64_t, time_point now) noexcept {
    time_point const end = until();
    return end > now ? admission(end, error::cooling_down) : admission(now);
}

void cooldown::on_end(attempt_end const& end) noexcept {
    duration const asked = std::min(end.said.delay(), greatest_);
    if (end.outcome != attempt_end::how::failed || asked == duration::zero())
        return;
    duration::rep const over = saturating_add(end.now, asked).time_since_epoch().count();
    duration::rep latest = until_.load();
    while (latest < over && !until_.compare_exchange_weak(latest, over)) {
    }
}

} // namespace asio_retry
