#include <asio_retry/traffic/hedge_machine.hpp>

#include <asio_retry/retry_observer.hpp>

#include "hedge/hedge_story.hpp"
#include "policy/observed_operations.hpp"

#include <algorithm>
#include <new>

// How an observer hears of a hedge.

namespace asio_retry {

void hedge_machine::ask_observer() noexcept {
    std::uint64_t const number = detail::next_operation();
    if (!common().observer->wants(number))
        return;
    story_ = new (std::nothrow) detail::hedge_story;
    if (!story_)
        return;
    story_->number = number;
    measures_successes_ = is_told_ = true;
}

std::uint64_t hedge_machine::operation_number() const noexcept {
    return story_ ? story_->number : 0;
}

bool hedge_machine::is_observed() const noexcept {
    return story_ && story_->is_observed;
}

/// Precondition: is_observed(). The time may be unknown.
void hedge_machine::observe(observation& event, time_point now) noexcept {
    story_->seen = std::max(story_->seen, now);
    event.operation = story_->number;
    event.now = story_->seen;
    event.is_hedge = true;
    common().observer->on_event(event);
}

void hedge_machine::observe_start(time_point now) noexcept {
    story_->is_observed = true;
    story_->initiated = story_->idle_since = now;
    observation event;
    event.what = observation::kind::started;
    observe(event, now);
}

/// Tells the observer that the next attempt begins. Returns false if the observer cancels.
bool hedge_machine::announce(time_point now) noexcept {
    if (!is_observed())
        return true;
    if (story_->announced == 0)
        story_->idle += elapsed_between(story_->idle_since, now);
    story_->announced |= 2u << begun_;
    observation event;
    event.what = observation::kind::attempt_began;
    event.attempt = begun_ + 1u;
    event.took = elapsed_between(story_->initiated, now);
    if (story_->follows_failure)
        describe_last_failure(event);
    story_->follows_failure = false;
    observe(event, now);
    return stopping_ == stopping::no;
}

/// Why a running attempt is no longer wanted.
interruption hedge_machine::stopped_by() const noexcept {
    bool const is_late = phase_ != phase::open && reason_ == stop_reason::deadline;
    if (stopping_ == stopping::cancelled && !is_late) // the cancellation may have come after the deadline
        return interruption::cancellation;
    if (phase_ == phase::open)
        return interruption::none;
    switch (reason_) {
    case stop_reason::deadline:
        return interruption::deadline;
    case stop_reason::cancelled:
        return interruption::cancellation;
    default:
        return interruption::beaten;
    }
}

void hedge_machine::describe_deadline(observation& event) const noexcept {
    auto const& total = common().total_timeout;
    bool const is_total = total && deadline_ == saturating_add(started_, *total);
    bool const is_own = deadline_ == common().deadline && !common().inherits_deadline;
    event.stopped = interruption::deadline;
    event.limit = is_total ? time_limit::total_timeout : is_own ? time_limit::deadline : time_limit::inherited;
    event.allowed = is_total ? *total : duration::zero();
}

/// Precondition: there is one.
void hedge_machine::describe_last_failure(observation& event) const noexcept {
    event.error = story_->last->error();
    event.exception = story_->last->exception();
    event.status = story_->last->status();
    event.said = story_->said;
}

/// Precondition: the observer knows of the attempt.
void hedge_machine::observe_attempt_end(std::uint64_t number, failure_kind kind, verdict const* failure,
                                        bool is_abandoned, pushback said, time_point now) noexcept {
    story_->announced &= ~(1u << number);
    story_->idle_since = std::max(story_->seen, now);
    observation event;
    event.what = observation::kind::attempt_ended;
    event.attempt = number;
    event.is_abandoned = is_abandoned;
    event.failure = is_abandoned ? failure_kind::permanent : kind;
    if (failure) {
        event.error = failure->error();
        event.exception = failure->exception();
        event.status = failure->status();
    }
    if (is_abandoned || kind != failure_kind::none)
        event.stopped = stopped_by();
    if (event.stopped == interruption::deadline) {
        describe_deadline(event);
        event.error = timed_out_error();
    }
    if (is_abandoned)
        event.error = aborted_error();
    if (number <= begun_)
        event.took = elapsed_between(attempts_[number - 1].began, story_->idle_since);
    event.said = said;
    observe(event, now);
}

/// `gate` is the name of a chooser; empty: the policy's gate.
void hedge_machine::observe_refusal(std::string_view gate, error_code const& refusal, time_point now) noexcept {
    if (!is_observed())
        return;
    observation event;
    event.what = observation::kind::refused;
    event.gate = story_->refuser = gate.empty() ? common().gate->name() : gate;
    event.attempt = begun_ + 1u;
    event.error = refusal;
    observe(event, now);
}

void hedge_machine::end_story() noexcept {
    observe_end(stop_reason::cancelled, aborted_error(), nullptr, {});
    delete story_;
}

/// Attempts that still run are left behind: for the observer they have ended, abandoned.
void hedge_machine::observe_end(stop_reason reason, error_code const& error, std::exception_ptr const& thrown,
                                time_point now) noexcept {
    if (!is_observed())
        return;
    for (std::uint64_t number = 1; story_->announced != 0; ++number)
        if (story_->announces(number))
            observe_attempt_end(number, failure_kind::none, nullptr, true, pushback(), now);
    time_point const end = std::max(story_->seen, now);
    observation event;
    event.what = observation::kind::ended;
    event.attempt = begun_;
    event.reason = reason;
    event.error = error;
    event.exception = thrown;
    bool const is_own = story_->last && (!error || error == story_->last->error()) && !thrown;
    if (is_own && reason != stop_reason::succeeded)
        describe_last_failure(event);
    if (reason == stop_reason::deadline && event.error == timed_out_error() && end >= deadline_)
        describe_deadline(event); // and not for a failure after which there was no time
    if (reason == stop_reason::budget || reason == stop_reason::refused)
        event.gate = story_->refuser;
    event.took = elapsed_between(story_->initiated, end);
    event.delay = story_->idle + elapsed_between(story_->idle_since, end);
    observe(event, now);
    story_->is_observed = false;
}

} // namespace asio_retry
