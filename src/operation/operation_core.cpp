#include <asio_retry/detail/operation/operation_core.hpp>

#include <asio_retry/detail/attempt/decide.hpp>
#include <asio_retry/detail/handler/stack_mark.hpp>
#include <asio_retry/detail/operation/operation_membership.hpp>
#include <asio_retry/error.hpp>

#include <new>

namespace asio_retry::detail {

using enum operation_event;

// --- the start

void operation_core::start(bool is_scoped, bool can_be_cancelled) {
    if (is_scoped || can_be_cancelled || !machine_.asks_nothing() || retry_scheduler::any_seeded())
        return start_watched(is_scoped, can_be_cancelled);
    machine_.start_with_attempt();
    make_attempt({});
}

/// Starts an operation that something may interrupt, or whose machine must be asked first.
void operation_core::start_watched(bool is_scoped, bool can_be_cancelled) {
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
            scheduler();
        if (is_scoped)
            membership()->link();
        now = time_for(machine_);
    } catch (...) {
        return fail();
    }
    if (machine_.may_start(now) && (!is_scoped || membership()->has_room()) && machine_.start_with_attempt(now))
        return make_attempt(now);
    state_.occupancy.add(start_refused); // its hook must run on the executor
    leave();
}

void operation_core::refuse_start() {
    time_point const now = time_for(machine_);
    bool const has_only_no_room =
        (machine_.may_start(now) || machine_.was_refused()) && state_.is_scoped() && !membership()->has_room();
    carry_out(has_only_no_room ? machine_.refuse(no_buffer_space_error(), now) : begin(machine_, *this, now),
              now);
}

/// The wait is over, was not needed, or was cut short.
void operation_core::resume() {
    time_point const now = time_for(machine_);
    carry_out(decide_after_wait(machine_, *this, now), now);
}

void operation_core::carry_out(retry_action&& action, time_point now) {
    if (action.what == retry_action::kind::attempt)
        return make_attempt(now);
    if (action.what == retry_action::kind::wait)
        return begin_wait(now, action.delay);
    fail_with(error_code(), nullptr); // no result is left: an empty one, which the action amends
    complete(action);
}

// --- an attempt

void operation_core::make_attempt(time_point now) {
    state_.begin_attempt();
    try {
        if (machine_.limits_attempts() && !arm_limit(now))
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
    stack_mark mark(this);
    try {
        start_attempt();
    } catch (...) {
        if (!state_.occupancy.take(owner_dropped | coroutine_lost) && !mark.completed)
            return false; // the attempt goes on although its initiating function threw, and will complete
        fail_with(completion_code_of(std::current_exception()), std::current_exception());
        return true;
    }
    return mark.completed;
}

void operation_core::on_result_kept(bool has_failed) {
    is_success_ = !has_failed && !judges_results_;
    if (stack_mark* const mark = stack_mark::find(this))
        mark->completed = true;
    else if (state_.enter_after(attempt_ended))
        is_success_ && !state_.is_interruptible() ? succeed_unwatched() : end_attempt();
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
    state_.begin_judging();
    clear_attempt();
    if (!state_.is_in_initiation() || (is_success_ && !machine_.hears_success()))
        return conclude_attempt();
    state_.occupancy.add(attempt_ended); // decided on the executor
    leave();
}

void operation_core::clear_attempt() noexcept {
    if (state_.is_interruptible())
        clear_slot();
}

void operation_core::conclude_attempt() {
    if (!disarm_limit())
        return leave(); // the notice's turn calls this again, through see_to
    if (is_success_)
        return succeed();
    time_point now{};
    retry_action action;
    try {
        action = decide(
            machine_, has_failed(), [this] { return judge_values(); }, [this] { return judge(); }, *this, now);
    } catch (...) {
        return fail();
    }
    if (action.what == retry_action::kind::complete)
        return complete(action);
    drop_result(); // the result is destroyed before the wait begins
    begin_wait(now, action.delay);
}

/// No slot is to clear, and no notice may be under way.
void operation_core::succeed_unwatched() {
    if (machine_.tells_success())
        return succeed();
    state_.complete();
    release_coroutine();
    deliver();
}

/// A success needs no decision.
void operation_core::succeed() {
    try {
        machine_.on_success(machine_.is_observed() ? now() : time_point());
    } catch (...) {
        return fail();
    }
    state_.complete();
    finish();
}

// --- a wait

void operation_core::begin_wait(time_point now, duration delay) {
    state_.begin_wait();
    try {
        if (delay == duration::zero() || machine_.cancelled()) {
            state_.skip_wait();
            post(operation_turn::after_wait);
        } else {
            ends_wait_ = true;
            if (!scheduler().schedule(*this, saturating_add(now, delay)))
                return abandon();
        }
    } catch (...) {
        return fail();
    }
    leave();
}

/// On the scheduler's own context all waits that are cut short share one turn; until then the scheduler keeps
/// this wait. On any other executor this wait needs a turn of its own.
void operation_core::cut_wait_short() {
    if (!state_.is(operation_stage::waiting))
        return;
    if (auto* const context = own_context(); context == &scheduler().context()) {
        scheduler().end_early(*this, *context);
        return;
    }
    if (!scheduler().cancel(*this))
        return;
    state_.skip_wait();
    try {
        post(operation_turn::after_wait);
    } catch (...) {
        state_.occupancy.add(wait_ended);
    }
}

/// Ends the wait at a random time within `spread`, or at its own time if that is earlier.
void operation_core::end_wait_within(duration spread) {
    if (state_.is(operation_stage::waiting))
        scheduler().end_by(*this, time_within(spread, now(), get_random()));
}

// --- the end

void operation_core::complete(retry_action const& action) {
    if (!is_success_)
        amend_result(action);
    state_.complete();
    finish();
}

/// The operation lacks memory, or its executor takes no function.
void operation_core::fail() {
    fail_with(code_of(std::current_exception()), std::current_exception());
    if (!state_.is_in_initiation())
        return complete_failed();
    state_.occupancy.add(step_failed);
    leave();
}

/// If no result can be made, there is nothing to complete with: the handler is destroyed, and the exception
/// tells why.
void operation_core::fail_with(error_code const& code, std::exception_ptr const& thrown) {
    is_success_ = false;
    try {
        put_failure(code, thrown);
    } catch (...) {
        release_coroutine();
        abandon();
        throw;
    }
}

void operation_core::drop() noexcept {
    if (state_.enter(operation_state::place::executor, owner_dropped))
        abandon();
}

/// Ends without a completion: no owner will go on with the operation.
void operation_core::abandon() noexcept {
    state_.abandon();
    finish();
}

void operation_core::finish() {
    if (!disarm_limit() || (state_.is_scoped() && !membership()->unlink()))
        return leave(); // the notice's turn calls this again, through see_to
    forget_caller();
    if (state_.was_abandoned())
        return dissolve();
    release_coroutine();
    if (state_.is_in_initiation())
        deliver_later();
    else
        deliver();
}

// --- attempts that were left behind

bool operation_core::count_left_attempt() noexcept {
    std::uint8_t count = left_.load(std::memory_order_relaxed);
    do {
        if (count >= most_left)
            return false;
    } while (
        !left_.compare_exchange_weak(count, static_cast<std::uint8_t>(count + 1), std::memory_order_relaxed));
    return true;
}

void operation_core::on_left_attempt_ended() noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == (has_gone | 1))
        free();
}

void operation_core::let_go() noexcept {
    if (left_.fetch_or(has_gone, std::memory_order_acq_rel) == 0)
        free();
}

void operation_core::deliver_later() {
    try {
        post(operation_turn::delivery);
    } catch (...) { // nobody else knows it any more
        dissolve();
        throw;
    }
}

} // namespace asio_retry::detail
