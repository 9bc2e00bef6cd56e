#include "world/round.hpp"

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace asio_retry::world {
namespace {

using namespace std::chrono_literals;

constexpr int steps = 150;

} // namespace

round::round(std::uint64_t seed)
    : dice_(seed)
    , threads_(dice_.below(4))
    , unit_(is_virtual_ ? duration(1ms) : duration(20us))
    , ends_at_(dice_.below(2 * steps))
    , seed_(dice_.seed())
    , shared_(dice_, unit_)
    , places_{{0, is_virtual_, endings_}, {1, is_virtual_, endings_}} {}

void round::play() {
    std::vector<std::thread> others;
    for (int i = 1; i < threads_; ++i)
        others.emplace_back([this, i] { work(i); });
    work(0);
    for (std::thread& each : others)
        each.join();
    end_all();
    shared_.audit(violations_);
    endings_.audit(violations_);
}

void round::work(int thread) {
    choices dice(seed_, static_cast<std::uint64_t>(thread));
    for (int i = 0; i != steps; ++i) {
        place& where = places_[dice.below(2)];
        {
            std::shared_lock const lock(where.mutex());
            if (!where.has_ended())
                use(where, dice);
        }
        if (thread == 0 && i == ends_at_) {
            std::unique_lock const lock(places_[1].mutex());
            places_[1].end();
        }
    }
}

void round::use(place& where, choices& dice) {
    try {
        step(where, dice);
        run_some(where, dice);
    } catch (std::exception const& e) {
        std::lock_guard const lock(mutex_);
        violations_.push_back(std::string("thrown at nobody: ") + e.what());
    }
}

void round::step(place& where, choices& dice) {
    switch (dice.below(20)) {
    case 0:
        if (auto const parked = where.parked().take(dice))
            parked->drop();
        return;
    case 1:
        return where.press_a_button(dice);
    case 2:
    case 3:
        return where.use_scopes(dice, unit_);
    case 4:
    case 5:
        return shared_.change(dice, where.now());
    case 6:
        return use_tickers(where, shared_, dice);
    case 7:
        return block(where, shared_, dice, unit_, [this](duration by) { advance(by); });
    case 8:
    case 9:
    case 10:
    case 11:
        if (auto const parked = where.parked().take(dice))
            parked->complete(dice.one_in(2) ? error_code() : error_code(asio::error::connection_reset));
        return;
    default:
        return start_operation(where, shared_, dice, unit_);
    }
}

void round::advance(duration by) {
    for (place& each : places_)
        if (!each.has_ended())
            each.time()->advance(by);
}

void round::run_some(place& where, choices& dice) {
    for (int i = dice.below(8); i != 0; --i)
        where.io().poll_one();
    if (is_virtual_ && dice.one_in(2))
        advance(dice.below(4) * unit_);
}

void round::end_all() {
    shared_.end_faults();
    if (dice_.one_in(4))
        places_[0].end();
    if (!run_to_the_end())
        violations_.push_back("handlers are still there: " + endings_.alive());
    for (place& each : places_) {
        if (!each.has_ended())
            each.audit(violations_);
        each.end();
    }
}

/// Time passes, and attempts complete, until no handler is left, and no attempt that was left behind.
bool round::run_to_the_end() {
    for (int left = 10'000; endings_.are_alive() || !places_[0].is_idle() || !places_[1].is_idle(); --left) {
        if (left == 0)
            return false;
        for (place& each : places_) {
            if (each.has_ended())
                continue;
            each.cancel_all(); // also what has begun meanwhile
            while (auto const parked = each.parked().take(dice_))
                parked->complete({});
            if (is_virtual_)
                each.time()->advance(10 * unit_);
            else
                each.io().run_one_for(1ms);
            each.io().poll();
        }
    }
    return true;
}

} // namespace asio_retry::world
