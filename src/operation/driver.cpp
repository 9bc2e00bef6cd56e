#include "operation/driver_loop.hpp"

#include <asio_retry/detail/attempt/decide.hpp>

#include <new>
#include <utility>

namespace asio_retry::detail {

template class ASIO_RETRY_DEFINE_INSTANTIATION driver<retry_driver, 1>;
template class ASIO_RETRY_DEFINE_INSTANTIATION basic_membership<retry_driver>;

retry_driver::~retry_driver() = default;

// --- defaults that derived classes may replace

void retry_driver::signal_attempt(asio::cancellation_type_t type) {
    emit(type);
}

void retry_driver::clear_slot() noexcept {
    signal_.slot().clear();
}

void retry_driver::end_attempts() noexcept {}

judgement retry_driver::judge_values() {
    return {};
}

void retry_driver::post_expired(operation_turn turn) {
    post(turn);
}

// --- the start

[[gnu::hot]] void retry_driver::start(bool is_scoped, bool can_be_cancelled) {
    if (is_scoped || can_be_cancelled || !machine_.asks_nothing() || retry_scheduler::any_seeded())
        return start_watched(is_scoped, can_be_cancelled);
    machine_.start_with_attempt();
    go_on_with({.what = plan_kind::begin});
}

/// Returns false, and does nothing, if the machine asks somebody: such an operation is watched.
[[gnu::hot]] bool retry_driver::start_alone() noexcept {
    if (!machine_.asks_nothing() || retry_scheduler::any_seeded())
        return false;
    machine_.start_with_attempt();
    life_.starting(1);
    life_.occupancy.leave_unknown();
    return true;
}

[[gnu::hot]] void retry_driver::start_watched(bool is_scoped, bool can_be_cancelled) {
    using interrupter = life::interrupter;
    time_point now{};
    try {
        if (is_scoped)
            life_.let_interrupt(interrupter::any_scope);
        else if (machine_.limits_attempts())
            life_.let_interrupt(interrupter::time_limit);
        else if (can_be_cancelled)
            life_.let_interrupt(interrupter::caller);
        if (retry_scheduler::any_seeded())
            scheduler();
        if (is_scoped) {
            membership()->link();
            life_.link();
        }
        if (machine_.chooses())
            machine_.draw_from(get_random());
        now = time_for(machine_);
    } catch (...) {
        return go_on_after_failure();
    }
    if (!machine_.may_start(now) || (is_scoped && !membership()->has_room()) ||
        !machine_.start_with_attempt(now)) {
        life_.ask_for_start(); // the hook of a refusal must run on the executor
        return go_on();
    }
    go_on_with(begin_attempt(now));
}

retry_driver::plan retry_driver::refuse_start() {
    time_point const now = time_for(machine_);
    auto* const member = membership();
    bool const lacks_only_room =
        (machine_.may_start(now) || machine_.was_refused()) && member && !member->has_room();
    return plan_for(
        lacks_only_room ? machine_.refuse(no_buffer_space_error(), now) : begin(machine_, *this, now), now);
}

// --- what follows

retry_driver::plan retry_driver::next(question why) {
    switch (why) {
    case question::none:
    case question::after_event:
        break;
    case question::start:
        return refuse_start();
    case question::timer:
        return life_.running() != 0 ? end_limited_attempt() : end_wait();
    case question::failure:
        amend_result(conclude_failed());
        return {.what = plan_kind::deliver};
    }
    return {};
}

inline retry_driver::plan retry_driver::end_wait() {
    time_point const now = time_for(machine_);
    return plan_for(decide_after_wait(machine_, *this, now), now);
}

inline retry_driver::plan retry_driver::plan_for(retry_action&& action, time_point now) {
    if (action.what == retry_action::kind::attempt)
        return begin_attempt(now);
    if (action.what == retry_action::kind::wait)
        return begin_wait(now, action.delay);
    put_failure(*this, action.error, action.thrown); // before an attempt and after a wait there is no result
    return {.what = plan_kind::deliver};
}

inline retry_driver::plan retry_driver::begin_attempt(time_point now) {
    plan result{.what = plan_kind::begin};
    if (machine_.limits_attempts())
        result.until = machine_.attempt_limit(now);
    return result;
}

inline retry_driver::plan retry_driver::begin_wait(time_point now, duration delay) noexcept {
    if (delay == duration::zero() || machine_.cancelled())
        return {.what = plan_kind::turn};
    return {.what = plan_kind::wait, .until = saturating_add(now, delay)};
}

/// Registers with the gate. The gate may have ended the wait already.
inline void retry_driver::on_waiting() noexcept {
    if (!machine_.may_be_queued())
        return;
    auto const wake_up = [](void* who) noexcept { static_cast<retry_driver*>(who)->wake(); };
    if (!machine_.listen_to_gate(wake_up, this))
        wake();
}

/// If the attempt has reported progress, arms the later limit. Otherwise stops the attempt.
retry_driver::plan retry_driver::end_limited_attempt() {
    time_point const reached = expiry();
    if (machine_.hears_attempt()) {
        time_point const limit = machine_.renewed_limit(reached);
        if (limit > reached && watch(limit))
            return {};
    }
    return {.what = plan_kind::stop};
}

void retry_driver::on_told_of_limit() noexcept {
    watch(machine_.on_attempt_limit(expiry()));
}

// --- the end of an attempt

/// Delivers a success without the loop, if nothing else can happen to the operation.
[[gnu::hot]] bool retry_driver::succeeds_at_once(attempt_state const& attempt) {
    if (attempt.outcome != fate::succeeded)
        return false;
    if (life_.is_linked()) {
        if (!membership()->unlink())
            return false;
        life_.unlinked();
    }
    if (life_.is_interruptible()) {
        clear_slot();
        forget_caller();
    }
    if (machine_.tells_success()) {
        try {
            machine_.on_success(machine_.is_observed() ? now() : time_point());
        } catch (...) {
            life_.take_ended();
            go_on_after_failure();
            return true;
        }
    }
    end_attempts();
    deliver();
    return true;
}

retry_driver::plan retry_driver::judge(attempt_state& attempt, std::exception_ptr&) {
    if (life_.is_interruptible())
        clear_slot();
    if (attempt.outcome == fate::dropped)
        return {.what = plan_kind::abandon};
    if (attempt.outcome == fate::last)
        return {.what = plan_kind::deliver};
    if (attempt.outcome == fate::lost)
        put_failure(attempt, no_memory_error(), std::make_exception_ptr(std::bad_alloc()));
    if (attempt.outcome == fate::succeeded) { // a success needs no decision
        machine_.on_success(machine_.is_observed() ? now() : time_point());
        return {.what = plan_kind::deliver};
    }
    time_point now{};
    retry_action const action = decide(
        machine_, has_failed(), [this] { return judge_values(); }, [this] { return verdict_on_result(); },
        *this, now);
    if (action.what == retry_action::kind::complete) {
        amend_result(action);
        return {.what = plan_kind::deliver};
    }
    drop_result(); // the result is destroyed before the wait begins
    return begin_wait(now, action.delay);
}

/// The operation lacks memory, or its executor takes no function.
void retry_driver::fail(error_code const& code, std::exception_ptr const& thrown) {
    put_failure(*this, code, thrown);
}

// --- interruptions

/// The attempt is told, or the wait is cut short.
interruption_wish retry_driver::interrupt() const noexcept {
    bool const runs = life_.running() != 0;
    return {.tells = runs, .leaves = machine_.policy().settings().deliver_at_once, .cuts = !runs};
}

interruption_wish retry_driver::cancel(asio::cancellation_type_t type) {
    cancellation_wish const wish = wish_of(type);
    time_point const now = machine_.limits_attempts() ? time_of_cancellation() : time_point::min();
    if (wish >= cancellation_wish::partial)
        machine_.cancel(now);
    else if (wish == cancellation_wish::nothing || !machine_.cancel_total(now))
        return {};
    return interrupt();
}

interruption_wish retry_driver::obey(timed_request const& request) {
    switch (request.what) {
    case scope_request::none:
        return {};
    case scope_request::retry_within:
        if (life_.armed_for() != life::timer::wait)
            return {};
        end_wait_by(time_within(request.spread, now(), get_random()));
        return {};
    case scope_request::retry_now:
        return {.cuts = true};
    case scope_request::drain:
        machine_.drain();
        return {.cuts = true};
    case scope_request::cancel:
        if (life_.running() != 0 && !machine_.tells_attempt())
            membership()->count_stopped_attempt();
        machine_.cancel(machine_.limits_attempts() ? now() : time_point::min());
        return interrupt();
    }
    return {};
}

// --- attempts that were left behind

bool retry_driver::count_left_attempt() noexcept {
    std::uint8_t count = left_.load(std::memory_order_relaxed);
    do {
        if (count >= most_left)
            return false;
    } while (
        !left_.compare_exchange_weak(count, static_cast<std::uint8_t>(count + 1), std::memory_order_relaxed));
    return true;
}

void retry_driver::on_left_attempt_ended() noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == (has_gone | 1))
        free();
}

void retry_driver::on_handler_gone() noexcept {
    if (left_.fetch_or(has_gone, std::memory_order_acq_rel) == 0)
        free();
}

} // namespace asio_retry::detail
