#include "world/round.hpp"

#include "stress/sanitized.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace asio_retry::world {
namespace {

using namespace std::chrono_literals;

// How many rounds are short for one that is long. To ThreadSanitizer one thread has nothing to tell.
#if defined(ASIO_RETRY_TEST_THREAD_SANITIZER)
constexpr int short_rounds = 0;
#elif ASIO_RETRY_TEST_SANITIZED
constexpr int short_rounds = 10;
#else
constexpr int short_rounds = 100;
#endif

} // namespace

round::round(std::uint64_t seed)
    : dice_(seed)
    , is_short_(!dice_.one_in(short_rounds + 1))
    , threads_(is_short_ ? 0 : dice_.below(4))
    , unit_(is_virtual_ ? duration(1ms) : duration(20us))
    , steps_(is_short_ ? 4 + dice_.below(16) : 150)
    , ends_at_(dice_.below(is_short_ ? 4 * steps_ : 2 * steps_))
    , seed_(dice_.seed())
    , trace_(is_virtual_) {
    if (!is_short_ || dice_.one_in(20))
        shared_.emplace(dice_, unit_, is_virtual_);
    for (int i = is_short_ ? 1 : 2; i != 0; --i)
        places_.emplace_back(dice_, is_virtual_, records_, trace_, violations_);
}

void round::play() {
    std::vector<std::thread> others;
    for (int i = 1; i < threads_; ++i)
        others.emplace_back([this, i] {
            dice own(seed_, static_cast<std::uint64_t>(i));
            work(i, own);
        });
    work(0, dice_);
    for (std::thread& each : others)
        each.join();
    end_all();
    audit();
}

std::uint64_t round::attempts() {
    std::uint64_t sum = shared_ ? shared_->attempts() : 0;
    records_.for_each_planned([&](record const& each) { sum += each.planned->watched.attempts(); });
    return sum;
}

void round::work(int thread, dice& d) {
    for (int i = 0; i != steps_; ++i) {
        place& where = d.any_of(places_);
        {
            std::shared_lock const lock(where.mutex());
            if (!where.has_ended())
                use(where, d);
        }
        if (thread == 0 && i == ends_at_) {
            std::unique_lock const lock(places_.back().mutex());
            cut_off(places_.back(), d);
        }
    }
}

void round::use(place& where, dice& d) {
    try {
        step(where, d);
        run_some(where, d);
    } catch (std::exception const& e) {
        violations_.add(std::string("thrown at nobody: ") + e.what());
    }
}

void round::step(place& where, dice& d) {
    int const what = shared_ ? d.below(20) : 4 + d.below(20) % 16;
    switch (what) {
    case 0:
    case 1:
        return shared_->change(d, where.now());
    case 2:
        return use_tickers(where, *shared_, d);
    case 3:
        return block(where, *shared_, d, unit_, [this](duration by) { advance(by); });
    default:
        if (!is_virtual_)
            return act(where, d, what);
        // Asio hands a cancellation to a coroutine at once only in a handler of its context.
        asio::post(where.io(), [this, &where, &d, what] { act(where, d, what); });
    }
}

void round::act(place& where, dice& d, int what) {
    switch (what) {
    case 4:
        if (auto const parked = where.parked().take(d))
            parked->drop();
        return;
    case 5:
        return where.press_a_button(d);
    case 6:
    case 7:
        return where.use_scopes(d, unit_);
    case 8:
    case 9:
    case 10:
    case 11:
        if (auto const parked = where.parked().take(d))
            parked->complete(d.one_in(2) ? error_code() : error_code(asio::error::connection_reset));
        return;
    default:
        return start(where, d);
    }
}

void round::start(place& where, dice& d) {
    if (is_virtual_ && (!shared_ || d.one_in(3)))
        start_planned(where, d);
    else
        start_operation(where, *shared_, d, unit_);
}

/// The context ends with whatever goes on in it.
void round::cut_off(place& where, dice& d) {
    if (is_virtual_ && d.one_in(2)) {
        where.cancel_all();
        for (int i = d.below(4); i != 0; --i)
            asio::post(where.io(), [this, &where, &d] { start(where, d); });
        for (int i = d.below(10); i != 0; --i)
            where.io().poll_one();
    }
    where.end();
}

void round::advance(duration by) {
    for (place& each : places_)
        if (!each.has_ended())
            each.time()->advance(by);
}

void round::run_some(place& where, dice& d) {
    for (int i = d.below(8); i != 0; --i)
        where.io().poll_one();
    if (is_virtual_ && d.one_in(2))
        advance(is_short_ ? d.up_to(d.pick<duration>({4ms, 300ms, 3s})) : d.below(4) * unit_);
}

void round::end_all() {
    if (shared_)
        shared_->end_faults();
    if (!is_short_ && dice_.one_in(4))
        cut_off(places_.front(), dice_);
    if (is_virtual_)
        run_without_cancellation();
    if (!run_to_the_end())
        violations_.add("handlers are still there: " + records_.alive());
    for (place& each : places_) {
        if (!each.has_ended())
            each.audit();
        each.end();
    }
}

/// Most operations end by themselves.
void round::run_without_cancellation() {
    for (int left = 8; left != 0; --left) {
        for (place& each : places_)
            if (auto const parked = each.has_ended() ? nullptr : each.parked().take(dice_))
                parked->complete(left % 2 == 0 ? error_code() : error_code(asio::error::connection_reset));
        advance(3s);
    }
}

/// Time passes, and attempts complete, until no handler is left, and no attempt that was left behind.
bool round::run_to_the_end() {
    auto const is_idle = [](place& each) { return each.is_idle(); };
    for (int left = 10'000; records_.are_alive() || !std::ranges::all_of(places_, is_idle); --left) {
        if (left == 0)
            return false;
        for (place& each : places_) {
            if (each.has_ended())
                continue;
            each.cancel_all(); // also what has begun meanwhile
            while (auto const parked = each.parked().take(dice_))
                parked->complete({});
            if (is_virtual_)
                each.time()->advance(left % 8 == 0 ? 500 * unit_ : 10 * unit_);
            else
                each.io().run_one_for(1ms);
            each.io().poll();
        }
    }
    return true;
}

void round::audit() {
    if (shared_)
        shared_->audit(violations_, trace_);
    records_.audit(violations_);
}

} // namespace asio_retry::world
