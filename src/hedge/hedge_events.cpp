#include <asio_retry/detail/hedge/hedge_core.hpp>

#include <asio_retry/detail/handler/stack_mark.hpp>
#include <asio_retry/error.hpp>

#include <exception>

// The events of a hedged operation.

namespace asio_retry::detail {

/// Marks that this thread emits to the attempts, which may end them at once.
class hedge_core::telling_mark : stack_mark {
public:
    explicit telling_mark(hedge_core& operation) noexcept
        : stack_mark(&operation)
        , occupied_(operation.occupancy_)
        , is_outermost_(occupied_.begin_telling()) {}
    telling_mark(telling_mark const&) = delete;
    telling_mark& operator=(telling_mark const&) = delete;
    ~telling_mark() {
        if (is_outermost_)
            occupied_.end_telling();
    }

private:
    basic_occupancy<hedge_event>& occupied_;
    bool const is_outermost_;
};

bool hedge_core::enter(place where, hedge_event event) noexcept {
    bool const entered = occupancy_.enter(event);
    if (entered)
        place_ = where;
    return entered;
}

// --- the attempts

/// If this thread is starting an attempt or emitting to attempts, the event is handled afterwards.
void hedge_core::on_attempt_ended(hedge_slot& one) {
    one.outcome = hedge_slot::fate::completed;
    if (stack_mark::find(this))
        return occupancy_.add(ended(one.number));
    if (!occupancy_.enter_after_telling(ended(one.number)))
        return;
    place_ = place::executor;
    see_to(ended(one.number));
}

/// Its handler was destroyed, most likely with its context: do not call the user's code.
void hedge_core::on_attempt_dropped(hedge_slot& one) noexcept {
    one.outcome = hedge_slot::fate::dropped;
    if (stack_mark::find(this))
        return occupancy_.add(ended(one.number));
    if (!enter(place::cancellation, ended(one.number)))
        return;
    on_attempt_over(one);
    machine_.on_dropped(one.number);
    rest();
}

void hedge_core::on_attempt_lost(hedge_slot& one) noexcept {
    one.outcome = hedge_slot::fate::lost;
    if (stack_mark::find(this))
        return occupancy_.add(ended(one.number));
    if (!enter(place::cancellation, ended(one.number)))
        return;
    occupancy_.add(ended(one.number));
    leave();
}

/// Emits to each running attempt. Each emission may end its attempt, throw, or cancel again.
void hedge_core::tell_all(asio::cancellation_type_t type, std::exception_ptr& thrown) {
    telling_mark const mark(*this);
    for (unsigned number = 1; number <= machine_.begun(); ++number) {
        if (!machine_.is_running(number) || occupancy_.has(ended(number)))
            continue;
        try {
            signal_attempt(slot(number), type);
        } catch (...) {
            thrown = std::current_exception();
        }
    }
}

// --- cancellation

void hedge_core::on_cancelled(asio::cancellation_type_t type) {
    constexpr auto stopping = asio::cancellation_type::terminal | asio::cancellation_type::partial;
    if ((type & stopping) != asio::cancellation_type::none)
        machine_.cancel((type & asio::cancellation_type::terminal) != asio::cancellation_type::none);
    else if ((type & asio::cancellation_type::total) == asio::cancellation_type::none ||
             !machine_.cancel_total())
        return;
    // If the operation is occupied, a callback or the initiation of an attempt is cancelling, or another thread
    // is about to leave.
    bool const entered = enter(place::cancellation, hedge_event::nothing);
    std::exception_ptr thrown;
    tell_all(type, thrown);
    if (entered || enter(place::cancellation, hedge_event::called)) {
        occupancy_.add(hedge_event::called);
        leave();
    }
    if (thrown)
        std::rethrow_exception(thrown);
}

void hedge_core::on_scope_notice_failed() {
    if (!enter(place::cancellation, hedge_event::scope_noticed))
        return; // the occupant handles it
    occupancy_.add(hedge_event::scope_noticed);
    try {
        return post(hedge_turn::continuation);
    } catch (...) {
        occupancy_.take(hedge_event::scope_noticed);
    }
    membership()->miss_request();
    if (is_abandoned_ || has_result_)
        finish();
    else
        leave();
}

// --- turns

void hedge_core::on_turn(hedge_turn turn) {
    switch (turn) {
    case hedge_turn::delivery:
        return deliver(machine_.delivery());
    case hedge_turn::continuation:
        place_ = place::executor;
        return leave();
    case hedge_turn::timer_notice:
        if (enter(place::executor, hedge_event::timer_expired))
            see_to(hedge_event::timer_expired);
        return;
    case hedge_turn::scope_notice:
        if (enter(place::executor, hedge_event::scope_noticed))
            see_to(hedge_event::scope_noticed);
        return;
    }
}

void hedge_core::on_turn_dropped(hedge_turn turn) noexcept {
    hedge_event events = hedge_event::nothing;
    switch (turn) {
    case hedge_turn::delivery:
        return dissolve();
    case hedge_turn::continuation:
        events = occupancy_.take_all();
        break;
    case hedge_turn::timer_notice:
        if (!enter(place::cancellation, hedge_event::timer_expired))
            return;
        is_armed_ = false;
        break;
    case hedge_turn::scope_notice:
        if (!enter(place::cancellation, hedge_event::scope_noticed))
            return;
        events = hedge_event::scope_noticed;
        break;
    }
    if ((events & hedge_event::scope_noticed) != hedge_event::nothing)
        membership()->take_request();
    if ((events & hedge_event::timer_expired) != hedge_event::nothing)
        is_armed_ = false;
    if ((events & hedge_event::handler_returned) != hedge_event::nothing)
        is_called_ = true;
    for (unsigned number = 1; number <= machine_.begun(); ++number)
        if ((events & ended(number)) != hedge_event::nothing) {
            on_attempt_over(slot(number));
            machine_.on_dropped(number);
        }
    place_ = place::cancellation;
    rest();
}

/// Lets other threads in.
void hedge_core::leave() {
    hedge_event const events = occupancy_.leave();
    if (events == hedge_event::nothing)
        return;
    if (place_ == place::executor)
        return see_to(events);
    occupancy_.add(events);
    try {
        post(hedge_turn::continuation);
    } catch (...) {
        place_ = place::executor;
        see_to(occupancy_.take_all());
    }
}

/// Whether another owner will go on with the operation.
bool hedge_core::may_rest() noexcept {
    if (machine_.running() > 0 || is_armed_)
        return true;
    try {
        return machine_.has_end() && !is_delivered_ && arm(now());
    } catch (...) { // no memory
        return false;
    }
}

/// An owner that would have gone on with the operation is gone. Without another owner the operation is
/// abandoned. If it has a result to deliver, the scheduler gives it a turn, unless its context is being
/// destroyed.
void hedge_core::rest() noexcept {
    if (is_abandoned_ || (is_delivered_ && machine_.running() == 0))
        return finish();
    if (!may_rest()) {
        is_abandoned_ = true;
        return finish();
    }
    try {
        leave();
    } catch (...) {
        // No caller can receive the exception of the user's code, and *this may be destroyed.
    }
}

bool hedge_core::on_expiry() {
    return post_or_end([this] { post(hedge_turn::timer_notice); },
                       [this] { on_turn(hedge_turn::timer_notice); });
}

void hedge_core::on_shutdown() noexcept {
    if (!enter(place::cancellation, hedge_event::timer_expired))
        return;
    is_armed_ = false;
    if (machine_.running() == 0 && !is_delivered_) {
        is_abandoned_ = true;
        forget_waiting_place();
    }
    rest();
}

void hedge_core::on_handler_returned() {
    if (enter(place::executor, hedge_event::handler_returned))
        see_to(hedge_event::handler_returned);
}

} // namespace asio_retry::detail
