#include <asio_retry/traffic/hedge_machine.hpp>

#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>

#include <algorithm>
#include <utility>

// How attempts end, and cancellation.

namespace asio_retry {

// --- the end of an attempt

bool hedge_machine::on_success(std::uint64_t number, time_point now) {
    hedged_attempt& one = take(number);
    if (phase_ == phase::closed || phase_ == phase::over) {
        end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), now);
        return false;
    }
    end_attempt(number, attempt_end::how::succeeded, failure_kind::none, one.heeded, now);
    record(one, now);
    end(phase::closed, stop_reason::succeeded, number, error_code());
    return true;
}

bool hedge_machine::on_failure(std::uint64_t number, verdict const& failure, time_point now) {
    assert(!failure.succeeded());
    take(number);
    has_marked_ = has_marked_ || failure.is_permanent();
    if (phase_ == phase::ending && reason_ == stop_reason::deadline) {
        end_failed(number, failure, true, std::nullopt, now);
        thrown_ = verdict::timed_out(failure).exception();
        return false;
    }
    if (phase_ != phase::open || stopping_ == stopping::cancelled) {
        end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), now);
        return false;
    }
    ++failures_;
    std::optional<bool> is_wanted;
    std::exception_ptr thrown;
    try {
        is_wanted = !failure.is_permanent() && detail::is_retryable(common(), failure, {.number = number});
    } catch (...) {
        thrown = std::current_exception();
    }
    pushback const said = end_failed(number, failure, false, is_wanted, now);
    if (said.forbids() && common().outer)
        common().outer->forbidden = true;
    if (stopping_ == stopping::cancelled) // the predicate has cancelled
        return false;
    if (thrown) {
        end(phase::closed, stop_reason::not_retryable, 0, error::predicate_threw, std::move(thrown));
        return false;
    }
    if (!*is_wanted && is_stopping()) {
        end(phase::closed, stop_reason::cancelled, 0, aborted_error());
        return false;
    }
    if (!*is_wanted) {
        bool const is_marked =
            failure.is_permanent() && !common().is_nested; // otherwise the outer retry must see the mark
        end(phase::closed, stop_reason::not_retryable, number, is_marked ? failure.error() : error_code(),
            is_marked ? failure.exception() : nullptr);
        return true;
    }
    plan_after_failure(failure, said, now);
    return phase_ == phase::open && conclude_failure(number, failure);
}

/// Plans the next attempt: at once, or when the server allows it.
void hedge_machine::plan_after_failure(verdict const& failure, pushback said, time_point now) {
    if (said.forbids() || said.delay() > common().pushback_limit) {
        no_more_ = true;
        reason_ = stop_reason::pushback;
    } else if (said) {
        not_before_ = std::max(not_before_, saturating_add(now, said.delay()));
    }
    if (is_stopping())
        return;
    next_at_ = std::max(now, not_before_);
    if (no_more_ || next_at_ > now)
        drop_ready();
    if (is_ready_) // since another one failed at the same time
        return;
    if (!may_begin(next_at_)) {
        if (!no_more_)
            reason_ = next_at_ >= deadline_ ? stop_reason::deadline : stop_reason::attempts;
        return;
    }
    if (take_lease(now) && next_at_ <= now)
        make_ready(now, &failure);
}

/// Returns whether the operation ends with this failure. Otherwise its result is destroyed. Its error and
/// exception are kept for delivery, but not a rejected value.
bool hedge_machine::conclude_failure(std::uint64_t number, verdict const& failure) {
    if (running_ == 0 && !is_ready_ && !may_begin(next_at_) && !is_stopping()) {
        end(phase::closed, reason_, number, error_code());
        return true;
    }
    error_ = failure.is_rejected() ? error_code() : failure.error();
    thrown_ = failure.exception();
    return false;
}

bool hedge_machine::on_exception(std::uint64_t number, error_code const& code, std::exception_ptr thrown,
                                 time_point now) {
    take(number);
    if (phase_ == phase::closed || phase_ == phase::over) {
        end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), now);
        return false;
    }
    bool const has_answer =
        code == error::predicate_threw; // the server has answered, but there is no decision on its result
    end_attempt(number, has_answer ? attempt_end::how::failed : attempt_end::how::abandoned,
                has_answer ? failure_kind::permanent : failure_kind::none,
                has_answer ? at(number).heeded : pushback(), now);
    end(phase::closed, stop_reason::not_retryable, 0, code, std::move(thrown));
    return false;
}

void hedge_machine::on_dropped(std::uint64_t number) noexcept {
    take(number);
    end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), {});
}

void hedge_machine::on_unwanted(std::uint64_t number, time_point now) noexcept {
    if (!was_too_late())
        return on_dropped(number);
    hedged_attempt const& one = take(number);
    end_attempt(number, attempt_end::how::failed, failure_kind::timeout, one.heeded, now);
}

void hedge_machine::fail(error_code const& code, std::exception_ptr thrown) noexcept {
    if (phase_ == phase::open)
        end(phase::closed, stop_reason::not_retryable, 0, code, std::move(thrown));
}

hedged_attempt& hedge_machine::take(std::uint64_t number) noexcept {
    hedged_attempt& one = at(number);
    assert(one.is_running);
    one.is_running = false;
    --running_;
    return one;
}

/// Returns what the server said about retries.
pushback hedge_machine::end_failed(std::uint64_t number, verdict const& failure, bool timed_out,
                                   std::optional<bool> wanted, time_point now) noexcept {
    pushback const said = said_with(number, failure);
    auto wish = detail::retry_wish::unasked;
    if (wanted)
        wish = *wanted ? detail::retry_wish::wanted : detail::retry_wish::refused;
    if (auto const kind = detail::heard_kind(failure, timed_out, wish))
        end_attempt(number, attempt_end::how::failed, *kind, said, now);
    else
        end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), now);
    return said;
}

void hedge_machine::end_attempt(std::uint64_t number, attempt_end::how outcome, failure_kind kind,
                                pushback said, time_point now) noexcept {
    if (auto const& marks = attempts_[number - 1].marks; marks && marks->sent)
        on_sent();
    auto const& gate = common().gate;
    if (!gate)
        return;
    failure_kind const after = number > 1 ? failure_kind::transient : failure_kind::none;
    time_point const began = attempts_[number - 1].began;
    bool const is_abandoned = outcome == attempt_end::how::abandoned; // the time of its end may be unknown
    gate->on_end({outcome, kind, after, number, is_abandoned ? began : now,
                  is_abandoned ? duration::zero() : elapsed_between(began, now), said});
}

/// The verdict's own pushback takes precedence over the one that the attempt reported.
pushback hedge_machine::said_with(std::uint64_t number, verdict const& failure) const noexcept {
    hedged_attempt const& one = attempts_[number - 1];
    if (one.marks && one.marks->forbidden)
        return pushback::never();
    return failure.said() ? failure.said() : one.heeded;
}

void hedge_machine::on_sent() noexcept {
    if (auto const& outer = common().outer)
        outer->sent = true;
}

detail::shared_value<nested_marks> hedge_machine::marks_of_nested(std::uint64_t number) noexcept {
    auto& shared = attempts_[number - 1].marks;
    try {
        if (!shared)
            shared = detail::shared_value<nested_marks>::make();
    } catch (...) { // without memory the nested retry has no marks
    }
    return shared;
}

void hedge_machine::record(hedged_attempt& one, time_point now) noexcept {
    if (auto const& observed = policy_.settings().observed; observed && !std::exchange(one.is_recorded, true))
        observed->record(elapsed_between(one.began, now));
}

// --- cancellation

bool hedge_machine::is_stopping() noexcept {
    if (stopping_ == stopping::no && probe_ && probe_->stops(begun_ <= 1 && failures_ == 0))
        stopping_ = stopping::drained;
    return stopping_ != stopping::no;
}

void hedge_machine::cancel(bool told) noexcept {
    stopping_ = stopping::cancelled;
    was_told_ = was_told_ || told;
}

bool hedge_machine::cancel_total() noexcept {
    bool const counts = begun_ <= 1 && failures_ == 0;
    if (counts)
        cancel(false);
    return counts;
}

void hedge_machine::cancel_by_scope() noexcept {
    stopping_ = stopping::cancelled;
    has_to_stop_ = true;
}

void hedge_machine::drain() noexcept {
    if (stopping_ == stopping::no)
        stopping_ = stopping::drained;
}

void hedge_machine::begin_by(time_point latest) noexcept {
    if (phase_ == phase::open && running_ == 0 && begun_ > 0)
        next_at_ = std::min(next_at_, latest);
}

} // namespace asio_retry
