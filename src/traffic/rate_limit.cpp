#include <asio_retry/traffic/rate_limit.hpp>

#include "traffic/option_rules.hpp"

#include <asio_retry/error.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace asio_retry {
namespace {

constexpr std::size_t most_beginnings = 16; // that can be taken back

// The tickets of attempts that do not begin at once.
constexpr std::uint64_t began_late = 1;   // out of its slot
constexpr std::uint64_t late_promise = 2; // for a time out of its slot
constexpr std::uint64_t in_slot = 3;      // and the shift when its time was promised

constexpr duration always_late =
    std::chrono::milliseconds(10); // timers and handlers are; by less costs nothing
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
    begun_.reserve(most_beginnings);
}

admission rate_limit::admit(std::uint64_t, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    arrival_ = std::max(arrival_, saturating_add(late_arrival_, -shift_));
    time_point const asked = saturating_add(now, -shift_);
    std::optional<time_point> const free = take_free(asked);
    time_point const begins = std::max(asked, free ? *free : saturating_add(arrival_, -tolerance_));
    if (!free)
        arrival_ = saturating_add(std::max(begins, arrival_), interval_);
    if (begins != asked)
        return answer(saturating_add(begins, shift_), ticket_of_slot(), now);
    time_point const slot = free ? *free : last_slot();
    last_begun_ = std::max(last_begun_, slot);
    note_beginning(now, slot);
    return now;
}

admission rate_limit::admit_again(admission const& before, std::uint64_t, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    bool const has_slot = before.ticket >= in_slot || (before.ticket == 0 && before.reserved);
    time_point const slot = slot_of(before.until, before.ticket);
    time_point const promised = has_slot ? saturating_add(slot, shift_) : before.until;
    if (promised > now)
        return answer(promised, has_slot ? ticket_of_slot() : before.ticket, now);
    bool const is_free = !has_slot || promised >= saturating_add(late_arrival_, -tolerance_);
    if (is_free && elapsed_between(promised, now) < std::max(interval_, always_late)) {
        if (has_slot)
            last_begun_ = std::max(last_begun_, slot);
        return answer(promised, has_slot ? ticket_of_slot() : before.ticket, now);
    }
    time_point const next = next_late();
    if (next > now && has_slot && slot > last_begun_) { // all that follow have to wait as long
        shift_ += elapsed_between(promised, next);
        return answer(next, ticket_of_slot(), now);
    }
    late_arrival_ = saturating_add(std::max(saturating_add(next, tolerance_), now), interval_);
    late_at_ = next > now ? (time_point::min)() : now;
    return next > now ? answer(next, late_promise, now) : answer(now, began_late, now);
}

/// When the next attempt may begin that begins late.
time_point rate_limit::next_late() const noexcept {
    time_point const after_last = saturating_add(saturating_add(last_begun_, shift_), interval_);
    return std::max(after_last, saturating_add(late_arrival_, -tolerance_));
}

admission rate_limit::answer(time_point when, std::uint64_t ticket, time_point now) noexcept {
    admission result(when, error::rate_limited);
    result.reserved = when > now;
    result.ticket = ticket;
    return result;
}

std::uint64_t rate_limit::ticket_of_slot() const noexcept {
    return in_slot + static_cast<std::uint64_t>(shift_.count());
}

/// Of an attempt that was promised that time. Without a ticket it is promised by the present shift.
time_point rate_limit::slot_of(time_point promised, std::uint64_t ticket) const noexcept {
    duration const shift = ticket < in_slot ? shift_ : duration(static_cast<duration::rep>(ticket - in_slot));
    return saturating_add(promised, -shift);
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
    time_point const earliest =
        saturating_add(std::max(now, saturating_add(late_arrival_, -shift_)), -tolerance_);
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
    if (end.ticket == began_late || end.ticket == late_promise)
        return give_back_late(end);
    time_point const slot = slot_of(end.now, end.ticket);
    if (end.ticket >= in_slot)
        give_time_back(slot);
    else if (auto const begun = take_beginning(end.now))
        give_time_back(*begun);
    else if (begun_.empty() || end.now > begun_.back().at) // it was reserved
        if (elapsed_between(slot, last_slot()) % interval_ == duration::zero())
            give_time_back(slot);
}

void rate_limit::give_time_back(time_point slot) noexcept {
    if (slot == last_begun_)
        last_begun_ = saturating_add(last_begun_, -interval_);
    if (slot == last_slot())
        free_last();
    else if (slot < last_slot())
        add_free(slot);
}

/// Only the last of them can leave its time to the next one.
void rate_limit::give_back_late(attempt_end const& end) noexcept {
    bool const is_last = end.ticket == began_late
                             ? end.now == late_at_
                             : saturating_add(end.now, tolerance_) == saturating_add(late_arrival_, -interval_);
    if (is_last)
        late_arrival_ = saturating_add(late_arrival_, -interval_);
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
