#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/policy/operation_story.hpp>
#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/retry_event.hpp>

#include <algorithm>

// What the hooks and the predicates of the policy are told.

namespace asio_retry {

detail::attempt_facts retry_machine::facts(time_point now) const noexcept {
    detail::attempt_facts known{
        attempts_, {}, {}, interrupted_by_, attempts_ != 0 && (has_sent_ || !marks_sent_)};
    if (measures_time_) {
        known.elapsed = elapsed_between(story_ ? std::min(story_->initiated, started_) : started_, now);
        if (attempts_ != 0 && makes_attempts_)
            known.took = elapsed_between(began_, now);
    }
    if (story_ && story_->marks && story_->marks->sent)
        known.may_have_sent = true;
    return known;
}

void retry_machine::call_on_retry(verdict const& failure, duration delay, time_point now) const {
    retry_event event = detail::event_of(policy_.settings(), failure, facts(now));
    event.delay = delay;
    policy_.settings().on_retry(event);
}

void retry_machine::call_on_give_up(stop_reason reason, verdict const& failure, time_point now) const {
    retry_event event = detail::event_of(policy_.settings(), failure, facts(now));
    event.reason = reason;
    policy_.settings().on_give_up(event);
}

void retry_machine::call_on_success(time_point now) const {
    detail::attempt_facts const known = facts(now);
    retry_event event;
    event.attempt = known.number;
    event.reason = stop_reason::succeeded;
    event.elapsed = known.elapsed;
    event.took = known.took;
    event.sent = effect::possible;
    policy_.settings().on_success(event);
}

} // namespace asio_retry
