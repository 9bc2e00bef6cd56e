#include <asio_retry/detail/hedge/hedge_core.hpp>

#include <asio_retry/detail/handler/stack_mark.hpp>
#include <asio_retry/error.hpp>

#include <new>
#include <utility>

namespace asio_retry::detail {

template class ASIO_RETRY_DEFINE_INSTANTIATION basic_membership<hedge_core>;

// --- the start

void hedge_core::start(bool is_scoped) {
    try {
        scheduler_.find_in(context(), own_context());
        if (is_scoped) {
            membership()->link();
            is_linked_ = true;
        }
        time_point const begin = now();
        if (is_scoped && !membership()->has_room())
            machine_.refuse(no_buffer_space_error());
        else
            machine_.start(begin);
        if (machine_.next(begin).what != hedge_action::kind::begin)
            has_result_ = true;
    } catch (...) {
        return fail();
    }
    if (has_result_)
        return finish();
    initiate_attempt(1);
    if (occupancy_.has(ended(1)) &&
        slot(1).is_success) { // a result that must be judged is judged on the executor
        occupancy_.take(ended(1));
        end_attempt(slot(1));
        std::exception_ptr thrown;
        return carry_on(thrown);
    }
    try {
        arm(machine_.expiry());
    } catch (...) {
        machine_.fail(code_of(std::current_exception()), std::current_exception());
        occupancy_.add(hedge_event::called);
    }
    leave();
}

void hedge_core::fail() {
    machine_.fail(code_of(std::current_exception()), std::current_exception());
    machine_.next({});
    has_result_ = true;
    finish();
}

// --- what it does for its machine

void hedge_core::see_to(hedge_event events) {
    std::exception_ptr thrown; // by an attempt that was stopped
    if ((events & hedge_event::timer_expired) != hedge_event::nothing)
        is_armed_ = false;
    if ((events & hedge_event::handler_returned) != hedge_event::nothing)
        is_called_ = true;
    if ((events & hedge_event::scope_noticed) != hedge_event::nothing)
        obey(membership()->take_request());
    end_attempts(events);
    if (thrown_by_value_)
        thrown = std::exchange(thrown_by_value_, nullptr);
    carry_on(thrown);
    if (thrown)
        std::rethrow_exception(thrown);
}

void hedge_core::obey(timed_request const& request) {
    switch (request.what) {
    case scope_request::none:
        return;
    case scope_request::retry_within:
        return machine_.begin_by(time_within(request.spread, now(), scheduler_.get_random()));
    case scope_request::retry_now:
        return machine_.begin_by(now());
    case scope_request::drain:
        return machine_.drain();
    case scope_request::cancel:
        if (machine_.running() > 0 && !machine_.is_cancelled())
            membership()->count_stopped_attempt();
        return machine_.cancel_by_scope();
    }
}

/// The last access to *this, unless another thread has left an event meanwhile.
void hedge_core::carry_on(std::exception_ptr& thrown) {
    if (take_steps(thrown))
        leave();
    else
        finish();
}

/// Carries out the machine's steps until it waits or ends. Returns whether it waits.
bool hedge_core::take_steps(std::exception_ptr& thrown) {
    using kind = hedge_action::kind;
    for (;;) {
        if (is_abandoned_ || (has_result_ && !is_delivered_))
            return false;
        try {
            bool const needs_time =
                machine_.wants_results() || machine_.measures_successes() || machine_.watches_deadline();
            hedge_action const action = machine_.next(needs_time ? now() : time_point());
            switch (action.what) {
            case kind::begin:
                initiate_attempt(static_cast<unsigned>(action.attempt));
                if (thrown_by_value_)
                    thrown = std::exchange(thrown_by_value_, nullptr);
                end_attempts(occupancy_.take_those(hedge_event::all_attempts));
                break;
            case kind::stop:
                tell_all(asio::cancellation_type::terminal, thrown);
                end_attempts(occupancy_.take_those(hedge_event::all_attempts));
                break;
            case kind::wait:
                if (arm(action.until) || machine_.running() != 0)
                    return true;
                is_abandoned_ = true; // the context is being destroyed
                break;
            case kind::deliver:
                has_result_ = true;
                break;
            case kind::abandon:
                is_abandoned_ = true;
                break;
            case kind::done:
                return false;
            }
        } catch (...) { // no memory, or an executor that takes no function
            machine_.fail(code_of(std::current_exception()), std::current_exception());
        }
    }
}

/// An initiation that throws, and has not kept its handler, is a failed attempt.
void hedge_core::initiate_attempt(unsigned number) {
    hedge_slot& one = slot(number);
    stack_mark const mark(this);
    try {
        start_attempt(one);
    } catch (...) {
        if (!occupancy_.has(ended(number)) || one.outcome == hedge_slot::fate::completed)
            return;
        try {
            put_failure(one, completion_code_of(std::current_exception()), std::current_exception());
            one.outcome = hedge_slot::fate::completed;
        } catch (...) { // no result can be made
            thrown_by_value_ = std::current_exception();
        }
    }
}

void hedge_core::end_attempts(hedge_event events) {
    for (unsigned number = 1; number <= machine_.begun(); ++number)
        if ((events & ended(number)) != hedge_event::nothing)
            end_attempt(slot(number));
}

void hedge_core::end_attempt(hedge_slot& one) {
    using fate = hedge_slot::fate;
    on_attempt_over(one);
    bool keeps = false;
    if (one.outcome == fate::dropped) {
        machine_.on_dropped(one.number);
    } else if (!machine_.wants_results()) {
        machine_.on_unwanted(one.number, machine_.was_too_late() ? now() : time_point());
    } else {
        try {
            if (one.outcome == fate::lost)
                put_failure(one, no_memory_error(), std::make_exception_ptr(std::bad_alloc()));
            keeps = judge_attempt(one);
        } catch (...) {
            if (machine_.is_running(one.number))
                machine_.on_exception(one.number, code_of(std::current_exception()), std::current_exception(),
                                      now());
        }
    }
    if (!keeps)
        drop_result(one);
}

/// Returns whether its result will be delivered.
bool hedge_core::judge_attempt(hedge_slot& one) {
    bool const failed = has_failed(one);
    judgement judged;
    if (!failed && !one.is_success) {
        try {
            judged = judge_values(one);
        } catch (...) {
            return machine_.on_exception(one.number, error::predicate_threw, std::current_exception(), now());
        }
    }
    if (!failed && !judged.failed)
        return machine_.on_success(one.number, machine_.measures_successes() ? now() : time_point());
    return machine_.on_failure(one.number, failed ? judge(one) : verdict::rejected(judged), now());
}

// --- its timer

/// Returns false when the context is being destroyed.
bool hedge_core::arm(time_point expiry) {
    if (is_armed_ && (this->expiry() == expiry || !disarm()))
        return true; // or its notice is under way; when that arrives, the timer is armed again
    if (expiry == time_point::max())
        return true;
    is_armed_ = scheduler_.get().schedule(*this, expiry);
    return is_armed_;
}

/// Returns false while its notice is under way.
bool hedge_core::disarm() noexcept {
    if (is_armed_ && scheduler_.get().cancel(*this))
        is_armed_ = false;
    return !is_armed_;
}

// --- the end

void hedge_core::finish() {
    if (!disarm() || (is_linked_ && !membership()->unlink(machine_.running() == 0)))
        return leave(); // the notice's turn calls `finish` again
    is_linked_ = false;
    if (is_abandoned_) {
        forget_caller();
        return dissolve();
    }
    if (is_delivered_) {
        if (is_called_ && machine_.running() == 0)
            return dissolve();
        return leave();
    }
    if (place_ != place::executor && (place_ == place::cancellation || machine_.running() > 0)) {
        occupancy_.add(hedge_event::called);
        return leave();
    }
    forget_caller();
    if (place_ == place::initiation)
        return deliver_later();
    hedge_action const action = machine_.delivery();
    if (machine_.running() == 0)
        return deliver(action);
    is_delivered_ = true;
    deliver_and_stay(action);
}

void hedge_core::deliver_later() {
    try {
        post(hedge_turn::delivery);
    } catch (...) { // nobody else knows it any more
        dissolve();
        throw;
    }
}

} // namespace asio_retry::detail
