#include <asio_retry/traffic/rate_limit.hpp>

#include "policy/lateness.hpp"
#include "traffic/option_rules.hpp"

#include <asio_retry/error.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

// The slots of a limit lie T apart, on a scale of their own: the real time of a slot is its time plus `shift_`.
//
//       last_slot()    next slot                   TAT (`arrival_`)
//   ----|--------------|---------------------------|----> scale of the slots
//       |<---- T ----->|<------ tolerance -------->|
//
// TAT is the theoretical arrival time of the algorithm, and T the interval. On this scale are `arrival_`,
// `last_begun_`, the runs of `free_` and the slots of `begun_`. Real times are `late_arrival_`, `late_at_`, the
// times of the callers and those that attempts are promised.
//
// `admit` promises an attempt the time of a slot. When the attempt asks again, `admit_again` finds its slot
// from that time and the ticket (`slot_of`). It answers in one of four ways:
//
//   too early              the same promise
//   in time                the attempt begins
//   too late, must wait    it keeps a slot after `last_begun_`: `shift_` grows, and later promises move as far
//   too late, otherwise    it gives its slot up, and begins now or waits without a slot
//
// `late_arrival_` is the TAT of the attempts without a slot. If an attempt does not begin, `on_end` gives its
// slot back: the last slot lowers `arrival_`, and any other goes to `free_`. The next `admit` takes it from
// there.

namespace asio_retry {
namespace {

constexpr std::size_t most_beginnings = 16; // the last attempts that began, which can be taken back

// The tickets of attempts that do not begin at once. From `in_slot` on a ticket holds two numbers from the time
// of the promise: in_slot + (shift_ << bits_of_rate | low bits of changes_made_).
constexpr std::uint64_t began_late = 1;   // the attempt was too late: it begins now, without a slot
constexpr std::uint64_t late_promise = 2; // the attempt waits for a time without a slot
constexpr std::uint64_t in_slot = 3;      // the attempt waits for its slot
constexpr int bits_of_rate = 8;
constexpr std::uint64_t rate_mask = (1u << bits_of_rate) - 1;
constexpr duration longest_shift(duration::max().count() >> bits_of_rate);

constexpr int most_forgotten = 64; // runs of free slots that one call forgets or moves, at most

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

/// How many intervals the length takes, rounded up.
duration::rep rounded_up(duration length, duration interval) noexcept {
    return length / interval + (length % interval != duration::zero());
}

/// How many intervals the slot is after the time. Saturates.
duration::rep count_of(time_point slot, time_point after, duration interval) noexcept {
    duration const length = slot < after ? -elapsed_between(slot, after) : elapsed_between(after, slot);
    return length / interval;
}

/// The slot that is `count` slots later. Saturates.
time_point slots_after(time_point slot, duration::rep count, duration interval) noexcept {
    return count > duration::max() / interval ? time_point::max() : saturating_add(slot, count * interval);
}

} // namespace

struct rate_limit::free_slots {
    std::map<time_point, time_point> runs; // the first and the last slot of each
    std::map<time_point, time_point> old;  // from before the last change; the next change destroys them
};

rate_limit::rate_limit(std::uint32_t n, saturating_duration per, std::uint32_t burst)
    : numbers_{n, per, burst}
    , interval_(interval_of(n, per))
    , tolerance_(tolerance_of(burst, interval_))
    , free_(std::make_unique<free_slots>()) {
    begun_.reserve(most_beginnings);
}

rate_limit::~rate_limit() = default;

admission rate_limit::admit(std::uint64_t, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    if (next_rate_)
        take_rate(now);
    arrival_ = std::max(arrival_, saturating_add(late_arrival_, -shift_)); // attempts without a slot count, too
    time_point const asked = saturating_add(now, -shift_);                 // on the scale of the slots
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
    if (next_rate_)
        take_rate(now);
    wake_next();
    // A promise with a ticket below `in_slot` is one without a slot, except a reserved time without a ticket.
    bool const is_promised_slot = before.ticket >= in_slot || (before.ticket == 0 && before.reserved);
    std::optional<time_point> const slot =
        is_promised_slot ? slot_of(before.until, before.ticket) : std::nullopt;
    // Without a slot, a time that no time_point can hold is taken as overdue.
    bool const is_overdue = !slot && before.until == (time_point::max)();
    time_point const promised = slot         ? saturating_add(*slot, shift_)
                                : is_overdue ? (time_point::min)()
                                             : before.until;
    // The ticket of a slot that is no longer known becomes `late_promise`.
    std::uint64_t const ticket = slot ? ticket_of_slot() : std::min(before.ticket, late_promise);
    if (promised > now)
        return answer(promised, ticket, now);
    // Whether no attempt that was late has got the time of the slot.
    bool const is_free = !slot || promised >= saturating_add(late_arrival_, -tolerance_);
    if (is_free && elapsed_between(promised, now) < std::max(interval_, detail::always_late)) {
        if (slot)
            last_begun_ = std::max(last_begun_, *slot);
        return answer(promised, ticket, now);
    }
    time_point const next = next_late();
    bool const must_wait = next > now;
    if (must_wait && slot && *slot > last_begun_) {
        shift_ += elapsed_between(promised, next);
        return answer(next, ticket_of_slot(), now); // the shift is in the ticket
    }
    late_arrival_ = saturating_add(std::max(saturating_add(next, tolerance_), now), interval_);
    late_at_ = must_wait ? (time_point::min)() : now;
    return must_wait ? answer(next, late_promise, now) : answer(now, began_late, now);
}

bool rate_limit::is_idle(time_point now) const noexcept {
    std::lock_guard const lock(mutex_);
    return waiting_count_ == 0 && std::max(saturating_add(arrival_, shift_), late_arrival_) <= now;
}

// --- slots and tickets

/// When the next attempt that is too late for its promise may begin.
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

/// The slot before the next one.
time_point rate_limit::last_slot() const noexcept {
    return saturating_add(saturating_add(arrival_, -interval_), -tolerance_);
}

/// A shift that does not fit into a ticket makes the promise one without a slot.
std::uint64_t rate_limit::ticket_of_slot() const noexcept {
    if (shift_ > longest_shift)
        return late_promise;
    return in_slot + (static_cast<std::uint64_t>(shift_.count()) << bits_of_rate | (changes_made_ & rate_mask));
}

/// The slot of an attempt that was promised the time `promised`. A ticket below `in_slot` stands for the
/// present shift. Empty if the slot cannot be known: the time is saturated, or the rate has changed more than
/// 16 times since.
std::optional<time_point> rate_limit::slot_of(time_point promised, std::uint64_t ticket) const noexcept {
    if (ticket < in_slot && promised == (time_point::max)()) // saturated, perhaps at an earlier rate
        return std::nullopt;
    if (ticket < in_slot)
        return saturating_add(promised, -shift_);
    std::uint64_t const code = ticket - in_slot;
    std::uint64_t const missed = (changes_made_ - code) & rate_mask;
    if (missed > kept_changes)
        return std::nullopt;
    time_point slot = saturating_add(promised, -duration(static_cast<duration::rep>(code >> bits_of_rate)));
    for (std::uint64_t i = changes_made_ - missed; i != changes_made_; ++i) {
        change const& to = changes_[i % kept_changes];
        slot = saturating_add(slot, to.shift);
        if (slot == (time_point::max)()) // saturated: other attempts may have the same
            return std::nullopt;
        slot = slots_after(to.new_base, count_of(slot, to.base, to.interval), to.new_interval);
    }
    return slot;
}

// --- the end of an attempt that does not begin after all

void rate_limit::on_end(attempt_end const& end) noexcept {
    if (!end.is_unbegun)
        return;
    std::lock_guard const lock(mutex_);
    if (end.ticket == began_late || end.ticket == late_promise)
        return give_back_late(end);
    std::optional<time_point> const slot = slot_of(end.now, end.ticket);
    if (!slot)
        return;
    if (end.ticket >= in_slot)
        return give_time_back(*slot);
    if (auto const begun = take_beginning(end.now)) // it began without a wait
        return give_time_back(*begun);
    // Only the time tells whether it was reserved: later than all that has begun, and that of a slot.
    bool const is_later = end.now > changed_at_ && (begun_.empty() || end.now > begun_.back().at);
    if (is_later && elapsed_between(*slot, last_slot()) % interval_ == duration::zero())
        give_time_back(*slot);
}

/// An attempt without a slot gives its time back only if no other one has got a later time.
void rate_limit::give_back_late(attempt_end const& end) noexcept {
    bool const is_last = end.ticket == began_late
                             ? end.now == late_at_
                             : saturating_add(end.now, tolerance_) == saturating_add(late_arrival_, -interval_);
    if (is_last)
        late_arrival_ = saturating_add(late_arrival_, -interval_);
}

void rate_limit::note_beginning(time_point now, time_point slot) noexcept {
    if (!begun_.empty() && now < begun_.back().at)
        return; // another thread has noted a later time: this beginning cannot be taken back
    if (!begun_.empty() && begun_.back().at == now && saturating_add(begun_.back().last, interval_) == slot) {
        begun_.back().last = slot;
        return;
    }
    if (begun_.size() == most_beginnings)
        begun_.erase(begun_.begin());
    begun_.push_back({now, slot, slot}); // the memory is reserved
}

/// Takes back the slot of an attempt that began without a wait, at `at`. Attempts that began at one time are
/// alike, so any of their slots will do.
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

void rate_limit::give_time_back(time_point slot) noexcept {
    if (slot == last_begun_)
        last_begun_ = saturating_add(last_begun_, -interval_);
    if (slot == last_slot())
        free_last();
    else if (slot < last_slot())
        add_free(slot);
}

/// Gives back the last slot and the run of free slots directly before it.
void rate_limit::free_last() noexcept {
    arrival_ = saturating_add(arrival_, -interval_);
    if (free_->runs.empty() || free_->runs.rbegin()->second != last_slot())
        return;
    auto const run = std::prev(free_->runs.end());
    arrival_ = saturating_add(arrival_, -elapsed_between(run->first, run->second) - interval_);
    free_->runs.erase(run);
}

// --- free slots

/// The first free slot for an attempt at `now`. An attempt may use a slot up to the tolerance after it. Runs of
/// older slots are dropped, except the last one: `free_last` may join it.
std::optional<time_point> rate_limit::take_free(time_point now) noexcept {
    time_point const earliest =
        saturating_add(std::max(now, saturating_add(late_arrival_, -shift_)), -tolerance_);
    auto useful = free_->runs.lower_bound(earliest);
    if (useful != free_->runs.begin() && std::prev(useful)->second >= earliest)
        --useful;
    for (int i = 0;
         i != most_forgotten && free_->runs.begin() != useful && std::next(free_->runs.begin()) != useful; ++i)
        free_->runs.erase(free_->runs.begin());
    if (useful == free_->runs.end())
        return std::nullopt;
    auto taken = free_->runs.extract(useful);
    time_point const first = taken.key(), last = taken.mapped();
    time_point const slot = first + rounded_up(elapsed_between(first, earliest), interval_) * interval_;
    if (slot != last) {
        taken.key() = slot + interval_;
        free_->runs.insert(std::move(taken));
    }
    if (slot != first)
        add_run(first, slot - interval_);
    return slot;
}

/// Adds a slot to the free ones. Precondition: slot < last_slot(). Without memory the slot is lost.
void rate_limit::add_free(time_point slot) noexcept {
    auto const after = free_->runs.upper_bound(slot);
    auto const before = after == free_->runs.begin() ? free_->runs.end() : std::prev(after);
    bool const joins_before = before != free_->runs.end() && saturating_add(before->second, interval_) >= slot;
    bool const joins_after = after != free_->runs.end() && saturating_add(slot, interval_) == after->first;
    if (joins_before) {
        before->second = joins_after ? after->second : std::max(before->second, slot);
        if (joins_after)
            free_->runs.erase(after);
    } else if (joins_after) {
        auto run = free_->runs.extract(after);
        run.key() = slot;
        free_->runs.insert(std::move(run));
    } else {
        add_run(slot, slot);
    }
}

void rate_limit::add_run(time_point first, time_point last) noexcept {
    try {
        free_->runs.emplace(first, last);
    } catch (...) {
    }
}

// --- operations that wait

bool rate_limit::watch(gate_waiter& waiter, admission const& given) noexcept {
    std::lock_guard const lock(mutex_);
    bool const is_of_old_rate =
        given.ticket >= in_slot && ((given.ticket - in_slot - changes_made_) & rate_mask) != 0;
    if (next_rate_ || is_of_old_rate) { // the rate has changed since `given`: ask again at once
        waiter.grant();
        return true;
    }
    waiting_.push_back(waiter);
    ++waiting_count_;
    return true;
}

void rate_limit::unwatch(gate_waiter& waiter, admission const&) noexcept {
    std::lock_guard const lock(mutex_);
    if (waiter.is_linked()) {
        waiting_.erase(waiter);
        --waiting_count_;
        to_wake_ = std::min(to_wake_, waiting_count_);
    } else {
        wake_next(); // the waiter may end without asking again
    }
}

/// Wakes a waiter, which asks again and wakes the next one.
void rate_limit::wake_next() noexcept {
    if (to_wake_ == 0)
        return;
    --to_wake_;
    --waiting_count_;
    gate_waiter& first = waiting_.front();
    waiting_.pop_front();
    first.grant();
}

// --- another rate

void rate_limit::update(std::uint32_t n, saturating_duration per, std::uint32_t burst) {
    duration const interval = interval_of(n, per);
    rate const next{interval, tolerance_of(burst, interval)};
    std::map<time_point, time_point> old; // destroyed without the lock
    std::lock_guard const lock(mutex_);
    old.swap(free_->old);
    numbers_ = {n, per, burst};
    next_rate_ = next;
    to_wake_ = waiting_count_;
    wake_next();
}

rate_limit_numbers rate_limit::numbers() const noexcept {
    std::lock_guard const lock(mutex_);
    return numbers_;
}

/// Goes over to `next_rate_`: maps every slot to the new rate, and sets the shift to zero.
void rate_limit::take_rate(time_point now) noexcept {
    rate const next = *std::exchange(next_rate_, std::nullopt);
    time_point const arrival = std::max(saturating_add(arrival_, shift_), late_arrival_); // as a real time
    time_point const last = saturating_add(saturating_add(arrival, -interval_), -tolerance_);
    duration::rep const to_come = rounded_up(elapsed_between(now, last), interval_); // slots after `now`
    change to;
    to.shift = shift_;
    to.base = saturating_add(last, -to_come * interval_); // the latest slot that has passed
    to.new_base = std::max(to.base, saturating_add(now, -next.interval));
    to.interval = interval_;
    to.new_interval = next.interval;
    move_free(to);
    if (to_come > 0)
        arrival_ = saturating_add(
            saturating_add(slots_after(to.new_base, to_come, next.interval), next.interval), next.tolerance);
    else
        arrival_ = arrival_at(next, arrival, now);
    changes_[changes_made_++ % kept_changes] = to;
    interval_ = next.interval;
    tolerance_ = next.tolerance;
    shift_ = duration::zero();
    last_begun_ = to.new_base;
    late_arrival_ = late_at_ = time_point::min();
    begun_.clear();
    changed_at_ = now;
}

/// The TAT of the new rate that leaves the unused part of the burst as it is. Precondition: nobody waits.
time_point rate_limit::arrival_at(rate const& next, time_point arrival, time_point now) const noexcept {
    duration const owed = elapsed_between(now, arrival);
    if (owed == duration::zero())
        return now;
    auto const count = [](duration d) { return static_cast<double>(d.count()); };
    double const unused = (count(tolerance_) + count(interval_) - count(owed)) / count(interval_);
    double const most = count(next.tolerance) + count(next.interval);
    double const owed_next = most - std::min(unused * count(next.interval), most);
    return saturating_add(now, owed_next < 0x1p63 ? duration(std::llround(owed_next)) : duration::max());
}

/// Moves the first 64 runs of free slots that have not passed to the new rate.
void rate_limit::move_free(change const& to) noexcept {
    std::map<time_point, time_point> moved;
    auto const at = [&](time_point slot) {
        return slots_after(to.new_base, count_of(saturating_add(slot, to.shift), to.base, to.interval),
                           to.new_interval);
    };
    time_point const first = saturating_add(to.base, -to.shift);
    auto run = free_->runs.upper_bound(first);
    try {
        for (int i = 0; i != most_forgotten && run != free_->runs.end(); ++i, ++run)
            moved.emplace_hint(moved.end(), at(run->first), at(run->second));
    } catch (...) { // without memory the other free slots are lost
    }
    free_->old.swap(free_->runs);
    free_->runs.swap(moved);
}

} // namespace asio_retry
