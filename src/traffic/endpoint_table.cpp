#include <asio_retry/detail/traffic/endpoint_table.hpp>

#include "traffic/due_heap.hpp"
#include "traffic/option_rules.hpp"
#include "traffic/step_counts.hpp"

#include <asio_retry/error.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace asio_retry::detail {
namespace {

constexpr std::uint32_t nobody = (std::numeric_limits<std::uint32_t>::max)();
constexpr int max_draws = 8;           // random draws before a linear search for an untried endpoint
constexpr int max_returns = 4;         // endpoints that return before a choice, at most
constexpr int remembered_answers = 64; // of an endpoint
// A faster second endpoint loses one tie in 16, so that the latency of the slower one is measured again.
constexpr int ties_per_slower = 16;

bool has(std::span<endpoint_attempt const> tried, endpoint_record const& one) noexcept {
    return std::ranges::any_of(tried, [&](endpoint_attempt const& each) { return each.at.get() == &one; });
}

/// Whether one latency is at most two thirds of the other. False unless both are known.
bool is_clearly_faster(latency_step one, latency_step other) noexcept {
    return one != 0 && other != 0 && 3 * greatest_in(one) <= 2 * greatest_in(other);
}

/// Whether the difference is greater than chance makes between two equal endpoints.
bool fails_more(int failures, int others) noexcept {
    int const more = failures - others;
    return more > 0 && more * more > failures + others;
}

/// The weight of an endpoint: at least a sixteenth, so that attempts find out when it is well again.
std::size_t weight(int failures) noexcept {
    return static_cast<std::size_t>(std::max(remembered_answers - failures, remembered_answers / 16));
}

std::size_t below(std::size_t count, random& dice) noexcept {
    return static_cast<std::size_t>(((dice() >> 32) * count) >> 32);
}

/// One of two endpoints that a choice compares.
struct candidate {
    std::uint32_t id;
    std::uint32_t in_flight;
    int failed;
};

/// Gives the worse endpoint its share of the choices, unless it has more attempts in flight.
bool asks_worse(candidate const& worse, candidate const& better, random& dice) noexcept {
    return worse.in_flight <= better.in_flight && below(2 * weight(better.failed), dice) < weight(worse.failed);
}

} // namespace

/// The state of each endpoint of a list. The id of an endpoint is its index in the list.
///
/// While `assign` makes the members of the next list, these are in use. So a record has two ids: one for even
/// and one for odd numbers of lists.
///
/// An endpoint is in one of five states. `update_state` moves it when its breaker or its rest changes,
/// `count_slow` when it has become slow, and `bring_back_due` when its time is over.
///
///   available   it may be asked
///   open        its breaker is open; it may rest, too
///   probed      its breaker is half-open, and probes have all places
///   slow        it is ejected because of its latency
///   resting     its server wants no attempt
///
/// In the states `open` and `probed` the breaker refuses attempts: the endpoint is refused.
struct endpoint_table::members {
    struct slot {
        std::uint32_t position = nobody; // the index in `available`
        latency_step counted = 0;        // the step counted in `latencies`
    };

    members(list all, std::size_t list_number)
        : endpoints(std::make_shared<list const>(std::move(all)))
        , number(list_number)
        , slots(endpoints->size())
        , open(endpoints->size())
        , probed(endpoints->size())
        , slow(endpoints->size())
        , resting(endpoints->size()) {
        available.reserve(endpoints->size());
    }

    endpoint_record& at(std::uint32_t id) const noexcept { return *(*endpoints)[id]; }

    std::uint32_t& id_in(endpoint_record& one) const noexcept { return one.ids_[number % 2]; }

    /// The id of a record; `nobody` if it is no longer in the list.
    std::uint32_t id_of(endpoint_record& one) const noexcept {
        std::uint32_t const id = id_in(one);
        return id < slots.size() && &at(id) == &one ? id : nobody;
    }

    bool is_available(std::uint32_t id) const noexcept { return slots[id].position != nobody; }

    /// Notes that the breaker refuses attempts at `now`, until `until` at most.
    void refuse(std::uint32_t id, time_point until, time_point now) noexcept {
        if (at(id).breaker_.state(now) == breaker_state::half_open) {
            open.erase(id);
            return probed.set(id, until);
        }
        probed.erase(id);
        open.set(id, std::max(until, at(id).rests_until_.load()));
    }
    /// The heap with the refused endpoint that is due first. Both heaps may be empty.
    due_heap const& refused_due_first() const noexcept {
        bool const is_probed = !probed.empty() && (open.empty() || probed.first_time() < open.first_time());
        return is_probed ? probed : open;
    }
    bool is_refused(std::uint32_t id) const noexcept { return open.contains(id) || probed.contains(id); }
    void let_in(std::uint32_t id) noexcept {
        open.erase(id);
        probed.erase(id);
    }

    /// Until when an attempt waits if no endpoint is available: the earliest time in `open` and `resting`.
    /// It leaves `probed` out, because a probe may end at any moment. Precondition: no endpoint is slow.
    time_point first_return() const noexcept {
        time_point const first = open.empty() ? (time_point::max)() : open.first_time();
        return resting.empty() ? first : std::min(first, resting.first_time());
    }

    /// How many endpoints are out because of their breakers or their servers.
    std::size_t count_out() const noexcept { return open.size() + probed.size() + resting.size(); }

    std::shared_ptr<list const> const endpoints;
    std::size_t const number;
    std::vector<slot> slots;
    std::vector<std::uint32_t> available;
    due_heap open;         // due when the breaker lets attempts begin and the endpoint no longer rests
    due_heap probed;       // due when a probe counts as hung
    due_heap slow;         // due when it is asked again
    due_heap resting;      // due when the rest ends
    step_counts latencies; // of the available endpoints
    std::uint32_t last_winner = nobody; // of a comparison by failures; see `better`
};

// --- records

endpoint_record::endpoint_record(circuit_breaker_options const& options)
    : breaker_(options) {}

endpoint_record::~endpoint_record() = default;

int endpoint_record::failed_answers() const noexcept {
    return std::popcount(failures_.load(std::memory_order_relaxed));
}

endpoint_status endpoint_record::status(time_point now) const noexcept {
    endpoint_status known;
    known.state = breaker_.state(now);
    known.in_flight = in_flight_;
    known.rate = breaker_.failure_share(now);
    known.latency = greatest_in(median_);
    time_point const until = std::max(slow_until_.load(), breaker_.open_until(now));
    known.ejected_until = until > now ? until : (time_point::min)();
    time_point const rests_until = rests_until_;
    known.resting_until = rests_until > now ? rests_until : (time_point::min)();
    return known;
}

// --- lists

endpoint_options const& endpoint_table::checked(endpoint_options const& o) {
    circuit_breaker const refuses_its_options(o.breaker);
    demand(0 <= o.greatest_ejected && o.greatest_ejected <= 1, "endpoint_set.greatest_ejected",
           o.greatest_ejected, "must be in [0, 1]");
    demand(std::isfinite(o.slow_factor) && o.slow_factor > 1, "endpoint_set.slow_factor", o.slow_factor,
           "must be finite and more than 1");
    demand(o.slow_least > 0, "endpoint_set.slow_least", o.slow_least, "must be positive");
    duration const remembered = o.remembered;
    demand(remembered >= duration::zero(), "endpoint_set.remembered", remembered, "must not be negative");
    return o;
}

endpoint_table::endpoint_table(endpoint_options const& options, list endpoints)
    : slow_for_(options.breaker.open_for)
    , slow_growth_(options.breaker.growth)
    , slow_cap_(options.breaker.open_cap)
    , greatest_ejected_(options.greatest_ejected)
    , slow_factor_(options.slow_factor)
    , slow_least_(options.slow_least)
    , remembered_(options.remembered)
    , members_(made_of(std::move(endpoints), 0)) {}

endpoint_table::~endpoint_table() = default;

std::shared_ptr<endpoint_table::members> endpoint_table::made_of(list endpoints, std::size_t number) const {
    auto made = std::make_shared<members>(std::move(endpoints), number);
    time_point const now = latest_;
    for (std::uint32_t id = 0; id < made->slots.size(); ++id) {
        endpoint_record& one = made->at(id);
        made->id_in(one) = id;
        if (time_point const until = one.breaker_.open_until(now); until > now) {
            one.is_refused_ = true;
            made->refuse(id, until, now);
        } else if (time_point const rested = one.rests_until_; rested > now) {
            made->resting.set(id, rested);
        } else if (time_point const back = one.slow_until_; back != (time_point::min)()) {
            made->slow.set(id, back);
        } else {
            made->slots[id].position = static_cast<std::uint32_t>(made->available.size());
            made->available.push_back(id);
            made->latencies.add(made->slots[id].counted = one.median_);
        }
    }
    return made;
}

bool endpoint_table::is_remembered(departed const& one, time_point now) const noexcept {
    return elapsed_between(one.left, now) < remembered_;
}

endpoint_table::list endpoint_table::known(time_point now) const {
    now = std::max(now, latest_.load());
    list all = *endpoints();
    for (departed const& each : departed_)
        if (is_remembered(each, now))
            all.push_back(each.one);
    return all;
}

/// The former members to remember when the list is `next`.
std::vector<endpoint_table::departed> endpoint_table::departures(list const& next, time_point now) const {
    list staying = next;
    std::ranges::sort(staying);
    std::vector<departed> all;
    auto const add = [&](departed const& one) {
        if (is_remembered(one, now) && !std::ranges::binary_search(staying, one.one))
            all.push_back(one);
    };
    for (departed const& each : departed_)
        add(each);
    for (auto const& each : *endpoints())
        add({each, now});
    return all;
}

endpoint_table::remains endpoint_table::assign(list endpoints, time_point now) {
    std::vector<departed> next = departures(endpoints, std::max(now, latest_.load()));
    std::shared_ptr<members> other = made_of(std::move(endpoints), members_->number + 1);
    {
        std::lock_guard const lock(mutex_);
        std::swap(members_, other);
        lowest_ = members_->latencies.lowest();
    }
    for (auto const& each : *members_->endpoints)
        reconcile(*each);
    departed_.swap(next);
    return {std::move(other), std::move(next)};
}

/// Takes over what has changed while the list was made.
void endpoint_table::reconcile(endpoint_record& at) noexcept {
    std::lock_guard const lock(mutex_);
    members& all = *members_;
    std::uint32_t const id = all.id_of(at);
    if (all.slow.contains(id) && at.slow_until_.load() == (time_point::min)()) { // the old list let it return
        leave_state(id);
        make_available(id);
    }
    if (!all.slow.contains(id))               // the old list may have ejected it
        at.slow_until_ = (time_point::min)(); // its next success says whether it is still slow
    if (all.is_available(id))
        count_latency(id, at.median_);
    update_state(id, latest_, false);
    if (all.slow.size() > allowed_slow())
        bring_back_slow();
}

std::shared_ptr<endpoint_table::list const> endpoint_table::endpoints() const noexcept {
    std::lock_guard const lock(mutex_);
    return members_->endpoints;
}

// --- choice

admission endpoint_table::choose(std::span<endpoint_attempt const> tried, bool insists, time_point now,
                                 random& dice, std::shared_ptr<endpoint_record>& chosen) noexcept {
    circuit_breaker::change made;
    std::unique_lock lock(mutex_);
    if (now > latest_.load(std::memory_order_relaxed))
        latest_.store(now, std::memory_order_relaxed);
    bring_back_due(now);
    for (;;) { // each turn except the last moves out an endpoint whose breaker has opened
        bool const is_there = !members_->available.empty();
        if (!is_there && (!insists || members_->resting.empty())) // who insists asks a resting endpoint
            return refusal(insists, now);
        std::uint32_t const id = is_there ? find(tried, dice) : members_->resting.first();
        endpoint_record& one = members_->at(id);
        if (one.breaker_.admit_untold(now, made).until > now) {
            update_state(id, now, true);
            continue;
        }
        one.in_flight_.fetch_add(1, std::memory_order_relaxed);
        chosen = (*members_->endpoints)[id];
        if (!one.breaker_.is_closed() && one.breaker_.open_until(now) > now) // it was the last place of a probe
            update_state(id, now, false);
        if (made) {
            lock.unlock();
            one.breaker_.tell(made, now);
        }
        return now;
    }
}

/// The endpoint to ask. Its breaker may refuse. Precondition: an endpoint is available.
std::uint32_t endpoint_table::find(std::span<endpoint_attempt const> tried, random& dice) const noexcept {
    std::uint32_t const first = drawn(tried, nobody, dice);
    if (first == nobody)
        return tried_longest_ago(tried);
    std::uint32_t const second = drawn(tried, first, dice);
    return second == nobody ? first : better(first, second, dice);
}

/// An available endpoint that has not been tried, other than `besides`; `nobody` if there is none.
std::uint32_t endpoint_table::drawn(std::span<endpoint_attempt const> tried, std::uint32_t besides,
                                    random& dice) const noexcept {
    members const& all = *members_;
    // Places count the available endpoints without `besides`, which stands at `hole`.
    std::size_t const hole = besides == nobody ? all.available.size() : all.slots[besides].position;
    std::size_t const count = all.available.size() - (besides == nobody ? 0 : 1);
    auto const untried = [&](std::size_t place) {
        std::uint32_t const id = all.available[place < hole ? place : place + 1];
        return has(tried, all.at(id)) ? nobody : id;
    };
    if (count == 0)
        return nobody;
    std::size_t place = below(count, dice);
    int const draws = count > tried.size() ? max_draws : 0; // otherwise all may have been tried
    for (int i = 0; i < draws; ++i) {
        if (std::uint32_t const id = untried(place); id != nobody)
            return id;
        place = below(count, dice);
    }
    for (std::size_t i = 0; i < count; ++i) { // once round all places, from the last one drawn
        if (std::uint32_t const id = untried(place); id != nobody)
            return id;
        place = place + 1 == count ? 0 : place + 1;
    }
    return nobody;
}

/// Compares by failures, then by attempts in flight, then by latency. Between endpoints that both fail more
/// than the last winner, it draws lots: fast failures keep few attempts in flight.
std::uint32_t endpoint_table::better(std::uint32_t a, std::uint32_t b, random& dice) const noexcept {
    auto const candidate_of = [&](std::uint32_t id) -> candidate {
        endpoint_record const& one = members_->at(id);
        return {id, one.in_flight_.load(std::memory_order_relaxed), one.failed_answers()};
    };
    candidate const first = candidate_of(a), second = candidate_of(b);
    bool const second_fails_more = fails_more(second.failed, first.failed);
    if (second_fails_more || fails_more(first.failed, second.failed)) {
        candidate const& winner = second_fails_more ? first : second;
        candidate const& loser = second_fails_more ? second : first;
        members_->last_winner = winner.id;
        return asks_worse(loser, winner, dice) ? loser.id : winner.id;
    }
    if (members_->last_winner != nobody && first.failed != 0 && second.failed != 0) {
        int const of_winner = members_->at(members_->last_winner).failed_answers();
        if (fails_more(first.failed, of_winner) && fails_more(second.failed, of_winner))
            return below(2, dice) == 0 ? a : b;
    }
    if (first.in_flight != second.in_flight)
        return first.in_flight < second.in_flight ? a : b;
    bool const second_is_faster = is_clearly_faster(members_->at(b).median_, members_->at(a).median_);
    return second_is_faster && below(ties_per_slower, dice) != 0 ? b : a;
}

/// Precondition: an endpoint is available, and all available ones have been tried.
std::uint32_t endpoint_table::tried_longest_ago(std::span<endpoint_attempt const> tried) const noexcept {
    std::uint32_t found = nobody;
    std::uint64_t earliest = 0;
    for (endpoint_attempt const& each : tried) {
        std::uint32_t const id = members_->id_of(*each.at);
        if (id == nobody || !members_->is_available(id) || (found != nobody && each.last >= earliest))
            continue;
        found = id;
        earliest = each.last;
    }
    return found;
}

/// Refuses an attempt until the first endpoint may be asked again. With error::circuit_open it names no time
/// while probes run, because a probe may end at any moment. An attempt that insists gets circuit_open rather
/// than cooling_down: otherwise it would wait for the rest again and again. Precondition: no endpoint is
/// available, so none is ejected as slow.
admission endpoint_table::refusal(bool insists, time_point now) const noexcept {
    members const& all = *members_;
    time_point const first = std::max(all.first_return(), saturating_add(now, duration(1)));
    bool const rests = !all.open.empty() && all.at(all.open.first()).rests_until_.load() > now;
    if (!insists && (rests || !all.resting.empty()))
        return {first, error::cooling_down};
    return {all.probed.empty() ? first : (time_point::max)(), error::circuit_open};
}

time_point endpoint_table::first_available(time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    bring_back_due(now);
    return members_->available.empty() ? members_->first_return() : now;
}

// --- ends

void endpoint_table::on_end(endpoint_record& at, attempt_end const& end) noexcept {
    at.in_flight_.fetch_sub(1, std::memory_order_relaxed);
    at.breaker_.on_end(end);
    if (end.outcome != attempt_end::how::abandoned)
        note_answer(at, end.outcome == attempt_end::how::failed);
    time_point const now = std::max(latest_.load(std::memory_order_relaxed), end.now);
    if (end.outcome == attempt_end::how::succeeded)
        record_latency(at, end.took, now);
    else if (end.is_beaten)
        record_defeat(at, now);
    if (end.outcome == attempt_end::how::failed && end.said.delay() > duration::zero())
        rest(at, saturating_add(end.now, end.said.delay()), now);
    else if (at.is_refused_ || at.breaker_.open_until(now) > now)
        recheck(at, now);
}

/// Remembers whether an answer was a failure.
void endpoint_table::note_answer(endpoint_record& at, bool failed) noexcept {
    std::uint64_t known = at.failures_.load(std::memory_order_relaxed);
    while ((failed || known != 0) && !at.failures_.compare_exchange_weak(known, known << 1 | (failed ? 1u : 0u),
                                                                         std::memory_order_relaxed)) {
    }
}

/// Makes an endpoint rest until `until`, as its server has asked.
void endpoint_table::rest(endpoint_record& at, time_point until, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    at.rests_until_ = std::max(at.rests_until_.load(), until);
    if (std::uint32_t const id = members_->id_of(at); id != nobody)
        update_state(id, now, false);
}

void endpoint_table::recheck(endpoint_record& at, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    if (std::uint32_t const id = members_->id_of(at); id != nobody)
        update_state(id, now, false);
}

/// Moves an endpoint to the state that its breaker and its rest ask for. `was_refused`: the breaker has just
/// refused an attempt.
void endpoint_table::update_state(std::uint32_t id, time_point now, bool was_refused) noexcept {
    members& all = *members_;
    endpoint_record& one = all.at(id);
    // Set before the breaker is asked: a thread that changes the breaker later sees it, and calls `recheck`.
    one.is_refused_ = true;
    time_point const until = one.breaker_.open_until(now);
    if (was_refused || until > now) {
        if (!all.is_refused(id))
            leave_state(id);
        all.refuse(id, until, now);
    } else {
        one.is_refused_ = false;
        if (all.is_refused(id)) {
            all.let_in(id);
            make_available_or_resting(id, now);
        } else if (time_point const rested = one.rests_until_; rested > now) {
            leave_state(id);
            all.resting.set(id, rested);
        }
    }
    if (all.slow.size() > allowed_slow())
        bring_back_slow();
}

void endpoint_table::bring_back_due(time_point now) noexcept {
    members& all = *members_;
    for (int i = 0; i < max_returns; ++i) {
        due_heap const& first = all.refused_due_first();
        if (!first.empty() && first.first_time() <= now) {
            std::uint32_t const id = first.first();
            all.let_in(id);
            all.at(id).is_refused_ = false;
            make_available_or_resting(id, now);
        } else if (!all.resting.empty() && all.resting.first_time() <= now) {
            std::uint32_t const id = all.resting.first();
            leave_state(id);
            make_available_or_resting(id, now);
        } else if (!all.slow.empty() && all.slow.first_time() <= now) {
            bring_back_slow();
        } else {
            break;
        }
    }
    if (all.available.empty() && !all.slow.empty()) // only after `assign`
        bring_back_slow();
}

void endpoint_table::bring_back_slow() noexcept {
    std::uint32_t const id = members_->slow.first();
    leave_state(id);
    make_available(id);
}

/// Makes an endpoint available unless it rests. Precondition: it has left its state.
void endpoint_table::make_available_or_resting(std::uint32_t id, time_point now) noexcept {
    if (time_point const rested = members_->at(id).rests_until_; rested > now)
        members_->resting.set(id, rested);
    else
        make_available(id);
}

void endpoint_table::make_available(std::uint32_t id) noexcept {
    members& all = *members_;
    all.slots[id].position = static_cast<std::uint32_t>(all.available.size());
    all.available.push_back(id); // the memory is reserved
    count_latency(id, all.at(id).median_);
}

/// Takes an endpoint from the available, resting or slow ones. A slow one forgets its latency.
void endpoint_table::leave_state(std::uint32_t id) noexcept {
    members& all = *members_;
    if (all.slow.contains(id)) {
        endpoint_record& one = all.at(id);
        all.slow.erase(id);
        one.slow_until_ = (time_point::min)();
        one.median_ = 0;
        ++one.latency_generation_;
        return;
    }
    if (all.resting.contains(id))
        return all.resting.erase(id);
    std::uint32_t const position = all.slots[id].position;
    std::uint32_t const last = all.available.back(); // fills the gap
    all.slots[last].position = position;
    all.available[position] = last;
    all.available.pop_back();
    all.slots[id].position = nobody;
    count_latency(id, 0);
}

/// How many endpoints may be out because they are slow. At least one is always asked.
std::size_t endpoint_table::allowed_slow() const noexcept {
    std::size_t const all = members_->slots.size();
    double const share =
        std::floor(greatest_ejected_ * static_cast<double>(all) + 1e-9); // 0.29 * 100 is below 29
    std::size_t const most = std::min(static_cast<std::size_t>(share), all - 1);
    return most - std::min(most, members_->count_out());
}

// --- latency

/// Notes how long a success took. It takes the lock only if the median is new, or the endpoint may be slow: at
/// least slower than the fastest one.
void endpoint_table::record_latency(endpoint_record& at, duration took, time_point now) noexcept {
    if (!begin_recording(at))
        return;
    latency_step const median = at.latency_.add(step_of(took));
    latency_step const known = at.median_;
    bool const is_new = median != 0 && (known == 0 || (median > known ? median - known : known - median) >= 2);
    bool const is_slow = median != 0 && is_slower(median, lowest_);
    if (!is_slow)
        at.slow_in_row_ = 0;
    if (is_new || is_slow)
        compare_latency(at, median, is_new, is_slow, now);
    at.is_recording_.store(false, std::memory_order_release);
}

/// A later attempt of a hedge has beaten the attempt at this endpoint: counts it as slow, without a latency.
void endpoint_table::record_defeat(endpoint_record& at, time_point now) noexcept {
    if (!begin_recording(at))
        return;
    {
        std::lock_guard const lock(mutex_);
        std::uint32_t const id = members_->id_of(at);
        if (at.recorded_generation_ == at.latency_generation_ && id != nobody && members_->is_available(id))
            count_slow(id, now);
    }
    at.is_recording_.store(false, std::memory_order_release);
}

/// Tries to get the right to record. False if another thread has it: the caller then drops its result.
bool endpoint_table::begin_recording(endpoint_record& at) noexcept {
    if (at.is_recording_.exchange(true, std::memory_order_acquire))
        return false;
    if (std::uint32_t const generation = at.latency_generation_; at.recorded_generation_ != generation) {
        at.latency_ = recent_latency();
        at.slow_in_row_ = 0;
        at.recorded_generation_ = generation;
    }
    return true;
}

/// Notes a new median, and compares an endpoint that may be slow with the median of the others.
void endpoint_table::compare_latency(endpoint_record& at, latency_step median, bool is_new, bool is_slow,
                                     time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    members& all = *members_;
    std::uint32_t const id = all.id_of(at);
    if (at.recorded_generation_ != at.latency_generation_)
        return;
    if (is_new)
        at.median_ = median;
    if (id == nobody || !all.is_available(id))
        return;
    count_latency(id, at.median_);
    if (is_slow && is_slower(median, all.latencies.median_without(all.slots[id].counted)))
        count_slow(id, now);
    else
        at.slow_in_row_ = at.times_slow_ = 0;
}

/// Ejects an endpoint after enough slow successes in a row, each time for longer.
void endpoint_table::count_slow(std::uint32_t id, time_point now) noexcept {
    members& all = *members_;
    endpoint_record& at = all.at(id);
    if (at.slow_in_row_ < slow_least_)
        ++at.slow_in_row_;
    if (at.slow_in_row_ < slow_least_ || all.slow.size() >= allowed_slow())
        return;
    leave_state(id);
    double const length = static_cast<double>(slow_for_.count()) * std::pow(slow_growth_, at.times_slow_++);
    at.slow_until_ = saturating_add(now, length < static_cast<double>(slow_cap_.count())
                                             ? duration(static_cast<duration::rep>(length))
                                             : slow_cap_);
    all.slow.set(id, at.slow_until_);
}

bool endpoint_table::is_slower(latency_step one, latency_step other) const noexcept {
    return other != 0 && static_cast<double>(greatest_in(one).count()) >=
                             slow_factor_ * static_cast<double>(greatest_in(other).count());
}

/// Counts the latency of an available endpoint instead of the one counted before. 0 counts none.
void endpoint_table::count_latency(std::uint32_t id, latency_step step) noexcept {
    members& all = *members_;
    latency_step& counted = all.slots[id].counted;
    if (counted == step)
        return;
    all.latencies.remove(counted);
    all.latencies.add(counted = step);
    lowest_ = all.latencies.lowest();
}

} // namespace asio_retry::detail
