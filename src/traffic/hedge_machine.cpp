#include <asio_retry/traffic/hedge_machine.hpp>

#include <asio_retry/error.hpp>
#include <asio_retry/permanent.hpp>

#include <algorithm>
#include <utility>

namespace asio_retry {
hedge_machine::hedge_machine(hedge_policy const& policy, std::span<hedged_attempt> attempts) noexcept
    : policy_(policy)
    , attempts_(attempts.data()) {
    assert(attempts.size() >= policy_.settings().max_attempts());
}

hedge_machine::~hedge_machine() {
    for (std::uint64_t number = 1; number <= begun_; ++number) {
        if (attempts_[number - 1].is_running)
            end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), {});
        attempts_[number - 1].marks = {}; // the memory may be freed without destructors
    }
    drop_ready();
    give_lease_back();
}

bool hedge_machine::measures_successes() const noexcept {
    return policy_.settings().observed || common().gate_measures_time;
}

// --- the next step

void hedge_machine::start(time_point now) {
    if (auto const& timeout = common().total_timeout)
        deadline_ = std::min(deadline_, saturating_add(now, *timeout));
    if (auto const& deadline = common().deadline)
        deadline_ = std::min(deadline_, *deadline);
    started_ = now;
    tells_at_ = deadline_;
    if (is_stopping())
        return end(phase::closed, stop_reason::cancelled, 0, aborted_error());
    if (now >= deadline_)
        return end(phase::closed, stop_reason::deadline, 0, timed_out_error());
    make_ready(now);
    if (phase_ == phase::open && !is_ready_)
        end(phase::closed, stop_reason::refused, 0, error_);
}

void hedge_machine::refuse(error_code const& code) noexcept {
    if (is_stopping())
        end(phase::closed, stop_reason::cancelled, 0, aborted_error());
    else
        end(phase::closed, stop_reason::budget, 0, code);
}

hedge_action hedge_machine::next(time_point now) {
    using kind = hedge_action::kind;
    auto const just = [](kind what) {
        hedge_action action;
        action.what = what;
        return action;
    };
    if (phase_ == phase::open)
        go_on(now);
    if (phase_ == phase::open) {
        if (is_ready_)
            return launch(now);
        hedge_action action = just(is_lost_ ? kind::abandon : kind::wait);
        action.until = expiry();
        return action;
    }
    drop_ready();
    give_lease_back();
    if (watches_deadline() && now >= tells_at_) {
        has_to_stop_ = true;
        tells_at_ = deadline_after(tells_at_);
    }
    if (std::exchange(has_to_stop_, false) && running_ > 0) {
        was_told_ = true;
        if (reason_ != stop_reason::cancelled)
            for (std::uint64_t number = 1; number <= begun_; ++number)
                if (attempts_[number - 1].is_running)
                    record(attempts_[number - 1], now);
        return just(kind::stop);
    }
    if (running_ > 0 && (phase_ == phase::over || !policy_.settings().deliver_at_once)) {
        hedge_action action = just(kind::wait);
        action.until = expiry();
        return action;
    }
    if (phase_ == phase::over)
        return just(kind::done);
    phase_ = phase::over;
    if (running_ > 0)
        on_sent(); // those that are left behind still may
    return delivery();
}

hedge_action hedge_machine::delivery() const {
    hedge_action action;
    action.what = hedge_action::kind::deliver;
    action.attempt = result_;
    action.reason = reason_;
    action.error = error_;
    action.thrown = thrown_;
    bool const was_stopped = reason_ == stop_reason::cancelled || reason_ == stop_reason::deadline;
    if (has_marked_ && was_stopped && error_ && common().is_nested) // the outer retry must see the mark
        detail::mark_permanent(action.error, action.thrown);
    return action;
}

time_point hedge_machine::expiry() const noexcept {
    if (phase_ != phase::open) // attempts may have ignored an earlier emission
        return watches_deadline() ? tells_at_ : time_point::max();
    return stopping_ == stopping::no && may_begin(next_at_) ? std::min(deadline_, next_at_) : deadline_;
}

/// Without a result: ends the operation if there is a reason to, or begins another attempt.
void hedge_machine::go_on(time_point now) {
    if (!is_stopping() && now < deadline_ && !is_ready_ && begun_ > 0 && now >= next_at_)
        begin_another(now); // its callables may cancel
    if (phase_ != phase::open)
        return;
    if (stopping_ == stopping::cancelled)
        return end(phase::ending, stop_reason::cancelled, 0, aborted_error());
    if (is_stopping()) {
        drop_ready();
        give_lease_back();
        if (running_ == 0)
            end(phase::closed, stop_reason::cancelled, 0, aborted_error());
        else if (now >= deadline_)
            end(phase::ending, stop_reason::cancelled, 0, aborted_error());
        return;
    }
    if (now >= deadline_)
        return end(phase::ending, stop_reason::deadline, 0, timed_out_error());
    if (is_ready_ || may_begin(next_at_))
        return;
    give_lease_back();
    if (running_ == 0)
        conclude_unanswered();
}

/// No attempt runs, none may begin, and none has left a result.
void hedge_machine::conclude_unanswered() noexcept {
    if (failures_ == 0)
        is_lost_ = true;
    else
        end(phase::closed, reason_, 0, error_ ? error_ : detail::attempt_refused_error(), std::move(thrown_));
}

void hedge_machine::end(phase to, stop_reason reason, std::uint64_t result, error_code const& error,
                        std::exception_ptr thrown) noexcept {
    phase_ = to;
    reason_ = reason;
    result_ = static_cast<std::uint8_t>(result);
    error_ = error;
    thrown_ = std::move(thrown);
    if (to == phase::closed)
        has_to_stop_ = has_to_stop_ || !was_told_;
}

/// The first deadline after `reached`: of this operation, or of the one that it is part of.
time_point hedge_machine::deadline_after(time_point reached) noexcept {
    time_point first = time_point::max();
    auto const consider = [&](time_point deadline) {
        if (deadline > reached)
            first = std::min(first, deadline);
    };
    if (auto const& timeout = common().total_timeout)
        consider(saturating_add(started_, *timeout));
    consider(common().deadline.value_or(time_point::max()));
    consider(probe_ ? probe_->deadline() : time_point::max());
    return first;
}

// --- another attempt

/// Whether another attempt may begin at `when`, as far as is known.
bool hedge_machine::may_begin(time_point when) const noexcept {
    return !no_more_ && begun_ < policy_.settings().max_attempts() && when < deadline_;
}

void hedge_machine::begin_another(time_point now) {
    if (may_begin(now) && take_lease(now))
        make_ready(now);
}

/// Asks the gate whether the next attempt may begin. For any but the first a retry has been granted.
void hedge_machine::make_ready(time_point now, verdict const* after) {
    std::uint64_t const number = begun_ + 1u;
    if (auto const& gate = common().gate) {
        time_point const asked = common().gate_measures_time ? now : time_point();
        admission const answer = gate->admit(number, asked);
        if (answer.until > asked) {
            give_lease_back();
            no_more_ = true;
            reason_ = stop_reason::refused;
            if (!error_) // no failure could be delivered
                error_ = answer.refusal ? answer.refusal : detail::attempt_refused_error();
            return;
        }
    }
    is_ready_ = true;
    admitted_at_ = now;
    if (number == 1 || !policy_.settings().on_hedge)
        return;
    try {
        policy_.settings().on_hedge(number);
    } catch (...) {
        drop_ready();
        end_by_hook(after);
    }
}

/// The hook threw after that failure; otherwise after the last failure, if there was one.
void hedge_machine::end_by_hook(verdict const* after) noexcept {
    error_code const code = after ? after->error() : failures_ > 0 ? error_ : error_code();
    std::exception_ptr own = after ? after->exception() : thrown_;
    if (code && !own)
        own = detail::exception_of(code);
    end(phase::closed, stop_reason::not_retryable, 0, error::hook_threw,
        own ? detail::hook_exception(std::current_exception(), own) : std::current_exception());
}

hedge_action hedge_machine::launch(time_point now) {
    auto const& settings = policy_.settings();
    is_ready_ = false;
    has_lease_ = false; // spent
    hedged_attempt& one = at(++begun_);
    one = hedged_attempt();
    one.began = admitted_at_;
    one.is_running = true;
    ++running_;
    if (begun_ < settings.max_attempts()) {
        duration const delay = settings.observed ? settings.observed->value() : settings.delay;
        next_at_ = std::max(saturating_add(now, delay), not_before_);
    } else {
        next_at_ = time_point::max();
    }
    hedge_action action;
    action.what = hedge_action::kind::begin;
    action.attempt = begun_;
    return action;
}

/// An admitted attempt does not begin: its cost is given back.
void hedge_machine::drop_ready() noexcept {
    if (!std::exchange(is_ready_, false))
        return;
    if (auto const& gate = common().gate) {
        attempt_end unbegun;
        unbegun.outcome = attempt_end::how::abandoned;
        unbegun.number = begun_ + 1u;
        unbegun.now = admitted_at_;
        gate->on_end(unbegun);
    }
    give_lease_back();
}

bool hedge_machine::take_lease(time_point now) noexcept {
    auto const& gate = common().gate;
    if (!gate || has_lease_)
        return true;
    has_lease_ = gate->acquire(failure_kind::transient, now);
    if (!has_lease_) {
        no_more_ = true;
        reason_ = stop_reason::budget;
    }
    return has_lease_;
}

void hedge_machine::give_lease_back() noexcept {
    if (std::exchange(has_lease_, false))
        common().gate->give_back(failure_kind::transient);
}

} // namespace asio_retry
