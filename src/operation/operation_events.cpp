#include <asio_retry/detail/operation/operation_core.hpp>

#include <asio_retry/detail/handler/runs_here.hpp>
#include <asio_retry/detail/handler/stack_mark.hpp>
#include <asio_retry/detail/operation/operation_membership.hpp>
#include <asio_retry/error.hpp>

#include <exception>
#include <memory>
#include <new>

namespace asio_retry::detail {

using enum operation_event;

/// Marks that this thread emits to an attempt, which may end it at once.
class operation_core::telling_mark : stack_mark {
public:
    explicit telling_mark(operation_core& operation) noexcept
        : stack_mark(&operation)
        , occupied_(operation.state_.occupancy)
        , is_outermost_(occupied_.begin_telling()) {}
    telling_mark(telling_mark const&) = delete;
    telling_mark& operator=(telling_mark const&) = delete;
    ~telling_mark() {
        if (completed)
            occupied_.add(attempt_ended);
        if (is_outermost_)
            occupied_.end_telling();
    }

private:
    detail::occupancy& occupied_;
    bool const is_outermost_;
};

void operation_core::on_turn(operation_turn turn) {
    using place = operation_state::place;
    switch (turn) {
    case operation_turn::after_wait:
        if (state_.enter_after(wait_ended))
            resume();
        return;
    case operation_turn::continuation:
    case operation_turn::continuation_aside:
        state_.go_to_executor();
        return leave();
    case operation_turn::delivery:
        return deliver();
    case operation_turn::limit_notice:
        if (state_.enter(place::executor, limit_reached))
            see_to(limit_reached);
        return;
    case operation_turn::scope_notice:
        if (state_.enter(place::executor, scope_noticed))
            see_to(scope_noticed);
        return;
    }
}

void operation_core::on_turn_dropped(operation_turn turn) noexcept {
    switch (turn) {
    case operation_turn::after_wait:
        return drop();
    case operation_turn::continuation:
    case operation_turn::continuation_aside: {
        state_.go_to_executor();
        operation_event events = state_.occupancy.take_all();
        do {
            if ((events & scope_noticed) != nothing)
                membership()->take_request();
            if (state_.advance_without_turn(events))
                return abandon();
            events = state_.occupancy.leave(); // the attempt or the wait goes on and will be dropped too
        } while (events != nothing);
        return;
    }
    case operation_turn::delivery:
        return dissolve();
    case operation_turn::limit_notice:
        state_.forget_limit();
        if (state_.is(operation_stage::ending) || state_.is(operation_stage::judging))
            drop();
        return;
    case operation_turn::scope_notice:
        membership()->take_request();
        if (state_.is(operation_stage::ending))
            drop();
        return;
    }
}

/// Lets other threads in, or handles events that came meanwhile. May destroy *this, so no code may follow a
/// call.
void operation_core::leave() {
    operation_event const events = state_.occupancy.leave();
    if (events == nothing)
        return;
    if (state_.is_on_executor() || (events & owner_dropped) != nothing)
        return see_to(events);
    state_.occupancy.add(events);
    try {
        post(state_.is(operation_stage::attempting) ? operation_turn::continuation_aside
                                                    : operation_turn::continuation);
    } catch (...) {
        see_to(state_.occupancy.take_all());
    }
}

void operation_core::see_to(operation_event events) {
    auto const [request, spread] =
        (events & scope_noticed) != nothing ? membership()->take_request() : timed_request();
    bool const was_attempting = state_.is(operation_stage::attempting);
    operation_step const step = state_.advance(events);
    if (was_attempting && state_.is(operation_stage::judging))
        clear_attempt();
    std::exception_ptr thrown; // by an attempt that was stopped
    auto const tell = [&](auto telling) {
        try {
            telling();
        } catch (...) {
            thrown = std::current_exception();
        }
    };
    if (request == scope_request::cancel) {
        if (state_.is(operation_stage::attempting) && !machine_.tells_attempt())
            membership()->count_stopped_attempt();
        machine_.cancel();
        tell([this] { pass_on(asio::cancellation_type::terminal); });
    } else if (request == scope_request::retry_within) {
        end_wait_within(spread);
    } else if (request != scope_request::none) {
        if (request == scope_request::drain)
            machine_.drain();
        cut_wait_short();
    }
    if ((events & limit_reached) != nothing && state_.is(operation_stage::attempting)) // or it came too late
        tell([this] { on_limit_reached(); });
    if ((events & coroutine_lost) != nothing)
        fail_with(no_memory_error(), std::make_exception_ptr(std::bad_alloc()));
    take_step(step);
    if (thrown)
        std::rethrow_exception(thrown);
}

void operation_core::take_step(operation_step step) {
    switch (step) {
    case operation_step::leave:
        return leave();
    case operation_step::refuse_start:
        return refuse_start();
    case operation_step::conclude_attempt:
        return conclude_attempt();
    case operation_step::resume:
        return resume();
    case operation_step::complete_failed:
        return complete_failed();
    case operation_step::finish:
        return finish();
    case operation_step::abandon:
        return abandon();
    }
}

/// Emits to the attempt, or cuts the wait short.
void operation_core::pass_on(asio::cancellation_type_t type) {
    if (state_.is(operation_stage::attempting))
        stop_attempt(type);
    else
        cut_wait_short();
}

void operation_core::stop_attempt(asio::cancellation_type_t type) {
    telling_mark const mark(*this);
    if (!state_.occupancy.has(attempt_ended))
        signal_attempt(type);
}

void operation_core::on_limit_reached() {
    time_point const reached = expiry();
    if (!renew_limit(reached))
        time_out_attempt(reached);
}

/// Stops the attempt and arms the next limit. An attempt that has just ended by itself has not timed out.
void operation_core::time_out_attempt(time_point reached) {
    telling_mark const mark(*this);
    if (state_.occupancy.has(attempt_ended))
        return;
    watch_limit(machine_.on_attempt_limit(reached));
    signal_attempt(asio::cancellation_type::terminal);
}

void operation_core::on_cancelled(asio::cancellation_type_t type) {
    constexpr auto stopping = asio::cancellation_type::terminal | asio::cancellation_type::partial;
    if ((type & stopping) != asio::cancellation_type::none)
        machine_.cancel();
    else if ((type & asio::cancellation_type::total) == asio::cancellation_type::none ||
             !machine_.cancel_total())
        return;
    // If the operation is occupied, a callback or the initiation of an attempt is cancelling, or another thread
    // is about to leave. Then the occupant handles what the attempt does.
    using place = operation_state::place;
    bool const entered = state_.enter(place::cancellation, nothing);
    std::exception_ptr thrown;
    try {
        pass_on(type);
    } catch (...) {
        thrown = std::current_exception();
    }
    if (entered || state_.enter(place::cancellation, nothing))
        leave();
    if (thrown)
        std::rethrow_exception(thrown);
}

void operation_core::on_scope_notice_failed() {
    if (!state_.enter(operation_state::place::cancellation, scope_noticed))
        return; // the occupant handles it
    state_.occupancy.add(scope_noticed);
    try {
        return post(operation_turn::continuation_aside);
    } catch (...) {
        state_.occupancy.take(scope_noticed);
    }
    membership()->miss_request();
    if (state_.is(operation_stage::ending))
        finish();
    else
        leave();
}

// --- the time limit of an attempt: the node of the wait serves it too, never both at once

bool operation_core::arm_limit(time_point now) {
    return arm_limit_at(machine_.attempt_limit(now));
}

bool operation_core::arm_limit_at(time_point limit) {
    if (limit == time_point::max())
        return true;
    ends_wait_ = false;
    if (!scheduler().schedule(*this, limit))
        return false;
    state_.expect_limit();
    return true;
}

/// Arms the limit again if the attempt has reported something that moves it. Returns false if its time is up.
bool operation_core::renew_limit(time_point reached) noexcept {
    if (!machine_.hears_attempt())
        return false;
    time_point const limit = machine_.renewed_limit(reached);
    return limit > reached && watch_limit(limit);
}

bool operation_core::watch_limit(time_point limit) noexcept {
    try {
        return arm_limit_at(limit);
    } catch (...) { // no memory to schedule it
        return false;
    }
}

/// Returns false while a notice is under way.
bool operation_core::disarm_limit() noexcept {
    if (state_.expects_limit() && scheduler().cancel(*this))
        state_.forget_limit();
    return !state_.expects_limit();
}

bool operation_core::runs_here() const noexcept {
    return detail::runs_here(own_context());
}

/// A wait may end in the scheduler's turn. A limit needs a turn of its own, because stopping an attempt runs
/// the user's code.
bool operation_core::on_expiry() {
    bool const waited = ends_wait_;
    auto const turn = waited ? operation_turn::after_wait : operation_turn::limit_notice;
    if (waited && runs_here()) {
        on_turn(turn);
        return true;
    }
    return post_or_end([&] { post(turn); },
                       [&] {
                           if (!waited)
                               on_turn(turn);
                           else if (state_.enter(operation_state::place::executor, wait_ended))
                               fail();
                       });
}

void operation_core::on_shutdown() noexcept {
    if (ends_wait_) {
        forget_waiting_place();
        drop();
    } else {
        on_turn_dropped(operation_turn::limit_notice);
    }
}

} // namespace asio_retry::detail
