#include <asio_retry/traffic/share_budget.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>
#include <cassert>

namespace asio_retry {
namespace {

constexpr std::uint64_t one_first_attempt = 1;
constexpr std::uint64_t retry_of_many = std::uint64_t(1) << 32;

std::uint64_t retries_in(std::uint64_t counts) noexcept {
    return counts >> 32;
}

std::uint64_t all_in(std::uint64_t counts) noexcept {
    return retries_in(counts) + (counts & (retry_of_many - 1));
}

} // namespace

share_budget::share_budget(share_budget_options const& options)
    : options_{detail::share("share_budget.share", options.share), options.min_retries} {}

std::uint64_t share_budget::retries() const noexcept {
    return retries_in(counts_.load());
}

std::uint64_t share_budget::in_flight() const noexcept {
    return all_in(counts_.load());
}

bool share_budget::acquire(failure_kind, time_point) noexcept {
    std::uint64_t counts = counts_.load();
    for (;;) {
        double const exactly =
            options_.share * static_cast<double>(all_in(counts)); // exact except for the last bits
        auto const allowed = static_cast<std::uint64_t>(exactly + exactly * 1e-15);
        if (retries_in(counts) >= std::max<std::uint64_t>(options_.min_retries, allowed))
            return false;
        if (counts_.compare_exchange_weak(counts, counts + retry_of_many))
            return true;
    }
}

void share_budget::give_back(failure_kind) noexcept {
    assert(retries() > 0);
    counts_.fetch_sub(retry_of_many);
}

admission share_budget::admit(std::uint64_t number, time_point now) noexcept {
    if (number == 1)
        counts_.fetch_add(one_first_attempt);
    return now;
}

void share_budget::on_end(attempt_end const& end) noexcept {
    assert(in_flight() > 0);
    if (end.number == 1)
        counts_.fetch_sub(one_first_attempt);
    else if (end.after != failure_kind::none) // `none`: it has not begun, and is given back or asked for again
        counts_.fetch_sub(retry_of_many);
}

} // namespace asio_retry
