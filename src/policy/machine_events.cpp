#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/policy/operation_story.hpp>
#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/retry_event.hpp>

#include <algorithm>
#include <exception>
#include <tuple>

// Events for hooks and predicates of the policy.

namespace asio_retry {
namespace {

/// Reports the exception that is being handled.
void report_exception(detail::machine_observer* observers) noexcept {
    detail::tell_all(observers, &detail::machine_observer::on_hook_exception, std::current_exception());
}

/// Calls hooks after the outcome is known. An exception changes no outcome, and does not keep the other hooks
/// from being called.
void call_at_end(retry_settings::hook const& own, detail::machine_observer* observers,
                 retry_event const& event) noexcept {
    auto const call = [&](auto const& hook) {
        try {
            hook();
        } catch (...) {
            report_exception(observers);
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
    known.wish = wish_;
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
    try {
        if (policy_.settings().on_retry)
            policy_.settings().on_retry(event);
        for (auto* one = observer_; one; one = one->next)
            one->call_on_retry(event);
    } catch (...) {
        report_exception(observer_);
        std::rethrow_exception(detail::hook_exception(
            std::current_exception(),
            failure.exception() ? failure.exception() : detail::exception_of(failure.error())));
    }
}

void retry_machine::call_on_give_up(verdict const& failure, time_point now, stop_reason reason) const noexcept {
    detail::attempt_facts const known = facts(now);
    retry_event event = detail::event_of(failure, known);
    try {
        event = detail::event_of(policy_.settings(), failure, known);
    } catch (...) { // the policy's own classifier
        report_exception(observer_);
    }
    event.reason = reason;
    call_at_end(policy_.settings().on_give_up, observer_, event);
}

void retry_machine::call_on_success(time_point now) const noexcept {
    detail::attempt_facts const known = facts(now);
    retry_event event;
    event.attempt = known.number;
    event.reason = stop_reason::succeeded;
    event.elapsed = known.elapsed;
    event.took = known.took;
    event.sent = effect::possible;
    call_at_end(policy_.settings().on_success, observer_, event);
}

} // namespace asio_retry
