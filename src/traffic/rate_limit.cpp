#include <asio_retry/traffic/rate_limit.hpp>

#include "traffic/option_rules.hpp"

#include <asio_retry/error.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace asio_retry {
namespace {

constexpr std::size_t most_beginnings = 16; // that can be taken back
constexpr int most_forgotten = 64;          // runs of slots that have passed, in one call

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
    begun_.reserve(most_beginnings);
}

admission rate_limit::admit(std::uint64_t, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    std::optional<time_point> const free = take_free(now);
    time_point const begins = std::max(now, free ? *free : saturating_add(arrival_, -tolerance_));
    if (!free)
        arrival_ = saturating_add(std::max(begins, arrival_), interval_);
    if (begins == now)
        note_beginning(now, free ? *free : last_slot());
    admission answer{begins, error::rate_limited};
    answer.reserved = begins > now;
    return answer;
}

/// The slot of the last attempt, if it did not follow an idle time.
time_point rate_limit::last_slot() const noexcept {
    return saturating_add(saturating_add(arrival_, -interval_), -tolerance_);
}

void rate_limit::note_beginning(time_point now, time_point slot) noexcept {
    if (!begun_.empty() && now < begun_.back().at)
        return; // of another thread; it cannot be taken back
    if (!begun_.empty() && begun_.back().at == now && saturating_add(begun_.back().last, interval_) == slot) {
        begun_.back().last = slot;
        return;
    }
    if (begun_.size() == most_beginnings)
        begun_.erase(begun_.begin());
    begun_.push_back({now, slot, slot}); // the memory is reserved
}

/// The slot of an attempt that began at once at that time. Such attempts are alike, and each may have any slot.
std::optional<time_point> rate_limit::take_beginning(time_point at) noexcept {
    auto const after = std::ranges::upper_bound(begun_, at, {}, &beginning::at);
    if (after == begun_.begin() || std::prev(after)->at != at)
        return std::nullopt;
    auto const its = std::prev(after);
    time_point const slot = its->last;
    if (its->first == slot)
        begun_.erase(its);
    else
        its->last -= interval_;
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
    if (auto const slot = take_beginning(end.now))
        give_back(*slot);
    else if (begun_.empty() || end.now > begun_.back().at) // it was reserved
        if (elapsed_between(end.now, last_slot()) % interval_ == duration::zero())
            give_back(end.now);
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
