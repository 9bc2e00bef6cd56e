#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/detail/policy/narrator.hpp>
#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_observer.hpp>
#include <asio_retry/retry_settings.hpp>

#include "policy/narrator_story.hpp"
#include "policy/observed_operations.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

// The part of the narrator that calls observers and hooks.

namespace asio_retry::detail {

// --- the operation

/// Asks the observer whether it wants the events of this operation.
bool narrator::ask_observer() noexcept {
    std::uint64_t const number = next_operation();
    if (!settings_->observer->wants(number) || !make_story())
        return false;
    story_->number = number;
    return true;
}

std::uint64_t narrator::operation_number() const noexcept {
    return story_ ? story_->number : 0;
}

bool narrator::is_observed() const noexcept {
    return story_ && story_->is_observed;
}

bool narrator::needs_time_of_success() const noexcept {
    return is_told_ && (observers_ || settings_->gate_measures_time || is_observed() || settings_->on_success);
}

void narrator::tell_start(time_point now) noexcept {
    if (observers_)
        tell_all(observers_, &machine_observer::on_start, now);
    observe_start(now);
}

void narrator::observe_start(time_point now) noexcept {
    if (operation_number() == 0 || !makes_attempts_ || story_->is_observed)
        return;
    story_->is_observed = true;
    story_->initiated = story_->idle_since = now;
    observation event;
    event.what = observation::kind::started;
    observe(event, now);
}

/// Gives back a grant of a gate for an attempt that will not begin.
void narrator::tell_end(std::uint64_t attempts, stop_reason reason, error_code const& error,
                        verdict const* failure, attempt_facts const& facts, time_point now) noexcept {
    if (is_held_)
        leave_queue(attempts, now);
    if (is_admitted_) {
        bool const is_cancelled = reason == stop_reason::cancelled;
        abandon(attempts, is_cancelled ? interruption::cancellation : interruption::none, facts.took, now);
    }
    give_lease_back();
    if (observers_)
        tell_all(observers_, &machine_observer::on_end, reason, now);
    is_told_ = false;
    if (story_)
        observe_end(attempts, reason, error, failure, facts, now);
}

/// The operation fails with the attempt's own failure, unless something else replaces it.
void narrator::tell_failed_end(std::uint64_t attempts, retry_action const& action, verdict const& failure,
                               error_code const& replacement, attempt_facts const& facts,
                               time_point now) noexcept {
    bool const is_own = !replacement || replacement == failure.error();
    verdict const other = is_own ? failure : verdict::failure(replacement, action.thrown);
    tell_end(attempts, action.reason, action.error ? action.error : failure.error(), &other, facts, now);
}

void narrator::tell_loss(std::uint64_t attempts) noexcept {
    observers_ = nullptr; // they may be destroyed
    tell_end(attempts, stop_reason::cancelled, aborted_error(), nullptr, no_facts, {});
}

// --- observers of the operation

void narrator::tell_failure(verdict const& failure, interruption stopped, time_point now) noexcept {
    if (story_ && story_->marks && story_->marks->sent && settings_->outer)
        settings_->outer->sent = true;
    if (observers_)
        tell_all(observers_, &machine_observer::on_failure, failure, stopped, now);
}

void narrator::tell_wait(duration delay, time_point now) noexcept {
    if (observers_)
        tell_all(observers_, &machine_observer::on_wait, delay, now);
}

duration narrator::tell_wait_over(time_point now) noexcept {
    if (observers_)
        tell_all(observers_, &machine_observer::on_wait_over, now);
    duration const held = is_held_ ? elapsed_between(asked_, now) : duration::zero();
    asked_ = now;
    return held;
}

void narrator::tell_retry(std::uint64_t attempts, verdict const& failure, attempt_facts const& facts,
                          duration delay, time_point now) noexcept {
    if (has_gate() && !failure.is_rejected() && make_story())
        story_->failure = failure;
    tell_wait(delay, now);
    if (!is_observed())
        return;
    observation event;
    event.what = observation::kind::retry_decided;
    event.attempt = attempts;
    describe(event, failure, facts);
    event.failure = kind_;
    event.delay = delay;
    event.said = said_with(failure);
    observe(event, now);
}

void narrator::tell_exception(std::exception_ptr const& thrown) const noexcept {
    tell_all(observers_, &machine_observer::on_hook_exception, thrown);
}

// --- the policy's observer

/// The next attempt begins. Returns true if the observer was told; the observer may have cancelled the
/// operation.
bool narrator::announce(std::uint64_t number, time_point now) noexcept {
    if (!is_observed())
        return false;
    if (story_->announced == 0)
        story_->idle += elapsed_between(story_->idle_since, now);
    story_->announced |= story::bit_of(number);
    observation event;
    event.what = observation::kind::attempt_began;
    event.attempt = number;
    event.took = elapsed_between(story_->initiated, now);
    if (std::exchange(story_->follows_failure, false))
        describe_kept(event);
    observe(event, now);
    return true;
}

bool narrator::announces(std::uint64_t number) const noexcept {
    return is_observed() && (story_->announced & story::bit_of(number)) != 0;
}

time_point narrator::latest(time_point now) const noexcept {
    return story_ ? std::max(story_->seen, now) : now;
}

void narrator::keep_failure(verdict const& failure, pushback said) noexcept {
    if (!story_)
        return;
    story_->failure = failure;
    story_->said = said;
    story_->follows_failure = true;
}

verdict const* narrator::kept_failure() const noexcept {
    return story_ && story_->failure ? &*story_->failure : nullptr;
}

/// Precondition: kept_failure() is not null.
void narrator::describe_kept(observation& event) const noexcept {
    describe(event, *story_->failure, {});
    event.said = story_->said;
}

/// Fills in the failure, and the limit if the failure is a timeout.
void narrator::describe(observation& event, verdict const& failure, attempt_facts const& facts) noexcept {
    event.error = failure.error();
    event.exception = failure.exception();
    event.status = failure.status();
    if (failure.error() == timed_out_error()) {
        event.stopped = facts.stopped;
        event.limit = facts.limit;
        event.allowed = facts.allowed;
    }
}

/// Precondition: announces(end.number). A refusal by a nested gate counts as abandoned, but has a kind.
void narrator::observe_attempt_end(attempt_end const& end, verdict const* failure, attempt_facts const& facts,
                                   time_point now) noexcept {
    story_->announced &= ~story::bit_of(end.number);
    story_->idle_since = latest(now);
    bool const is_abandoned = end.outcome == attempt_end::how::abandoned && end.kind == failure_kind::none;
    observation event;
    event.what = observation::kind::attempt_ended;
    event.attempt = end.number;
    if (failure)
        describe(event, *failure, facts);
    if (facts.stopped == interruption::deadline) {
        event.error = timed_out_error();
        event.limit = facts.limit;
        event.allowed = facts.allowed;
    }
    if (is_abandoned)
        event.error = aborted_error();
    event.is_abandoned = is_abandoned;
    event.failure = is_abandoned ? failure_kind::permanent : end.kind;
    event.took = end.took;
    event.stopped = facts.stopped;
    event.said = end.said;
    observe(event, now);
}

/// `chooser`: the name of the chooser that refused; empty for the policy's gate.
void narrator::observe_refusal(std::string_view chooser, error_code const& refusal, std::uint64_t number,
                               failure_kind after, time_point now) noexcept {
    if (!is_observed())
        return;
    observation event;
    event.what = observation::kind::refused;
    event.gate = story_->refuser = chooser.empty() ? settings_->gate->name() : chooser;
    event.attempt = number;
    event.error = refusal;
    event.failure = after;
    observe(event, now);
}

void narrator::observe_held(std::uint64_t number, time_point now) noexcept {
    if (!is_observed())
        return;
    observation event;
    event.what = observation::kind::held;
    event.gate = settings_->gate->name();
    event.attempt = number;
    event.error = story_->failure ? story_->failure->error() : story_->refusal;
    if (story_->is_reserved)
        event.delay = elapsed_between(now, story_->held_until);
    observe(event, now);
}

void narrator::observe_end(std::uint64_t attempts, stop_reason reason, error_code const& error,
                           verdict const* failure, attempt_facts const& facts, time_point now) noexcept {
    if (!is_observed())
        return;
    time_point const end = latest(now);
    observation event;
    event.what = observation::kind::ended;
    event.attempt = attempts;
    if (failure) {
        describe(event, *failure, facts);
        event.said = failure == kept_failure() ? story_->said : said_with(*failure);
    }
    if (reason == stop_reason::budget || reason == stop_reason::refused)
        event.gate = story_->refuser;
    event.error = error;
    event.took = elapsed_between(story_->initiated, end);
    event.delay = story_->idle + elapsed_between(story_->idle_since, end);
    event.reason = reason;
    observe(event, now);
    story_->is_observed = false;
}

/// Precondition: is_observed(). The caller that ends an operation may not know the time.
void narrator::observe(observation& event, time_point now) noexcept {
    story_->seen = latest(now);
    event.operation = story_->number;
    event.now = story_->seen;
    event.is_hedge = is_hedge_;
    event.policy = settings_->name;
    settings_->observer->on_event(event);
}

// --- hooks

namespace {

/// Calls hooks after the outcome is known. An exception changes no outcome, and does not keep the other hooks
/// from being called.
void call_at_end(retry_settings::hook const& own, machine_observer* observers,
                 retry_event const& event) noexcept {
    auto const call = [&](auto const& hook) {
        try {
            hook();
        } catch (...) {
            tell_all(observers, &machine_observer::on_hook_exception, std::current_exception());
        }
    };
    if (own)
        call([&] { own(event); });
    for (auto* one = observers; one; one = one->next)
        call([&] { one->call_on_end(event); });
}

} // namespace

void narrator::call_on_retry(verdict const& failure, attempt_facts const& facts, duration delay) const {
    retry_event event = event_of(*settings_, failure, facts);
    event.delay = delay;
    if (settings_->on_retry)
        settings_->on_retry(event);
    for (auto* one = observers_; one; one = one->next)
        one->call_on_retry(event);
}

void narrator::call_on_give_up(verdict const& failure, attempt_facts const& facts,
                               stop_reason reason) const noexcept {
    retry_event event = event_of(failure, facts);
    try {
        event = event_of(*settings_, failure, facts);
    } catch (...) { // the policy's own classifier
        tell_exception(std::current_exception());
    }
    event.policy = settings_->name;
    event.reason = reason;
    call_at_end(settings_->on_give_up, observers_, event);
}

void narrator::call_on_success(attempt_facts const& facts) const noexcept {
    retry_event event;
    event.policy = settings_->name;
    event.attempt = facts.number;
    event.reason = stop_reason::succeeded;
    event.elapsed = facts.elapsed;
    event.took = facts.took;
    event.sent = effect::possible;
    call_at_end(settings_->on_success, observers_, event);
}

} // namespace asio_retry::detail
