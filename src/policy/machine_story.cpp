#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/policy/operation_story.hpp>
#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_observer.hpp>

#include <algorithm>
#include <new>

// The part of the machine that gates and observers take part in.

namespace asio_retry {
namespace {

std::uint64_t next_operation() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

} // namespace

/// Null without memory.
detail::operation_story* retry_machine::story() noexcept {
    if (!story_)
        story_ =
            detail::operation_story::make(policy_.settings().rules.size(), policy_.settings().wants_a_sign());
    is_told_ = is_told_ || story_;
    return story_;
}

bool retry_machine::is_observed() const noexcept {
    retry_settings const& settings = policy_.settings();
    return is_told_ && (observer_ || settings.gate_measures_time || settings.observer || settings.on_success);
}

// --- the start

void retry_machine::tell_start(time_point now) noexcept {
    if (observer_)
        detail::tell_all(observer_, &detail::machine_observer::on_start, now);
    if (!policy_.settings().observer || !makes_attempts_ || (story_ && story_->number != 0) || !story())
        return;
    story_->number = next_operation();
    story_->initiated = now;
    observation event;
    event.what = observation::kind::started;
    observe(event, now);
}

// --- an attempt

/// Asks the gate once whether the next attempt may begin. After a refusal it does not ask again until the wait
/// is over.
bool retry_machine::ask_gate(time_point now) noexcept {
    retry_settings const& settings = policy_.settings();
    if (is_refused_ || is_admitted_ || !makes_attempts_)
        return !is_refused_;
    if (settings.gate) {
        time_point const asked = settings.gate_measures_time ? now : time_point();
        admission const answer = settings.gate->admit(attempts_ + 1, asked);
        if (answer.until > asked) {
            is_refused_ = true;
            error_code const& why = answer.refusal ? answer.refusal : detail::attempt_refused_error();
            if (story()) {
                ++story_->refusals;
                if (!story_->has_failure)
                    story_->last = why;
                story_->refused_for =
                    answer.until == time_point::max() ? duration::zero() : elapsed_between(asked, answer.until);
            }
            observe_refusal(why, failure_kind::none, now);
            return false;
        }
    }
    is_admitted_ = settings.gate || settings.observer;
    began_ = now;
    return !cancelled(); // the gate or another thread may have cancelled
}

/// Tells the observer that the next attempt begins. Returns false if the observer cancels.
bool retry_machine::announce_attempt(time_point now) noexcept {
    if (!has_policy_observer())
        return true;
    observation event;
    event.what = observation::kind::attempt_began;
    event.attempt = attempts_ + 1;
    story_->is_announced = true;
    observe(event, now);
    return stopping_ == stopping::no;
}

/// The attempt begins: clears the state of the attempt before, and spends the granted retry.
void retry_machine::tell_attempt_begun(time_point now) noexcept {
    has_lease_ = false;
    has_begun_ = true;
    if (story_) {
        story_->last = error::attempt_refused;
        story_->thrown = nullptr;
        story_->has_failure = false;
        story_->heeded = pushback();
        story_->marks = {};
    }
    if (auto const& outer = policy_.settings().outer; outer && !attempts_speak_)
        outer->sent = true;
    if (observer_)
        detail::tell_all(observer_, &detail::machine_observer::on_attempt, attempts_, now);
}

void retry_machine::heed(pushback said) noexcept {
    if (story())
        story_->heeded = said;
}

void retry_machine::on_sent() noexcept {
    has_sent_ = true;
    if (auto const& outer = policy_.settings().outer)
        outer->sent = true;
}

detail::shared_value<nested_marks> retry_machine::marks_of_nested() noexcept {
    try {
        if (story() && !story_->marks)
            story_->marks = detail::shared_value<nested_marks>::make();
    } catch (...) { // without memory the nested retry has no marks
    }
    return story_ ? story_->marks : detail::shared_value<nested_marks>();
}

// --- its end

retry_action retry_machine::tell_success(time_point now) noexcept {
    if (is_admitted_)
        tell_attempt_end(attempt_end::how::succeeded, failure_kind::none, error_code(),
                         story_ ? story_->heeded : pushback(), now);
    tell_end(stop_reason::succeeded, error_code(), now);
    if (has_hooks_ || policy_.settings().on_success)
        call_on_success(now);
    return {};
}

/// The operation's failure if nothing more happens. It is the refusal if there was no attempt, or if the
/// rejected value is gone.
verdict retry_machine::last_failure() const {
    return story_ ? verdict::failure(story_->last, story_->thrown) : verdict::failure(error::attempt_refused);
}

/// The verdict's own pushback takes precedence over the one that the attempt reported.
pushback retry_machine::said_with(verdict const& failure) const noexcept {
    if (!story_)
        return failure.said();
    if (story_->marks && story_->marks->forbidden)
        return pushback::never();
    return failure.said() ? failure.said() : story_->heeded;
}

/// A failure without a kind says nothing of the server.
void retry_machine::tell_failure(verdict const& failure, std::optional<failure_kind> kind,
                                 time_point now) noexcept {
    if (!kind)
        return tell_abandoned(now);
    tell_attempt_end(attempt_end::how::failed, *kind, failure.error(), said_with(failure), now);
    kind_ = *kind;
}

/// For a failure that `retry_if` did not judge.
void retry_machine::tell_unjudged(verdict const& failure, time_point now) noexcept {
    wish_ = detail::retry_wish::unasked;
    std::optional<failure_kind> kind;
    try {
        kind = detail::heard_kind(policy_.settings(), failure, is_out_of_time(), wish_);
    } catch (...) {
        kind = detail::heard_kind(failure, is_out_of_time(), wish_);
    }
    tell_failure(failure, kind, now);
}

void retry_machine::tell_abandoned(time_point now) noexcept {
    tell_attempt_end(attempt_end::how::abandoned, failure_kind::none, aborted_error(), pushback(), now);
}

void retry_machine::tell_attempt_end(attempt_end::how outcome, failure_kind kind, error_code const& error,
                                     pushback said, time_point now) noexcept {
    is_admitted_ = false;
    std::uint64_t const number = has_begun_ ? attempts_ : attempts_ + 1;
    failure_kind const after = has_begun_ ? kind_ : failure_kind::none; // otherwise its cost is given back
    has_begun_ = false;
    duration const took = measures_time_ ? elapsed_between(began_, now) : duration::zero();
    if (auto const& gate = policy_.settings().gate) {
        time_point const when = outcome == attempt_end::how::abandoned ? began_ : now;
        gate->on_end({outcome, kind, after, number, when, took, said});
    }
    if (!has_policy_observer() || !story_->is_announced)
        return;
    story_->is_announced = false;
    observation event;
    event.what = observation::kind::attempt_ended;
    event.attempt = number;
    event.error = error;
    event.failure = outcome == attempt_end::how::abandoned ? failure_kind::permanent : kind;
    event.took = took;
    observe(event, now);
}

// --- a retry

/// A ticker has no attempts that could fail.
bool retry_machine::take_lease(time_point now) noexcept {
    auto const& gate = policy_.settings().gate;
    if (!gate)
        return true;
    if (!makes_attempts_)
        kind_ = failure_kind::transient;
    has_lease_ = gate->acquire(kind_, now);
    if (has_lease_)
        return true;
    if (story())
        ++story_->refusals;
    observe_refusal(error_code(), kind_, now);
    return false;
}

void retry_machine::give_lease_back() noexcept {
    if (has_lease_)
        policy_.settings().gate->give_back(kind_);
    has_lease_ = false;
}

void retry_machine::tell_retry(verdict const& failure, duration delay, time_point now) noexcept {
    if (policy_.settings().gate && !failure.is_rejected() && story()) {
        story_->last = failure.error();
        story_->thrown = failure.exception();
        story_->has_failure = true;
    }
    if (observer_)
        detail::tell_all(observer_, &detail::machine_observer::on_wait, delay, now);
    if (!has_policy_observer())
        return;
    observation event;
    event.what = observation::kind::retry_decided;
    event.attempt = attempts_;
    event.error = failure.error();
    event.failure = kind_;
    event.delay = delay;
    observe(event, now);
}

// --- the end

void retry_machine::tell_end(stop_reason reason, error_code const& error, time_point now) noexcept {
    if (is_admitted_)
        tell_abandoned(now);
    give_lease_back();
    if (observer_)
        detail::tell_all(observer_, &detail::machine_observer::on_end, reason, now);
    is_told_ = story_ != nullptr; // only the story is left, which must be deleted
    if (!has_policy_observer())
        return;
    observation event;
    event.what = observation::kind::ended;
    event.attempt = attempts_;
    event.error = error;
    event.took = elapsed_between(story_->initiated, std::max(story_->seen, now));
    event.reason = reason;
    observe(event, now);
    story_->number = 0;
}

void retry_machine::end_story() noexcept {
    observer_ = nullptr; // it may be destroyed
    tell_end(stop_reason::cancelled, aborted_error(), {});
    if (story_)
        detail::operation_story::destroy(story_);
}

// --- the observer

bool retry_machine::has_policy_observer() const noexcept {
    return story_ && story_->number != 0;
}

void retry_machine::observe_refusal(error_code const& refusal, failure_kind after, time_point now) noexcept {
    if (!has_policy_observer())
        return;
    observation event;
    event.what = observation::kind::refused;
    event.attempt = attempts_ + 1;
    event.error = refusal;
    event.failure = after;
    observe(event, now);
}

/// Precondition: has_policy_observer(). The caller that ends an operation may not know the time.
void retry_machine::observe(observation& event, time_point now) noexcept {
    story_->seen = std::max(story_->seen, now);
    event.operation = story_->number;
    event.now = story_->seen;
    policy_.settings().observer->on_event(event);
}

} // namespace asio_retry
