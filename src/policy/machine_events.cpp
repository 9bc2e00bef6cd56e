#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/policy/operation_story.hpp>
#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/retry_event.hpp>

#include <algorithm>
#include <tuple>

// What the hooks and the predicates of the policy are told.

namespace asio_retry {
namespace {

/// All hooks are called, whatever one of them throws; what was thrown first is delivered.
void call_at_end(retry_settings::hook const& own, detail::machine_observer* observers, retry_event const& event,
                 retry_action& action) noexcept {
    bool has_thrown = false;
    auto const call = [&](auto const& hook) {
        try {
            hook();
        } catch (...) {
            if (!has_thrown) {
                action.error = error::hook_threw;
                action.thrown = std::current_exception();
            }
            has_thrown = true;
        }
    };
    if (own)
        call([&] { own(event); });
    for (auto* one = observers; one; one = one->next)
        call([&] { one->call_on_end(event); });
}

} // namespace

detail::attempt_facts retry_machine::facts(time_point now) const noexcept {
    detail::attempt_facts known{attempts_,
                                {},
                                {},
                                interrupted_by_,
                                attempts_ != 0 && makes_attempts_ && (has_sent_ || !attempts_speak_)};
    if (measures_time_) {
        known.elapsed = elapsed_between(story_ ? std::min(story_->initiated, started_) : started_, now);
        if (attempts_ != 0 && makes_attempts_)
            known.took = elapsed_between(began_, now);
    }
    if (story_ && story_->marks && story_->marks->sent)
        known.may_have_sent = true;
    std::tie(known.limit, known.allowed) = reached_limit();
    if (story_) {
        known.heeded = story_->heeded;
        known.is_forbidden = story_->marks && story_->marks->forbidden;
    }
    return known;
}

void retry_machine::call_on_retry(verdict const& failure, duration delay, time_point now) const {
    retry_event event = detail::event_of(policy_.settings(), failure, facts(now));
    event.delay = delay;
    if (policy_.settings().on_retry)
        policy_.settings().on_retry(event);
    for (auto* one = observer_; one; one = one->next)
        one->call_on_retry(event);
}

void retry_machine::call_on_give_up(verdict const& failure, time_point now,
                                    retry_action& action) const noexcept {
    detail::attempt_facts const known = facts(now);
    retry_event event = detail::event_of(failure, known);
    try {
        event = detail::event_of(policy_.settings(), failure, known);
    } catch (...) { // the policy's own classifier
        if (!action.thrown) {
            action.error = error::predicate_threw;
            action.thrown = std::current_exception();
        }
    }
    event.reason = action.reason;
    call_at_end(policy_.settings().on_give_up, observer_, event, action);
}

void retry_machine::call_on_success(time_point now, retry_action& action) const noexcept {
    detail::attempt_facts const known = facts(now);
    retry_event event;
    event.attempt = known.number;
    event.reason = stop_reason::succeeded;
    event.elapsed = known.elapsed;
    event.took = known.took;
    event.sent = effect::possible;
    call_at_end(policy_.settings().on_success, observer_, event, action);
}

} // namespace asio_retry
