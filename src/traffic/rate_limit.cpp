#include <asio_retry/traffic/rate_limit.hpp>

#include "traffic/option_rules.hpp"

#include <asio_retry/error.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace asio_retry {
namespace {

constexpr int most_forgotten = 64; // runs of slots that have passed, in one call

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
    slots_at_once_.reserve(1); // more are needed if attempts begin at once in slots that were given back
}

admission rate_limit::admit(std::uint64_t, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    std::optional<time_point> const free = take_free(now);
    time_point const begins = std::max(now, free ? *free : saturating_add(arrival_, -tolerance_));
    if (!free)
        arrival_ = saturating_add(std::max(begins, arrival_), interval_);
    if (begins == now && now >= at_once_) {
        if (now > at_once_)
            slots_at_once_.clear();
        at_once_ = now;
        note_at_once(free ? *free : last_slot());
    }
    admission answer{begins, error::rate_limited};
    answer.reserved = begins > now;
    return answer;
}

/// The slot of the last attempt, if it did not follow an idle time.
time_point rate_limit::last_slot() const noexcept {
    return saturating_add(saturating_add(arrival_, -interval_), -tolerance_);
}

/// Attempts that begin at once at one time are alike: each may give back any of their slots. Without memory the
/// slot cannot be given back.
void rate_limit::note_at_once(time_point slot) noexcept {
    if (!slots_at_once_.empty() && saturating_add(slots_at_once_.back().second, interval_) == slot) {
        slots_at_once_.back().second = slot;
        return;
    }
    try {
        slots_at_once_.emplace_back(slot, slot);
    } catch (...) {
    }
}

/// The last of them that was not given back.
std::optional<time_point> rate_limit::take_at_once() noexcept {
    if (slots_at_once_.empty())
        return std::nullopt;
    auto& [first, last] = slots_at_once_.back();
    time_point const slot = last;
    if (first == last)
        slots_at_once_.pop_back();
    else
        last -= interval_;
    return slot;
}

/// An attempt may begin in a slot, or up to the tolerance later: the slots that follow conform as before. A
/// slot that has passed is of no use, unless all that follow are given back: the last run of them is kept.
std::optional<time_point> rate_limit::take_free(time_point now) noexcept {
    time_point const earliest = saturating_add(now, -tolerance_);
    auto useful = free_.lower_bound(earliest);
    if (useful != free_.begin() && std::prev(useful)->second >= earliest)
        --useful;
    for (int i = 0; i != most_forgotten && free_.begin() != useful && std::next(free_.begin()) != useful; ++i)
        free_.erase(free_.begin());
    if (useful == free_.end())
        return std::nullopt;
    auto taken = free_.extract(useful);
    time_point const first = taken.key(), last = taken.mapped();
    duration const passed = elapsed_between(first, earliest);
    time_point const slot = first + (passed / interval_ + (passed % interval_ != duration::zero())) * interval_;
    if (slot != last) {
        taken.key() = slot + interval_;
        free_.insert(std::move(taken));
    }
    if (slot != first)
        add_run(first, slot - interval_);
    return slot;
}

/// A slot before the last one. Without memory it is lost.
void rate_limit::add_free(time_point slot) noexcept {
    auto const after = free_.upper_bound(slot);
    auto const before = after == free_.begin() ? free_.end() : std::prev(after);
    bool const joins_before = before != free_.end() && saturating_add(before->second, interval_) >= slot;
    bool const joins_after = after != free_.end() && saturating_add(slot, interval_) == after->first;
    if (joins_before) {
        before->second = joins_after ? after->second : std::max(before->second, slot);
        if (joins_after)
            free_.erase(after);
    } else if (joins_after) {
        auto run = free_.extract(after);
        run.key() = slot;
        free_.insert(std::move(run));
    } else {
        add_run(slot, slot);
    }
}

void rate_limit::add_run(time_point first, time_point last) noexcept {
    try {
        free_.emplace(first, last);
    } catch (...) {
    }
}

void rate_limit::on_end(attempt_end const& end) noexcept {
    if (!end.is_unbegun)
        return;
    std::lock_guard const lock(mutex_);
    if (end.now > at_once_) { // it was reserved
        if (elapsed_between(end.now, last_slot()) % interval_ == duration::zero())
            give_back(end.now);
    } else if (end.now == at_once_) {
        if (auto const slot = take_at_once())
            give_back(*slot);
    }
}

void rate_limit::give_back(time_point slot) noexcept {
    if (slot == last_slot())
        free_last();
    else if (slot < last_slot())
        add_free(slot);
}

/// Nobody has the last slot, nor any free one before it: they are as if they had not been asked for.
void rate_limit::free_last() noexcept {
    arrival_ = saturating_add(arrival_, -interval_);
    if (free_.empty() || free_.rbegin()->second != last_slot())
        return;
    auto const run = std::prev(free_.end());
    arrival_ = saturating_add(arrival_, -elapsed_between(run->first, run->second) - interval_);
    free_.erase(run);
}

} // namespace asio_retry
