#include <asio_retry/detail/hedge/hedge_driver.hpp>

#include "operation/driver_loop.hpp"

#include <cstddef>
#include <iterator>
#include <new>
#include <utility>

namespace asio_retry::detail {

template class ASIO_RETRY_DEFINE_INSTANTIATION driver<hedge_driver, 16>;
template class ASIO_RETRY_DEFINE_INSTANTIATION basic_membership<hedge_driver>;

void hedge_driver::start(bool is_scoped, bool) {
    plan first;
    try {
        scheduler();
        if (is_scoped) {
            membership()->link();
            life_.link();
        }
        time_point const begin = now();
        if (is_scoped && !membership()->has_room())
            machine_.refuse(no_buffer_space_error(), begin);
        else
            machine_.start(begin);
        first = plan_for(machine_.advance(begin));
        if (first.what == plan_kind::begin)
            first.until = machine_.expiry();
    } catch (...) {
        return go_on_after_failure();
    }
    go_on_with(first);
}

[[gnu::always_inline]] // a call would slow down each attempt
inline hedge_driver::plan
hedge_driver::next(question) {
    bool const needs_time =
        machine_.wants_results() || machine_.measures_successes() || machine_.watches_deadline();
    return plan_for(machine_.advance(needs_time ? now() : time_point()));
}

hedge_driver::plan hedge_driver::plan_for(hedge_machine::step const& step) noexcept {
    static constexpr plan_kind meant[] = {
        plan_kind::begin,   plan_kind::wait, plan_kind::stop,
        plan_kind::deliver, plan_kind::keep, plan_kind::abandon,
    };
    static_assert(std::size(meant) == std::size_t(hedge_action::kind::abandon) + 1);
    return {.what = meant[std::size_t(step.what)],
            .attempt = static_cast<unsigned char>(step.attempt),
            .until = step.until};
}

// --- the end of an attempt

void hedge_driver::drop_attempt(attempt_state& attempt) noexcept {
    on_attempt_over(attempt);
    machine_.on_dropped(attempt.number());
}

/// Returns whether the result will be delivered.
[[gnu::always_inline]] // a call would slow down each attempt
inline bool
hedge_driver::judge_completed(attempt_state& attempt) {
    bool const failed = has_failed(attempt);
    judgement judged;
    if (!failed && attempt.outcome != attempt_state::fate::succeeded) {
        try {
            judged = judge_values(attempt);
        } catch (...) {
            return machine_.on_exception(attempt.number(), error::predicate_threw, std::current_exception(),
                                         now());
        }
    }
    if (!failed && !judged.failed)
        return machine_.on_success(attempt.number(), machine_.measures_successes() ? now() : time_point());
    return machine_.on_failure(attempt.number(),
                               failed ? verdict_on_result(attempt) : verdict::rejected(judged), now());
}

hedge_driver::plan hedge_driver::judge(attempt_state& attempt, std::exception_ptr& thrown) {
    on_attempt_over(attempt);
    if (thrown_by_value_)
        thrown = std::exchange(thrown_by_value_, nullptr);
    bool keeps = false;
    if (attempt.outcome == attempt_state::fate::dropped) {
        machine_.on_dropped(attempt.number());
    } else if (!machine_.wants_results()) {
        bool const needs_time = machine_.was_too_late() || machine_.measures_successes();
        machine_.on_unwanted(attempt.number(), needs_time ? now() : time_point());
    } else {
        try {
            if (attempt.outcome == attempt_state::fate::lost)
                put_failure(attempt, no_memory_error(), std::make_exception_ptr(std::bad_alloc()));
            keeps = judge_completed(attempt);
        } catch (...) {
            if (machine_.is_running(attempt.number()))
                machine_.on_exception(attempt.number(), code_of(std::current_exception()),
                                      std::current_exception(), now());
        }
    }
    if (!keeps)
        drop_result(attempt);
    life_.end_initiation_here();
    if (life_.may_ask())
        return next(question::after_event);
    life_.ask();
    return {};
}

// --- interruptions

interruption_wish hedge_driver::cancel(asio::cancellation_type_t type) {
    cancellation_wish const wish = wish_of(type);
    bool const leaves = machine_.policy().settings().deliver_at_once;
    if (wish >= cancellation_wish::partial)
        machine_.cancel(leaves || wish == cancellation_wish::terminal, time_of_cancellation());
    else if (wish == cancellation_wish::nothing || !machine_.cancel_total(time_of_cancellation()))
        return {};
    return {.tells = true, .leaves = leaves, .asks = true};
}

interruption_wish hedge_driver::obey(timed_request const& request) {
    switch (request.what) {
    case scope_request::none:
        break;
    case scope_request::retry_within:
        machine_.begin_by(time_within(request.spread, now(), get_random()));
        break;
    case scope_request::retry_now:
        machine_.begin_by(now());
        break;
    case scope_request::drain:
        machine_.drain();
        break;
    case scope_request::cancel:
        if (life_.running() != 0 && !machine_.is_cancelled())
            membership()->count_stopped_attempt();
        machine_.cancel_by_scope(now());
        break;
    }
    return {};
}

} // namespace asio_retry::detail
