#pragma once

#include <asio_retry/detail/life/attempt_life.hpp>

#include <bit>
#if defined(_WIN32) && defined(__GLIBCXX__)
#include <thread>
#endif

// Only sources of the library include this file.
namespace asio_retry::detail {

// --- who is in

template <typename Event, typename Word>
bool basic_occupancy<Event, Word>::enter(Event event) noexcept {
    word state = 0;
    while (!state_.compare_exchange_weak(state, entered_with(state, event), std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
    }
    return (state & occupied) == 0;
}

template <typename Event, typename Word>
bool basic_occupancy<Event, Word>::enter_after_telling(Event event) noexcept {
    word state = 0;
    while (!state_.compare_exchange_weak(state, entered_with(state, event), std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
        while ((state & telling) != 0) {
#if defined(_WIN32) && defined(__GLIBCXX__) // its atomics may lose a waiting thread
            std::this_thread::yield();
#else
            state_.wait(state, std::memory_order_acquire);
#endif
            state = state_.load(std::memory_order_acquire);
        }
    }
    return (state & occupied) == 0;
}

template <typename Event, typename Word>
bool basic_occupancy<Event, Word>::enter_as_successor(Event event) noexcept {
    if (state_.load(std::memory_order_acquire) != 0)
        return enter_after_telling(event);
    state_.store(occupied, std::memory_order_relaxed);
    return true;
}

template <typename Event, typename Word>
bool basic_occupancy<Event, Word>::begin_telling() noexcept {
    return (state_.fetch_or(telling, std::memory_order_acq_rel) & telling) == 0;
}

template <typename Event, typename Word>
void basic_occupancy<Event, Word>::end_telling() noexcept {
    state_.fetch_and(static_cast<word>(~telling), std::memory_order_release);
    state_.notify_all();
}

template <typename Event, typename Word>
bool basic_occupancy<Event, Word>::has(Event event) const noexcept {
    return (state_.load(std::memory_order_acquire) & bits_of(event)) != 0;
}

template <typename Event, typename Word>
bool basic_occupancy<Event, Word>::take(Event event) noexcept {
    return (state_.fetch_and(bits_of(~event), std::memory_order_acq_rel) & bits_of(event)) != 0;
}

template <typename Event, typename Word>
auto basic_occupancy<Event, Word>::take_those(Event events) noexcept -> Event {
    auto const taken = static_cast<word>(bits_of(events) & ~held);
    auto const kept = static_cast<word>(~taken);
    return static_cast<Event>(state_.fetch_and(kept, std::memory_order_acq_rel) & taken);
}

template <typename Event, typename Word>
auto basic_occupancy<Event, Word>::take_all() noexcept -> Event {
    return static_cast<Event>(state_.fetch_and(held, std::memory_order_acq_rel) & ~held);
}

template <typename Event, typename Word>
auto basic_occupancy<Event, Word>::leave() noexcept -> Event {
    word state = occupied;
    while ((state & ~held) == 0)
        if (state_.compare_exchange_weak(state, static_cast<word>(state & ~occupied), std::memory_order_acq_rel,
                                         std::memory_order_acquire))
            return Event::nothing;
    return take_all();
}

// --- what follows, and what happened

template <unsigned Most>
life_step attempt_life<Most>::next() noexcept {
    if (lost_ | wants_request_) {
        if (lost_ && !find_owner())
            return life_step::revive;
        if (wants_request_)
            return life_step::take_request;
    }
    if (ended_ != 0)
        return timer_ == timer::limit ? life_step::free_timer : life_step::judge;
    if (end_ == end::open || (end_ == end::told && running_ != 0)) {
        if (question_ == question::none)
            return life_step::leave;
        return place_ == place::initiation || place_ == place::cancellation ? leave_for_executor()
                                                                            : life_step::ask;
    }
    if (timer_ != timer::none)
        return life_step::free_timer;
    if (linked_)
        return life_step::unlink;
    if (end_ == end::abandoned)
        return life_step::dissolve;
    if (end_ == end::told)
        return returned_ ? life_step::dissolve : life_step::leave;
    if (is_in_initiation() && running_ == 0)
        return life_step::deliver_later;
    if (place_ != place::executor)
        return leave_for_executor();
    return running_ == 0 ? life_step::deliver : life_step::deliver_and_stay;
}

template <unsigned Most>
life_step attempt_life<Most>::next_in_rest() noexcept {
    bool const rests =
        ended_ == 0 && end_ == end::open && question_ == question::none && !wants_request_ && !lost_;
    return rests ? life_step::leave : next();
}

template <unsigned Most>
bool attempt_life<Most>::may_end_here() const noexcept {
    return place_ == place::executor && running_ == 0 && timer_ == timer::none;
}

template <unsigned Most>
void attempt_life<Most>::put_in(life_event events) noexcept {
    end_attempts(ended_among(events));
    if (any(events & (life_event::called | life_event::returned)))
        ask();
    returned_ = returned_ || any(events & life_event::returned);
    if (any(events & life_event::scope_noticed))
        wants_request_ = true;
    if (any(events & (life_event::timer_due | life_event::timer_lost)))
        put_in_timer(any(events & life_event::timer_lost));
}

template <unsigned Most>
void attempt_life<Most>::ask() noexcept {
    if (question_ == question::none)
        question_ = question::after_event;
}

template <unsigned Most>
void attempt_life<Most>::end_initiation_here() noexcept {
    if (place_ == place::initiation)
        place_ = place::last_of_initiation;
}

template <unsigned Most>
void attempt_life<Most>::lose_owner() noexcept {
    lost_ = true;
    place_ = place::cancellation;
}

template <unsigned Most>
void attempt_life<Most>::request_taken() noexcept {
    wants_request_ = false;
    ask();
}

template <unsigned Most>
unsigned attempt_life<Most>::take_ended() noexcept {
    if constexpr (Most == 1) {
        ended_ = 0;
        return 1;
    }
    mask const ended = ended_;
    ended_ = (ended & (ended - 1u)) & all;
    return static_cast<unsigned>(std::countr_zero(ended)) + 1;
}

template <unsigned Most>
bool attempt_life<Most>::may_ask() const noexcept {
    return ended_ == 0 && end_ == end::open && !wants_request_ && !lost_ &&
           (place_ == place::executor || place_ == place::last_of_initiation);
}

template <unsigned Most>
auto attempt_life<Most>::take_question() noexcept -> question {
    question const asked = question_;
    question_ = question::none;
    return asked;
}

template <unsigned Most>
void attempt_life<Most>::not_armed() noexcept {
    if (running_ == 0)
        abandon();
}

template <unsigned Most>
void attempt_life<Most>::revived(bool is_alive) noexcept {
    if (!is_alive)
        abandon();
}

template <unsigned Most>
void attempt_life<Most>::set_timer(timer why) noexcept {
    timer_ = why;
    waits_ = why >= timer::wait && running_ == 0;
}

template <unsigned Most>
bool attempt_life<Most>::enter(place where, life_event event) noexcept {
    bool const entered = occupancy.enter(event);
    if (entered)
        place_ = where;
    return entered;
}

template <unsigned Most>
bool attempt_life<Most>::enter_after_drop(life_event event) noexcept {
    bool const entered = others_interrupt() ? occupancy.enter_after_telling(event) : occupancy.enter(event);
    if (entered)
        place_ = place::cancellation;
    return entered;
}

template <unsigned Most>
bool attempt_life<Most>::end_attempt(unsigned number, life_step& first) noexcept {
    bool const entered = enter_after(attempt_ended(number));
    if (entered) {
        end_attempts(bit(number));
        first = timer_ == timer::limit ? life_step::free_timer : life_step::judge;
    }
    return entered;
}

template <unsigned Most>
bool attempt_life<Most>::end_wait(life_step& first) noexcept {
    return enter_after(life_event::timer_due) && set_after_timer(first);
}

template <unsigned Most>
bool attempt_life<Most>::take_notice(life_step& first) noexcept {
    return enter(place::executor, life_event::timer_due) && set_after_timer(first);
}

template <unsigned Most>
void attempt_life<Most>::go_on_here(life_event events) noexcept {
    put_in(events);
    place_ = is_in_initiation() && running_ == 0 ? place::last_of_initiation : place::executor;
}

template <unsigned Most>
life_step attempt_life<Most>::leave_for_executor() noexcept {
    if (has_executor())
        occupancy.add(life_event::called);
    return life_step::leave;
}

template <unsigned Most>
bool attempt_life<Most>::enter_after(life_event event) noexcept {
    bool const entered =
        others_interrupt() ? occupancy.enter_after_telling(event) : occupancy.enter_as_successor(event);
    if (entered)
        place_ = place::executor;
    return entered;
}

template <unsigned Most>
bool attempt_life<Most>::set_after_timer(life_step& first) noexcept {
    first = put_in_timer(false) && end_ == end::open ? life_step::ask : next();
    return true;
}

template <unsigned Most>
bool attempt_life<Most>::put_in_timer(bool is_lost) noexcept {
    bool const matters = timer_ != timer::limit || running_ != 0;
    set_timer(timer::none);
    if (is_lost) {
        lose_owner();
        lose_executor();
    } else if (matters)
        question_ = question::timer;
    return matters && !is_lost;
}

template <unsigned Most>
void attempt_life<Most>::end_attempts(unsigned numbers) noexcept {
    unsigned const ended = running_ & numbers;
    running_ = (running_ & ~ended) & all;
    ended_ = (ended_ | ended) & all;
}

template <unsigned Most>
bool attempt_life<Most>::find_owner() noexcept {
    lost_ = false;
    return running_ != 0 || timer_ >= timer::wait || end_ == end::told || end_ == end::abandoned;
}

} // namespace asio_retry::detail
