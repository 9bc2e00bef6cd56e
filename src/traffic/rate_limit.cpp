#include <asio_retry/traffic/rate_limit.hpp>

#include "traffic/option_rules.hpp"

#include <asio_retry/error.hpp>

#include <algorithm>
#include <functional>

namespace asio_retry {
namespace {

duration interval_of(std::uint32_t n, duration per) {
    detail::demand(n > 0, "rate_limit.n", n, "must be positive");
    detail::positive("rate_limit.per", per);
    duration::rep const whole = per.count() / n;
    detail::demand(whole > 0, "rate_limit.n", n, "must leave an attempt a nanosecond at least");
    return duration(whole + (per.count() % n != 0));
}

duration tolerance_of(std::uint32_t burst, duration interval) {
    detail::demand(burst > 0, "rate_limit.burst", burst, "must be positive");
    duration::rep const most = duration::max().count() / interval.count();
    return burst - 1 > most ? duration::max() : (burst - 1) * interval;
}

} // namespace

rate_limit::rate_limit(std::uint32_t n, saturating_duration per, std::uint32_t burst)
    : interval_(interval_of(n, per))
    , tolerance_(tolerance_of(burst, interval_)) {
    free_.reserve(most_free);
}

admission rate_limit::admit(std::uint64_t, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    time_point begins = now;
    if (auto const free = take_free(now)) {
        begins = *free;
    } else {
        begins = std::max(now, saturating_add(arrival_, -tolerance_));
        arrival_ = saturating_add(std::max(begins, arrival_), interval_);
    }
    admission answer{begins, error::rate_limited};
    answer.reserved = begins > now;
    return answer;
}

/// A time that has passed is lost: what follows it was planned for later times.
std::optional<time_point> rate_limit::take_free(time_point now) noexcept {
    while (!free_.empty()) {
        std::ranges::pop_heap(free_, std::greater<>());
        time_point const earliest = free_.back();
        free_.pop_back();
        if (earliest >= now)
            return earliest;
    }
    return std::nullopt;
}

void rate_limit::on_end(attempt_end const& end) noexcept {
    if (!end.is_unbegun)
        return;
    std::lock_guard const lock(mutex_);
    if (free_.size() == most_free)
        return;
    free_.push_back(end.now); // the memory is reserved
    std::ranges::push_heap(free_, std::greater<>());
}

} // namespace asio_retry
