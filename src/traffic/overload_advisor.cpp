#include <asio_retry/traffic/overload_advisor.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>
#include <cmath>

namespace asio_retry {
namespace {

constexpr std::uint64_t whole_retry = 1'000'000'000;

overload_advisor_options const& checked(overload_advisor_options const& o) {
    detail::share("overload_advisor.retry_share", o.retry_share);
    detail::demand(o.min_requests > 0, "overload_advisor.min_requests", o.min_requests, "must be positive");
    detail::positive("overload_advisor.window", o.window);
    return o;
}

} // namespace

overload_advisor::overload_advisor(overload_advisor_options const& options)
    : options_(checked(options))
    , window_(options.window) {}

void overload_advisor::on_request(std::uint64_t attempt_number, time_point now) noexcept {
    count(attempt_number > 1 ? whole_retry : 0, now);
}

void overload_advisor::on_request(attempt_histogram const& sender, time_point now) noexcept {
    count(static_cast<std::uint64_t>(std::llround(sender.retry_share() * whole_retry)), now);
}

double overload_advisor::retry_share(time_point now) const noexcept {
    return counted(now).share();
}

overload_advice overload_advisor::advise(time_point now) const noexcept {
    counts const all = counted(now);
    double const exactly = options_.retry_share * whole_retry; // exact except for the last bits
    auto const least = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(exactly + exactly * 1e-15));
    return all.requests >= options_.min_requests && all.billionths >= least * all.requests
               ? overload_advice::do_not_retry
               : overload_advice::retry_elsewhere;
}

double overload_advisor::counts::share() const noexcept {
    return requests == 0 ? 0 : static_cast<double>(billionths) / whole_retry / static_cast<double>(requests);
}

void overload_advisor::count(std::uint64_t billionths, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    window_.advance(now);
    window_.add({.requests = 1, .billionths = billionths});
}

overload_advisor::counts overload_advisor::counted(time_point now) const noexcept {
    std::lock_guard const lock(mutex_);
    window_.advance(now);
    return window_.total();
}

} // namespace asio_retry
