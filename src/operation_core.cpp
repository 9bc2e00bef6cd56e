#include <asio_retry/detail/operation_core.hpp>

#include <asio_retry/detail/initiation_frame.hpp>
#include <asio_retry/detail/operation_membership.hpp>
#include <asio_retry/error.hpp>

#include <new>

namespace asio_retry::detail {

/// While this thread initiates an attempt.
struct operation_core::attempt_frame : initiation_frame {
    using initiation_frame::initiation_frame;
    bool completed = false;
};

/// While this thread tells it to stop, which may end it here and now.
struct operation_core::telling_frame : attempt_frame {
    detail::occupancy& occupied;
    bool const is_outermost;
    explicit telling_frame(operation_core* self) noexcept
        : attempt_frame(self)
        , occupied(self->state_.occupancy)
        , is_outermost(occupied.begin_telling()) {}
    telling_frame(telling_frame const&) = delete;
    telling_frame& operator=(telling_frame const&) = delete;
    ~telling_frame() {
        if (completed)
            occupied.add(attempt_ended);
        if (is_outermost)
            occupied.end_telling();
    }
};

// --- the start

void operation_core::start(bool is_scoped, bool can_be_cancelled) {
    using interrupter = operation_state::interrupter;
    time_point now{};
    try {
        if (is_scoped)
            state_.let_interrupt(interrupter::scope);
        else if (machine_.limits_attempts())
            state_.let_interrupt(interrupter::limit);
        else if (can_be_cancelled)
            state_.let_interrupt(interrupter::caller);
        if (retry_scheduler::any_seeded())
            waits();
        if (is_scoped)
            membership()->join();
        now = time_for_machine();
    } catch (...) {
        return fail();
    }
    if (machine_.may_start(now) && (!is_scoped || membership()->has_room())) {
        machine_.start_with_attempt(now);
        return make_attempt();
    }
    state_.occupancy.add(start_refused); // its hook belongs on the executor
    leave();
}

void operation_core::refuse_start() {
    time_point const now = time_for_machine();
    bool const has_only_no_room = machine_.may_start(now) && state_.is_scoped() && !membership()->has_room();
    carry_out(has_only_no_room ? machine_.refuse(no_buffer_space_error(), now) : machine_.start(now));
}

/// The wait is over, or was never needed, or was cut short.
void operation_core::resume() {
    carry_out(machine_.on_wait_over(time_for_machine()));
}

void operation_core::carry_out(retry_action&& action) {
    if (action.what == retry_action::kind::attempt)
        return make_attempt();
    fail_with(error_code(), nullptr);
    complete(action);
}

// --- an attempt

void operation_core::make_attempt() {
    state_.begin_attempt();
    try {
        if (machine_.limits_attempts() && !arm_limit())
            return abandon();
    } catch (...) {
        return fail();
    }
    if (initiate_attempt())
        end_attempt();
    else
        leave();
}

/// Returns true if the attempt ended at once.
bool operation_core::initiate_attempt() {
    attempt_frame frame(this);
    try {
        start_attempt();
    } catch (...) {
        if (!state_.occupancy.take(owner_dropped | coroutine_lost) && !frame.completed)
            return false; // it goes on without its initiating function, and its completion counts
        fail_with(completion_code_of(std::current_exception()), std::current_exception());
        return true;
    }
    return frame.completed;
}

void operation_core::on_attempt_completed(bool is_success) {
    is_success_ = is_success;
    if (initiation_frame* const frame = initiation_frame::find(this))
        static_cast<attempt_frame*>(frame)->completed = true;
    else if (state_.enter_after(attempt_ended))
        end_attempt();
}

void operation_core::on_coroutine_lost() noexcept {
    if (!state_.enter(operation_state::place::executor, coroutine_lost))
        return;
    state_.occupancy.add(coroutine_lost);
    try {
        post(operation_turn::continuation);
    } catch (...) {
        see_to(state_.occupancy.take_all());
    }
}

void operation_core::end_attempt() {
    set_attempt_ended();
    if (!state_.is_in_initiation() || is_success_)
        return conclude_attempt();
    state_.occupancy.add(attempt_ended); // to be decided on the executor
    leave();
}

void operation_core::set_attempt_ended() noexcept {
    state_.end_attempt();
    if (state_.is_interruptible())
        on_attempt_over();
}

void operation_core::conclude_attempt() {
    if (!disarm_limit())
        return leave(); // the notice that is under way comes back here
    time_point now{};
    retry_action action;
    try {
        action = decide(now);
    } catch (...) {
        return fail();
    }
    if (action.what == retry_action::kind::complete)
        return complete(action);
    drop_result(); // before the wait begins
    begin_wait(now, action.delay);
}

retry_action operation_core::decide(time_point& now) {
    bool succeeded = is_success_ || !has_failed();
    if (!is_success_ && succeeded) {
        try {
            succeeded = !is_rejected();
        } catch (...) {
            return machine_.on_exception(error::predicate_threw, std::current_exception(), time_for_machine());
        }
    }
    if (succeeded)
        return machine_.on_success(time_for_machine());
    now = this->now();
    return machine_.on_failure(judge(), now, waits_.get_random());
}

// --- a wait

void operation_core::begin_wait(time_point now, duration delay) {
    state_.begin_wait();
    try {
        if (delay == duration::zero() || machine_.cancelled()) {
            state_.end_wait();
            post(operation_turn::after_wait);
        } else {
            ends_wait_ = true;
            if (!waits().schedule(*this, saturating_add(now, delay)))
                return abandon();
        }
    } catch (...) {
        return fail();
    }
    leave();
}

void operation_core::cut_wait_short() {
    if (!state_.is(operation_stage::waiting))
        return;
    if (auto* const context = own_context(); context == &waits().context()) {
        waits().end_early(*this, *context);
        return;
    }
    if (!waits().cancel(*this))
        return;
    state_.end_wait();
    try {
        post(operation_turn::after_wait);
    } catch (...) {
        state_.occupancy.add(wait_ended);
    }
}

// --- what happens meanwhile

void operation_core::on_turn(operation_turn turn) {
    using place = operation_state::place;
    switch (turn) {
    case operation_turn::after_wait:
        if (state_.enter_after(wait_ended))
            resume();
        return;
    case operation_turn::continuation:
        state_.go_to_executor();
        return leave();
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
    case operation_turn::continuation: {
        state_.go_to_executor();
        operation_event events = state_.occupancy.take_all();
        do {
            if ((events & scope_noticed) != 0)
                membership()->take_request();
            if (state_.is_lost(events))
                return abandon();
            events =
                state_.occupancy.leave(); // to the attempt or the wait that goes on, and will be dropped too
        } while (events != nothing);
        return;
    }
    case operation_turn::limit_notice:
        state_.disarm_limit();
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

/// Lets others in. The last access to *this, unless something happened meanwhile.
void operation_core::leave() {
    operation_event const events = state_.occupancy.leave();
    if (events == nothing)
        return;
    if (state_.is_on_executor() || (events & owner_dropped) != 0)
        return see_to(events);
    state_.occupancy.add(events);
    try {
        post(operation_turn::continuation);
    } catch (...) {
        see_to(state_.occupancy.take_all());
    }
}

void operation_core::see_to(operation_event events) {
    scope_request const request =
        (events & scope_noticed) != 0 ? membership()->take_request() : scope_request::none;
    bool const was_attempting = state_.is(operation_stage::attempting);
    operation_step const step = state_.next(events);
    if (was_attempting && state_.is(operation_stage::judging))
        set_attempt_ended();
    std::exception_ptr thrown; // by who was told to stop
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
    } else if (request != scope_request::none) {
        if (request == scope_request::drain)
            machine_.drain();
        cut_wait_short();
    }
    if ((events & limit_reached) != 0 && state_.is(operation_stage::attempting)) {
        machine_.on_attempt_limit();
        tell([this] { stop_attempt(asio::cancellation_type::terminal); });
    }
    if ((events & coroutine_lost) != 0)
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

/// Tells the attempt to stop, or cuts the wait short.
void operation_core::pass_on(asio::cancellation_type_t type) {
    if (state_.is(operation_stage::attempting))
        stop_attempt(type);
    else
        cut_wait_short();
}

void operation_core::stop_attempt(asio::cancellation_type_t type) {
    telling_frame const frame(this);
    if (!state_.occupancy.has(attempt_ended))
        tell_attempt(type);
}

void operation_core::on_cancelled(asio::cancellation_type_t type) {
    constexpr auto stopping = asio::cancellation_type::terminal | asio::cancellation_type::partial;
    if ((type & stopping) != asio::cancellation_type::none)
        machine_.cancel();
    else if ((type & asio::cancellation_type::total) == asio::cancellation_type::none ||
             !machine_.cancel_total())
        return;
    // If somebody is inside already, a callback or the initiation of an attempt is cancelling.
    bool const entered = state_.enter(operation_state::place::cancellation, nothing);
    std::exception_ptr thrown;
    try {
        pass_on(type);
    } catch (...) {
        thrown = std::current_exception();
    }
    if (entered)
        leave();
    if (thrown)
        std::rethrow_exception(thrown);
}

void operation_core::on_scope_notice_failed() {
    if (!state_.enter(operation_state::place::cancellation, scope_noticed))
        return; // whoever is in sees to it
    state_.occupancy.add(scope_noticed);
    try {
        return post(operation_turn::continuation);
    } catch (...) {
        state_.occupancy.take(scope_noticed);
    }
    membership()->miss_request();
    if (state_.is(operation_stage::ending))
        finish();
    else
        leave();
}

// --- the time limit of an attempt: the same node that waits serves it, never both at once

bool operation_core::arm_limit() {
    time_point const limit = machine_.attempt_limit(now());
    if (limit == time_point::max())
        return true;
    ends_wait_ = false;
    if (!waits().schedule(*this, limit))
        return false;
    state_.arm_limit();
    return true;
}

/// Returns false while a notice is under way.
bool operation_core::disarm_limit() noexcept {
    if (state_.is_limit_armed() && waits().cancel(*this))
        state_.disarm_limit();
    return !state_.is_limit_armed();
}

bool operation_core::runs_here() const noexcept {
    asio::io_context* const context = own_context();
    return context && context->get_executor().running_in_this_thread() && !context->stopped();
}

bool operation_core::on_expiry() {
    bool const waited = ends_wait_;
    auto const turn = waited ? operation_turn::after_wait : operation_turn::limit_notice;
    if (waited && runs_here()) {
        on_turn(turn);
        return true;
    }
    try {
        post(turn);
    } catch (std::bad_alloc const&) {
        return false;
    } catch (...) { // the executor takes nothing: there is nowhere else to go on
        if (!waited)
            on_turn(turn);
        else if (state_.enter(operation_state::place::executor, wait_ended))
            fail();
    }
    return true;
}

void operation_core::on_shutdown() noexcept {
    if (ends_wait_)
        drop();
    else
        state_.disarm_limit();
}

// --- the end

void operation_core::complete(retry_action const& action) {
    if (!is_success_)
        amend_result(action);
    state_.complete();
    finish();
}

/// What the operation itself needs cannot be had: memory, or an executor that takes a function.
void operation_core::fail() {
    fail_with(code_of(std::current_exception()), std::current_exception());
    if (!state_.is_in_initiation())
        return complete_failed();
    state_.occupancy.add(step_failed);
    leave();
}

/// Without values there is nothing to complete with: the handler is destroyed, and the exception tells why.
void operation_core::fail_with(error_code const& code, std::exception_ptr const& thrown) {
    is_success_ = false;
    try {
        put_failure(code, thrown);
    } catch (...) {
        abandon();
        throw;
    }
}

void operation_core::drop() noexcept {
    if (state_.enter(operation_state::place::executor, owner_dropped))
        abandon();
}

/// The end without a completion: nobody will carry the operation on.
void operation_core::abandon() noexcept {
    state_.abandon();
    finish();
}

void operation_core::finish() {
    if (!disarm_limit() || (state_.is_scoped() && !membership()->leave()))
        return leave(); // the notice that is under way comes back here
    if (slot_connected_)
        disconnect_slot();
    if (state_.was_abandoned())
        return dissolve();
    end_attempts();
    if (state_.is_in_initiation())
        deliver_later();
    else
        deliver();
}

} // namespace asio_retry::detail
