#pragma once

#include <asio_retry/detail/operation/driver.hpp>

#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/random.hpp>

#include "life/attempt_life.hpp"

#include <algorithm>
#include <exception>
#include <utility>

// Definitions of `driver`, only for the files that instantiate it. An entry point (the end of an attempt, a
// turn, an expiry, a cancellation) enters the operation and calls `go_on`. `take_steps` is the loop: it carries
// out the step that `life_` names, until `leave_unless_events` finds none, or until `deliver` ends the
// operation.
//
// If a step throws, `fail` makes the exception the operation's result. An exception of a cancellation handler,
// or one because no result can be made, goes to the caller: `thrown` keeps it until the loop has ended.

namespace asio_retry::detail {

/// A random time from `now` to before `now + spread`.
inline time_point time_within(duration spread, time_point now, random& source) {
    return saturating_add(now, source.uniform(duration::zero(), (std::max)(spread, duration(1)) - duration(1)));
}

/// Marks that this thread emits to the attempts, which may end them at once.
template <typename Operation, unsigned Most>
class driver<Operation, Most>::telling_mark : public stack_mark {
public:
    explicit telling_mark(driver& operation) noexcept
        : stack_mark(&operation)
        , occupied_(operation.life_.occupancy)
        , is_outermost_(occupied_.begin_telling()) {}
    telling_mark(telling_mark const&) = delete;
    telling_mark& operator=(telling_mark const&) = delete;
    ~telling_mark() {
        if (ended != 0)
            occupied_.add(static_cast<life_event>(ended));
        if (is_outermost_)
            occupied_.end_telling();
    }

    bool has(life_event event) const noexcept {
        return (ended & static_cast<std::uint32_t>(event)) != 0 || occupied_.has(event);
    }

private:
    decltype(life::occupancy)& occupied_;
    bool const is_outermost_;
};

// --- the loop

template <typename Operation, unsigned Most>
void driver<Operation, Most>::go_on() {
    go_on(life_.next());
}

template <typename Operation, unsigned Most>
[[gnu::noinline]] // inlining would slow down each end of an attempt
void driver<Operation, Most>::go_on(life_step first) {
    std::exception_ptr thrown; // by a cancellation handler, or because no result can be made
    take_steps(first, thrown);
    if (thrown)
        std::rethrow_exception(thrown);
}

template <typename Operation, unsigned Most>
[[gnu::hot]] void driver<Operation, Most>::go_on_with(plan first) {
    std::exception_ptr thrown;
    life_step step = life_step::leave;
    try {
        step = carry_out(first, thrown);
    } catch (...) {
        step = fail(thrown);
    }
    if (step != life_step::leave || leave_unless_events())
        take_steps(step, thrown);
    if (thrown)
        std::rethrow_exception(thrown);
}

template <typename Operation, unsigned Most>
void driver<Operation, Most>::take_steps(life_step step, std::exception_ptr& thrown) {
    while (step < life_step::deliver) {
        try {
            if (step == life_step::judge || step == life_step::ask)
                step =
                    carry_out(step == life_step::ask ? self().next(life_.take_question())
                                                     : self().judge(self().attempt(life_.take_ended()), thrown),
                              thrown);
            else if (step == life_step::leave || perform(step, thrown))
                step = life_.next();
            else
                return;
        } catch (...) { // no memory, or an executor that takes no function
            step = fail(thrown);
        }
        if (step == life_step::leave && !leave_unless_events())
            return;
    }
    deliver(step);
}

/// Like `go_on`, but swallows exceptions: the caller cannot receive those of the user's code.
template <typename Operation, unsigned Most>
void driver<Operation, Most>::go_on_quietly() noexcept {
    try {
        go_on();
    } catch (...) { // *this may be destroyed
    }
}

/// The end. The caller's slot may end with the handler.
template <typename Operation, unsigned Most>
void driver<Operation, Most>::deliver(life_step step) {
    self().forget_caller();
    if (step == life_step::deliver) {
        self().end_attempts();
        return self().deliver();
    }
    if (step == life_step::dissolve) {
        self().leave_queue(); // while *this is whole: another thread may be waking it
        return self().dissolve();
    }
    self().end_attempts();
    if (step == life_step::deliver_later)
        return self().deliver_later();
    life_.stay();
    self().deliver_and_stay();
}

/// Returns whether to go on.
template <typename Operation, unsigned Most>
bool driver<Operation, Most>::perform(life_step step, std::exception_ptr& thrown) {
    switch (step) {
    case life_step::take_request:
        life_.request_taken();
        obey(self().membership()->take_request(), thrown);
        return true;
    case life_step::free_timer:
        return disarm() || leave_unless_events(); // if the notice is queued, its turn repeats this step
    case life_step::unlink:
        if (!self().membership()->unlink(life_.running() == 0))
            return leave_unless_events(); // the turn of the scope's notice repeats this step
        life_.unlinked();
        return true;
    default: // life_step::revive: the loop takes all other steps itself
        life_.revived(revive());
        return true;
    }
}

/// Carries out the plan and returns the next step.
template <typename Operation, unsigned Most>
[[gnu::always_inline]] // a call would slow down each step
inline life_step
driver<Operation, Most>::carry_out(plan next, std::exception_ptr& thrown) {
    if (next.what == plan_kind::begin) {
        start(next, thrown);
        return life_.next_in_rest();
    }
    switch (next.what) {
    case plan_kind::keep:
    case plan_kind::begin:
        break;
    case plan_kind::turn:
        queue_turn();
        return life_.next_in_rest();
    case plan_kind::wait:
        if (!arm(life::timer::wait, next.until))
            life_.not_armed();
        else
            self().on_waiting();
        return life_.next_in_rest();
    case plan_kind::stop:
        tell(asio::cancellation_type::terminal, true, thrown);
        life_.put_in(life_.occupancy.take_those(all_attempts));
        life_.ask();
        break;
    case plan_kind::deliver:
        life_.know_end();
        if (life_.armed_for() != life::timer::none)
            disarm();
        return life_.next_at_end();
    case plan_kind::abandon:
        life_.abandon();
        break;
    }
    return life_.next();
}

/// Makes the exception that is being handled the result. If no result can be made, the handler is destroyed and
/// the exception goes to the caller.
template <typename Operation, unsigned Most>
life_step driver<Operation, Most>::fail(std::exception_ptr& thrown) {
    try {
        if (life_.is_abandoned())
            throw;
        self().fail(code_of(std::current_exception()), std::current_exception());
        life_.ask_after_failure();
    } catch (...) {
        thrown = std::current_exception();
        self().end_attempts();
        life_.abandon();
    }
    return life_.next();
}

template <typename Operation, unsigned Most>
void driver<Operation, Most>::go_on_after_failure() {
    std::exception_ptr thrown;
    take_steps(fail(thrown), thrown);
    if (thrown)
        std::rethrow_exception(thrown);
}

/// Lets other threads in. Returns whether to go on, because they have left events.
template <typename Operation, unsigned Most>
inline bool driver<Operation, Most>::leave_unless_events() {
    life_event const events = life_.occupancy.leave();
    return any(events) && go_on_with_events(events);
}

/// Returns true if this thread handles the events. Otherwise a turn on the executor does, or they are dropped.
template <typename Operation, unsigned Most>
[[gnu::noinline]] bool driver<Operation, Most>::go_on_with_events(life_event events) {
    if (life_.is_on_executor()) {
        life_.put_in(events);
        return true;
    }
    if (!life_.has_executor()) {
        drop(events);
        return false;
    }
    life_.occupancy.add(events);
    try {
        self().post(life_.running() != 0 ? operation_turn::continuation_during_attempt
                                         : operation_turn::continuation);
        return false;
    } catch (...) {
        life_.go_on_here(life_.occupancy.take_all());
        return true;
    }
}

// --- the attempts

/// If this thread is starting an attempt or emitting to attempts, the event is handled afterwards.
template <typename Operation, unsigned Most>
[[gnu::hot]] void driver<Operation, Most>::on_attempt_ended(attempt_state& attempt) {
    life_event const event = event_of(attempt);
    if (stack_mark* const mark = stack_mark::find(this)) {
        mark->ended |= static_cast<std::uint32_t>(event);
        return;
    }
    life_step first{};
    if (!life_.end_attempt(Most == 1 ? 1 : attempt.number(), first))
        return;
    if (first == life_step::free_timer && disarm())
        first = life_step::judge;
    if (first != life_step::judge || !life_.may_end_here() || !self().succeeds_at_once(attempt))
        go_on(first);
}

/// Its handler was destroyed, most likely with its context: do not call the user's code.
template <typename Operation, unsigned Most>
void driver<Operation, Most>::on_attempt_dropped(attempt_state& attempt) noexcept {
    attempt.outcome = attempt_state::fate::dropped;
    life_event const event = event_of(attempt);
    if (stack_mark* const mark = stack_mark::find(this))
        mark->ended |= static_cast<std::uint32_t>(event);
    else if (life_.enter_after_drop(event))
        drop(event);
}

template <typename Operation, unsigned Most>
void driver<Operation, Most>::on_attempt_lost(attempt_state& attempt) noexcept {
    attempt.outcome = attempt_state::fate::lost;
    life_event const event = event_of(attempt);
    if (stack_mark* const mark = stack_mark::find(this)) {
        mark->ended |= static_cast<std::uint32_t>(event);
        return;
    }
    if (!life_.enter_after_drop(event))
        return;
    life_.occupancy.add(event);
    go_on_quietly();
}

/// Starts an attempt. The timer of a retry limits that attempt, so it is armed first. The timer of a hedge
/// may begin the next attempt, so it is armed afterwards; on the executor the machine's next plan arms it.
template <typename Operation, unsigned Most>
inline void driver<Operation, Most>::start(plan next, std::exception_ptr& thrown) {
    bool const has_timer = next.until != (time_point::max)();
    if (Operation::arms_before_start && has_timer && !arm(life::timer::limit, next.until))
        return life_.not_armed();
    attempt_state& attempt = self().attempt(next.attempt);
    attempt.outcome = attempt_state::fate::none;
    life_.starting(Most == 1 ? 1 : attempt.number());
    stack_mark const mark(this);
    try {
        self().start_attempt(attempt);
    } catch (...) {
        keep_exception(attempt, static_cast<life_event>(mark.ended), thrown);
    }
    if (mark.ended != 0) {
        if (life_.is_in_initiation() && !self().may_end_here(attempt))
            life_.occupancy.add(static_cast<life_event>(mark.ended)); // for a turn on the executor
        else
            life_.put_in(static_cast<life_event>(mark.ended));
    }
    if constexpr (!Operation::arms_before_start) {
        if (life_.is_on_executor()) {
            life_.put_in(life_.occupancy.take_those(all_attempts));
            life_.ask();
        } else if (has_timer && life_.running() != 0) {
            arm(life::timer::wait, next.until);
        }
    }
}

/// If an initiation throws and has destroyed its handler, the attempt has failed. If it has kept the handler,
/// the attempt goes on and will complete.
template <typename Operation, unsigned Most>
void driver<Operation, Most>::keep_exception(attempt_state& attempt, life_event ended,
                                             std::exception_ptr& thrown) {
    life_event const event = event_of(attempt);
    bool const has_ended = any(ended & event) || life_.occupancy.has(event);
    bool const has_result = attempt.outcome <= attempt_state::fate::succeeded; // or has not ended
    if (!has_ended || has_result)
        return;
    try {
        self().put_failure(attempt, completion_code_of(std::current_exception()), std::current_exception());
        attempt.complete(true);
    } catch (...) {
        self().go_without_result(thrown);
    }
}

/// Emits to each running attempt. Each emission may end its attempt, throw, or cancel again. An attempt that
/// another thread has ended before the emission has not timed out. `is_planned`: the machine has asked for it.
template <typename Operation, unsigned Most>
void driver<Operation, Most>::tell(asio::cancellation_type_t type, bool is_planned,
                                   std::exception_ptr& thrown) {
    telling_mark const mark(*this);
    for (unsigned number = 1; (life_.running() >> (number - 1)) != 0; ++number) {
        if (!life_.is_running(number) || mark.has(attempt_ended(number)))
            continue;
        try {
            if (is_planned)
                self().on_told_of_limit();
            self().signal_attempt(self().attempt(number), type);
        } catch (...) {
            thrown = std::current_exception();
        }
    }
}

// --- interruptions

/// The second `enter` takes over if the occupant has left before it could see what this thread has changed.
template <typename Operation, unsigned Most>
void driver<Operation, Most>::on_cancelled(asio::cancellation_type_t type) {
    interruption_wish const wish = self().cancel(type);
    if (wish.tells)
        return tell_and_go_on(wish.leaves ? asio::cancellation_type::terminal : type, wish.asks);
    if (!wish.cuts)
        return;
    bool const entered = life_.enter(place::cancellation, life_event::nothing);
    cut_wait_short();
    if (entered || life_.enter(place::cancellation, life_event::nothing))
        go_on_as_occupant();
}

/// If a callback or the initiation of an attempt cancels, or another thread is about to leave, there is an
/// occupant already. Then the occupant handles the end of the attempt, or the second `enter` does.
template <typename Operation, unsigned Most>
void driver<Operation, Most>::tell_and_go_on(asio::cancellation_type_t type, bool asks) {
    bool const entered = life_.enter(place::cancellation, life_event::nothing);
    life_event const event = asks ? life_event::called : life_event::nothing;
    std::exception_ptr thrown;
    tell(type, false, thrown);
    if (entered || life_.enter(place::cancellation, event)) {
        life_.occupancy.add(event);
        go_on_as_occupant();
    }
    if (thrown)
        std::rethrow_exception(thrown);
}

/// Continues as the occupant. Usually there is no step left.
template <typename Operation, unsigned Most>
inline void driver<Operation, Most>::go_on_as_occupant() {
    life_step const next = life_.next_in_rest();
    if (next != life_step::leave || leave_unless_events())
        go_on(next);
}

template <typename Operation, unsigned Most>
void driver<Operation, Most>::obey(timed_request const& request, std::exception_ptr& thrown) {
    interruption_wish const wish = self().obey(request);
    if (wish.tells)
        tell(asio::cancellation_type::terminal, false, thrown);
    if (wish.cuts)
        cut_wait_short();
}

template <typename Operation, unsigned Most>
void driver<Operation, Most>::on_scope_notice_failed() {
    if (!life_.enter(place::cancellation, life_event::scope_noticed))
        return; // the occupant handles it
    life_.occupancy.add(life_event::scope_noticed);
    try {
        return self().post(operation_turn::continuation_during_attempt);
    } catch (...) {
        life_.occupancy.take(life_event::scope_noticed);
    }
    self().membership()->miss_request();
    go_on();
}

/// On the scheduler's own context all waits that are cut short share one turn, and the scheduler keeps this
/// wait until that turn. On any other executor this wait needs a turn of its own.
template <typename Operation, unsigned Most>
void driver<Operation, Most>::cut_wait_short() {
    if (life_.armed_for() != life::timer::wait)
        return;
    if (self().end_timer_early() || !self().cancel_timer())
        return;
    life_.set_timer(life::timer::queued);
    try {
        self().post(operation_turn::after_wait);
    } catch (...) {
        life_.occupancy.add(life_event::timer_due);
    }
}

// --- turns

template <typename Operation, unsigned Most>
void driver<Operation, Most>::on_turn(operation_turn turn) {
    life_step first{};
    if (turn == operation_turn::after_wait) {
        if (life_.end_wait(first))
            go_on(first);
        return;
    }
    switch (turn) {
    case operation_turn::after_wait:
        return;
    case operation_turn::delivery:
        return self().deliver();
    case operation_turn::continuation:
    case operation_turn::continuation_during_attempt:
        life_.go_to_executor();
        return go_on();
    case operation_turn::timer_notice:
        if (life_.take_notice(first))
            go_on(first);
        return;
    case operation_turn::scope_notice:
        if (!life_.enter(place::executor, life_event::scope_noticed))
            return;
        life_.put_in(life_event::scope_noticed);
        return go_on();
    }
}

template <typename Operation, unsigned Most>
void driver<Operation, Most>::on_turn_dropped(operation_turn turn) noexcept {
    switch (turn) {
    case operation_turn::delivery:
        return self().dissolve();
    case operation_turn::continuation:
    case operation_turn::continuation_during_attempt:
        life_.lose_executor();
        return drop(life_.occupancy.take_all());
    case operation_turn::after_wait:
    case operation_turn::timer_notice:
        if (life_.enter(place::cancellation, life_event::timer_lost))
            drop(life_event::timer_lost);
        return;
    case operation_turn::scope_notice:
        if (life_.enter(place::cancellation, life_event::scope_noticed)) {
            life_.lose_executor();
            drop(life_event::scope_noticed);
        }
        return;
    }
}

/// Handles events whose turn or attempt was destroyed. Without another owner the operation is abandoned. If it
/// has a result to deliver, the scheduler gives it a turn, unless its executor has destroyed a turn already.
template <typename Operation, unsigned Most>
void driver<Operation, Most>::drop(life_event events) noexcept {
    if (any(events & life_event::scope_noticed))
        self().membership()->take_request();
    for (unsigned number = 1; (life_.running() >> (number - 1)) != 0; ++number)
        if (life_.is_running(number) && any(events & attempt_ended(number))) {
            self().drop_attempt(self().attempt(number));
            life_.forget(number);
        }
    life_event kept = events & life_event::returned;
    if (any(events & (life_event::timer_due | life_event::timer_lost)))
        kept = kept | life_event::timer_lost;
    life_.put_in(kept);
    life_.lose_owner();
    go_on_quietly();
}

template <typename Operation, unsigned Most>
void driver<Operation, Most>::on_handler_returned() {
    if (!life_.enter(place::executor, life_event::returned))
        return;
    life_.put_in(life_event::returned);
    go_on();
}

// --- the timer

/// Returns false when the context is being destroyed.
template <typename Operation, unsigned Most>
[[gnu::hot]] bool driver<Operation, Most>::arm(typename life::timer why, time_point until) {
    if (life_.armed_for() != life::timer::none && (expiry() == until || !disarm()))
        return true; // if the notice is queued, the machine is asked again when it arrives
    if (Most > 1 && until == (time_point::max)())
        return true;
    life_.set_timer(why);
    bool armed = false;
    try {
        armed = self().schedule_timer(until);
    } catch (...) {
        life_.set_timer(life::timer::none);
        throw;
    }
    if (!armed)
        life_.set_timer(life::timer::none);
    return armed;
}

/// A wait that is over at once needs only a turn.
template <typename Operation, unsigned Most>
void driver<Operation, Most>::queue_turn() {
    life_.set_timer(life::timer::queued);
    try {
        self().post(operation_turn::after_wait);
    } catch (...) {
        life_.set_timer(life::timer::none);
        throw;
    }
}

template <typename Operation, unsigned Most>
bool driver<Operation, Most>::revive() noexcept {
    try {
        return self().has_end() && life_.has_executor() && arm(life::timer::wait, self().now());
    } catch (...) { // no memory
        return false;
    }
}

template <typename Operation, unsigned Most>
bool driver<Operation, Most>::watch(time_point limit) noexcept {
    try {
        return limit == (time_point::max)() || arm(life::timer::limit, limit);
    } catch (...) { // no memory to schedule it
        return false;
    }
}

/// Returns false while the notice is queued.
template <typename Operation, unsigned Most>
bool driver<Operation, Most>::disarm() noexcept {
    if (life_.armed_for() != life::timer::queued && self().cancel_timer()) {
        life_.set_timer(life::timer::none);
        return true;
    }
    return false;
}

/// A wait without an attempt may end in the scheduler's turn. A limit needs a turn of its own, because stopping
/// an attempt runs the user's code.
template <typename Operation, unsigned Most>
bool driver<Operation, Most>::on_expiry() {
    if (!life_.waits() || !runs_here(self().own_context()))
        return post_expiry();
    on_turn(operation_turn::after_wait);
    return true;
}

/// Queues the turn of an expired timer. If the executor takes no turn, a limit is handled here, and a wait ends
/// the operation with the exception. Returns false without memory: the scheduler tries again.
template <typename Operation, unsigned Most>
bool driver<Operation, Most>::post_expiry() {
    bool const waits = life_.waits();
    auto const turn = waits ? operation_turn::after_wait : operation_turn::timer_notice;
    return post_or_end([&] { self().post_expired(turn); },
                       [&] {
                           if (!waits)
                               return on_turn(turn);
                           if (!life_.enter(place::executor, life_event::timer_due))
                               return;
                           life_.put_in(life_event::timer_due);
                           go_on_after_failure();
                       });
}

template <typename Operation, unsigned Most>
void driver<Operation, Most>::on_shutdown() noexcept {
    if (life_.waits())
        self().forget_waiting_place();
    if (life_.enter(place::cancellation, life_event::timer_lost))
        drop(life_event::timer_lost);
}

} // namespace asio_retry::detail
