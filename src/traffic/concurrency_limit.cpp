#include <asio_retry/traffic/concurrency_limit.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>

namespace asio_retry {
namespace {

template <typename Options>
void check_bounds(std::string const& name, Options const& o) {
    detail::demand(o.least >= 1, name + ".least", o.least, "must be positive");
    detail::demand(o.least <= o.greatest, name + ".greatest", o.greatest, "must not be less than least",
                   o.least);
    detail::demand(o.least <= o.initial, name + ".initial", o.initial, "must not be less than least", o.least);
    detail::demand(o.initial <= o.greatest, name + ".initial", o.initial, "must not be more than greatest",
                   o.greatest);
}

aimd_options const& checked(aimd_options const& o) {
    check_bounds("aimd", o);
    detail::demand(0 < o.backoff_ratio && o.backoff_ratio < 1, "aimd.backoff_ratio", o.backoff_ratio,
                   "must be in (0, 1)");
    detail::positive("aimd.timeout", o.timeout);
    return o;
}

gradient_options const& checked(gradient_options const& o) {
    check_bounds("gradient", o);
    detail::share("gradient.smoothing", o.smoothing);
    detail::amount("gradient.queue", o.queue);
    detail::demand(std::isfinite(o.tolerance) && o.tolerance >= 1, "gradient.tolerance", o.tolerance,
                   "must be finite and at least 1");
    detail::demand(o.long_window >= 1, "gradient.long_window", o.long_window, "must be positive");
    return o;
}

} // namespace

fixed_limit::fixed_limit(std::int64_t n)
    : limit_(detail::count("fixed_limit.n", n)) {}

aimd::aimd(aimd_options const& options)
    : options_(checked(options))
    , limit_(options.initial) {}

void aimd::update(saturating_duration rtt, std::uint32_t in_flight, bool dropped) noexcept {
    if (dropped || rtt > options_.timeout)
        limit_ = static_cast<std::uint32_t>(limit_ * options_.backoff_ratio);
    else if (std::uint64_t(in_flight) * 2 >= limit_ && limit_ < options_.greatest)
        ++limit_;
    limit_ = std::clamp(limit_, options_.least, options_.greatest);
}

gradient::gradient(gradient_options const& options)
    : options_(checked(options))
    , limit_(options.initial) {}

double gradient::usual_after(double rtt) noexcept {
    constexpr std::uint32_t first_ones = 10;
    if (warm_up_ < first_ones) {
        sum_ += rtt;
        usual_ = sum_ / ++warm_up_;
    } else {
        double const weight = 2.0 / (options_.long_window + 1.0);
        usual_ = usual_ * (1 - weight) + rtt * weight;
    }
    return usual_;
}

void gradient::update(saturating_duration took, std::uint32_t in_flight, bool) noexcept {
    auto const rtt = std::max(static_cast<double>(took.count()), 1.0);
    double const usual = usual_after(rtt);
    if (usual / rtt > 2)
        usual_ = usual * 0.95;
    if (in_flight < limit_ / 2)
        return;
    double const slope = std::clamp(options_.tolerance * usual / rtt, 0.5, 1.0);
    double const next = limit_ * slope + options_.queue;
    limit_ = std::clamp(limit_ * (1 - options_.smoothing) + next * options_.smoothing, double(options_.least),
                        double(options_.greatest));
}

namespace detail {

attempt_queue::attempt_queue(queue_options const& options)
    : options_(options) {
    positive("queue.longest_wait", options.longest_wait);
}

bool attempt_queue::make_room(request_priority priority) noexcept {
    if (size() < options_.greatest)
        return true;
    for (std::size_t rank = 0; rank != static_cast<std::size_t>(priority); ++rank)
        if (!by_priority_[rank].empty()) {
            gate_waiter& last = by_priority_[rank].back();
            remove(last);
            last.expel();
            return true;
        }
    return false;
}

void attempt_queue::add(gate_waiter& waiter) noexcept {
    by_priority_[static_cast<std::size_t>(waiter.priority)].push_back(waiter);
    ++size_; // first this, then the owner looks for a place; `on_end` first frees its place, then reads this
}

void attempt_queue::grant_first() noexcept {
    std::size_t rank = by_priority_.size() - 1;
    while (by_priority_[rank].empty())
        --rank;
    gate_waiter& first = by_priority_[rank].front();
    by_priority_[rank].pop_front();
    --size_;
    first.grant();
}

void attempt_queue::remove(gate_waiter& waiter) noexcept {
    linked_list<gate_waiter>::erase(waiter);
    --size_;
}

} // namespace detail
} // namespace asio_retry
