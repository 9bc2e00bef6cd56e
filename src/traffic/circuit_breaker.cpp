#include <asio_retry/traffic/circuit_breaker.hpp>

#include "policy/enumerator_name.hpp"
#include "policy/gate_ticket.hpp"
#include "traffic/option_rules.hpp"

#include <asio_retry/random.hpp>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <utility>

namespace asio_retry {
namespace {

circuit_breaker_options checked(circuit_breaker_options o) {
    detail::share("circuit_breaker.failure_rate", o.failure_rate);
    detail::demand(o.min_attempts > 0, "circuit_breaker.min_attempts", o.min_attempts, "must be positive");
    detail::positive("circuit_breaker.window", o.window);
    detail::demand(o.last <= 1'000'000, "circuit_breaker.last", o.last, "must be at most 1000000");
    detail::demand(0 <= o.slow_rate && o.slow_rate <= 1, "circuit_breaker.slow_rate", o.slow_rate,
                   "must be in [0, 1]");
    detail::non_negative("circuit_breaker.slow", o.slow);
    detail::positive("circuit_breaker.open_for", o.open_for);
    detail::demand(std::isfinite(o.growth) && o.growth >= 1, "circuit_breaker.growth", o.growth,
                   "must be finite and at least 1");
    detail::demand(o.open_cap >= o.open_for, "circuit_breaker.open_cap", o.open_cap,
                   "must not be less than open_for", o.open_for);
    detail::demand(0 <= o.open_spread && o.open_spread < 1, "circuit_breaker.open_spread", o.open_spread,
                   "must be in [0, 1)");
    detail::demand(1 <= o.probes && o.probes <= 1000, "circuit_breaker.probes", o.probes,
                   "must be from 1 to 1000");
    if (o.last != 0)
        o.min_attempts = std::min(o.min_attempts, o.last);
    return o;
}

std::atomic<std::uint64_t> breakers_made = 0;

/// A share in [0, 1) that depends on the arguments only, and is uniform over them.
double share_of(std::uint64_t number, time_point opened) noexcept {
    random dice(number, static_cast<std::uint64_t>(opened.time_since_epoch().count()));
    return static_cast<double>(dice() >> 11) * 0x1p-53;
}

bool is_breaker_failure(attempt_end const& end) noexcept {
    return end.outcome == attempt_end::how::failed &&
           (end.kind == failure_kind::transient || end.kind == failure_kind::timeout ||
            end.kind == failure_kind::overloaded);
}

} // namespace

std::string_view to_string(breaker_state state) noexcept {
    static constexpr std::string_view names[] = {"closed", "open", "half_open", "isolated"};
    return detail::enumerator_name<breaker_state::isolated>(names, state, "unknown breaker_state");
}

std::ostream& operator<<(std::ostream& out, breaker_state state) {
    return out << to_string(state);
}

circuit_breaker::circuit_breaker(circuit_breaker_options const& options)
    : number_(breakers_made.fetch_add(1, std::memory_order_relaxed))
    , options_(checked(options))
    , window_(options_.last, options_.window)
    , open_length_(options_.open_for) {
    if (options_.on_change)
        on_change_ = std::make_shared<listener const>(std::exchange(options_.on_change, nullptr));
    places_.reserve(options_.probes);
}

void circuit_breaker::update(circuit_breaker_options const& options) {
    circuit_breaker_options good = checked(options);
    std::shared_ptr<listener const> told;
    if (good.on_change)
        told = std::make_shared<listener const>(std::exchange(good.on_change, nullptr));
    detail::failure_window window(good.last, good.window);
    std::vector<probe> places;
    places.reserve(good.probes);

    std::lock_guard const lock(mutex_); // all that may throw is above this line
    window.take(window_);
    window_.swap(window);
    if (places.capacity() > places_.capacity()) {
        places.assign(places_.begin(), places_.end());
        places_.swap(places);
    }
    succeeded_ = std::min<std::size_t>(succeeded_, good.probes - 1);
    open_length_ = state_ == breaker_state::closed
                       ? duration(good.open_for)
                       : std::clamp(open_length_, duration(good.open_for), duration(good.open_cap));
    on_change_.swap(told); // the earlier one is destroyed without the lock: it may call the breaker
    std::swap(options_, good);
}

breaker_state circuit_breaker::state(time_point now) const noexcept {
    std::lock_guard const lock(mutex_);
    breaker_state const state = state_;
    return state == breaker_state::open && now >= open_until_ ? breaker_state::half_open : state;
}

time_point circuit_breaker::open_until(time_point now) const noexcept {
    if (state_ == breaker_state::closed)
        return now;
    std::lock_guard const lock(mutex_);
    return next_begin(now);
}

bool circuit_breaker::is_idle(time_point now) const noexcept {
    std::lock_guard const lock(mutex_);
    bool const counts_row = options_.consecutive != 0 && failures_in_row_ != 0;
    return is_closed() && !counts_row && counts_from_ <= now && window_.is_new_at(now);
}

/// The next time at which an attempt may begin. A time up to `now` means now.
time_point circuit_breaker::next_begin(time_point now) const noexcept {
    switch (state_) {
    case breaker_state::closed:
        return now;
    case breaker_state::isolated:
        return time_point::max();
    case breaker_state::open:
        return std::max(now, open_until_);
    case breaker_state::half_open:
        break;
    }
    if (now < open_until_) // another thread has made it half-open, with a later `now`
        return open_until_;
    auto const oldest =
        std::ranges::find_if(places_, [&](probe const& one) { return !has_hung(one.began, now); });
    if (static_cast<std::size_t>(places_.end() - oldest) + succeeded_ < options_.probes)
        return now;
    // `oldest` is valid: fewer than `probes` have succeeded, so at least one probe holds a place.
    return saturating_add(oldest->began, options_.open_cap);
}

bool circuit_breaker::has_hung(time_point probe_began, time_point now) const noexcept {
    return elapsed_between(probe_began, now) >= options_.open_cap;
}

double circuit_breaker::failure_share(time_point now) const noexcept {
    std::lock_guard const lock(mutex_);
    auto const [attempts, failures, slow] = window_.total_at(now);
    return attempts == 0 ? 0 : static_cast<double>(failures) / static_cast<double>(attempts);
}

void circuit_breaker::isolate(time_point now) noexcept {
    std::unique_lock lock(mutex_);
    change const made{state_.exchange(breaker_state::isolated), breaker_state::isolated};
    lock.unlock();
    if (made)
        tell(made, now);
}

void circuit_breaker::reset(time_point now) noexcept {
    std::unique_lock lock(mutex_);
    change const made{state_, breaker_state::closed};
    close();
    lock.unlock();
    if (made)
        tell(made, now);
}

admission circuit_breaker::admit(std::uint64_t, time_point now) noexcept {
    if (state_ == breaker_state::closed)
        return now;
    change made;
    admission const answer = admit_untold(now, made);
    if (made)
        tell(made, now);
    return answer;
}

/// `admit` without the call of `on_change`. If `made` is true afterwards, the caller must call `tell(made,
/// now)`. A refusal leaves `made` as it is.
admission circuit_breaker::admit_untold(time_point now, change& made) noexcept {
    if (state_ == breaker_state::closed)
        return now;
    std::lock_guard const lock(mutex_);
    if (time_point const begin = next_begin(now); begin > now)
        return {now < open_until_ ? begin : time_point::max(), error::circuit_open};
    made.from = state_;
    if (made.from == breaker_state::open)
        half_open();
    made.to = state_;
    admission answer = now;
    if (made.to == breaker_state::half_open)
        take_place(answer.ticket = detail::new_gate_ticket(), now);
    return answer;
}

admission circuit_breaker::admit_again(admission const& before, std::uint64_t number, time_point now) noexcept {
    if (before.ticket != 0) {
        std::lock_guard const lock(mutex_);
        if (state_ == breaker_state::half_open && free_place(before.ticket)) {
            take_place(before.ticket, now);
            admission answer = now;
            answer.ticket = before.ticket;
            return answer;
        }
    }
    return admit(number, now);
}

void circuit_breaker::on_end(attempt_end const& end) noexcept {
    std::unique_lock lock(mutex_);
    bool const is_abandoned = end.outcome == attempt_end::how::abandoned;
    time_point const began = is_abandoned ? end.now : saturating_add(end.now, -end.took);
    if (began < counts_from_)
        return;
    breaker_state const before = state_;
    if (before == breaker_state::half_open) {
        if (end.ticket != 0)
            free_place(end.ticket);
        else
            free_place_of(began);
    }
    if (is_abandoned)
        return;
    bool const failed = is_breaker_failure(end);
    if (before == breaker_state::half_open) {
        on_probe_end(failed, end.now);
    } else if (before == breaker_state::closed) {
        window_.add(failed, end.took > options_.slow, end.now);
        failures_in_row_ = failed ? failures_in_row_ + 1 : 0;
        if (!has_to_open())
            return;
        open(end.now);
    }
    change const made{before, state_};
    lock.unlock();
    if (made)
        tell(made, end.now);
}

/// Calls `on_change`. Precondition: this thread does not hold the mutex.
void circuit_breaker::tell(change made, time_point now) const noexcept {
    std::shared_ptr<listener const> told;
    {
        std::lock_guard const lock(mutex_);
        told = on_change_;
    }
    if (!told)
        return;
    try {
        (*told)(made.from, made.to, now);
    } catch (...) { // a gate cannot throw
    }
}

/// Precondition: a place is free.
void circuit_breaker::take_place(std::uint64_t ticket, time_point now) noexcept {
    std::erase_if(places_, [&](probe const& one) { return has_hung(one.began, now); });
    auto const later = std::ranges::upper_bound(places_, now, {}, &probe::began);
    places_.insert(later, {now, ticket}); // the memory is reserved
}

bool circuit_breaker::free_place(std::uint64_t ticket) noexcept {
    return std::erase_if(places_, [&](probe const& one) { return one.ticket == ticket; }) != 0;
}

/// Frees the place of a probe whose end has no ticket. A gate around the breaker may keep no tickets, as
/// `endpoint_table` does, so the time finds the place.
void circuit_breaker::free_place_of(time_point began) noexcept {
    auto const later = std::ranges::upper_bound(places_, began, {}, &probe::began);
    if (later != places_.begin()) // otherwise take_place has dropped it as hung
        places_.erase(std::prev(later));
}

void circuit_breaker::on_probe_end(bool failed, time_point now) noexcept {
    if (failed) {
        double const longer = static_cast<double>(open_length_.count()) * options_.growth;
        open_length_ = longer < static_cast<double>(options_.open_cap.count())
                           ? duration(static_cast<duration::rep>(longer))
                           : duration(options_.open_cap);
        open(now);
    } else if (++succeeded_ >= options_.probes) {
        close();
    }
}

bool circuit_breaker::has_to_open() const noexcept {
    if (options_.consecutive != 0 && failures_in_row_ >= options_.consecutive)
        return true;
    auto const [attempts, failures, slow] = window_.total();
    if (attempts < options_.min_attempts)
        return false;
    auto const all = static_cast<double>(attempts);
    return static_cast<double>(failures) / all >= options_.failure_rate ||
           (options_.slow_rate > 0 && static_cast<double>(slow) / all >= options_.slow_rate);
}

void circuit_breaker::open(time_point now) noexcept {
    state_ = breaker_state::open;
    open_until_ = saturating_add(now, open_length_);
    if (open_until_ == time_point::max())
        return; // open for ever: the spread does not apply
    double const less =
        options_.open_spread * share_of(number_, now) * static_cast<double>(open_length_.count());
    open_until_ -= duration(static_cast<duration::rep>(less));
}

void circuit_breaker::half_open() noexcept {
    state_ = breaker_state::half_open;
    counts_from_ = open_until_;
    places_.clear();
    succeeded_ = 0;
}

void circuit_breaker::close() noexcept {
    state_ = breaker_state::closed;
    window_.clear();
    failures_in_row_ = 0;
    open_length_ = options_.open_for;
}

} // namespace asio_retry
