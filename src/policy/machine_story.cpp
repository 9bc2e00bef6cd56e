#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/policy/operation_story.hpp>
#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_observer.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <tuple>
#include <utility>

#include "policy/handed_gate.hpp"
#include "policy/observed_operations.hpp"

// How gates, observers, hooks and predicates take part.

namespace asio_retry {
/// Null without memory.
detail::operation_story* retry_machine::story() noexcept {
    retry_settings const& settings = policy_.settings();
    if (!story_)
        story_ = detail::operation_story::make(settings.rules.size(), settings.wants_a_sign(),
                                               settings.gate && settings.wait_when_refused);
    is_told_ = is_told_ || story_;
    return story_;
}

bool retry_machine::is_observed() const noexcept {
    retry_settings const& settings = policy_.settings();
    return is_told_ &&
           (observer_ || settings.gate_measures_time || is_policy_observed() || settings.on_success);
}

// --- the start

void retry_machine::tell_start(time_point now) noexcept {
    if (observer_)
        detail::tell_all(observer_, &detail::machine_observer::on_start, now);
    if (operation_number() == 0 || !makes_attempts_ || story_->is_observed)
        return;
    story_->is_observed = true;
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
    began_ = now; // of a wait for a reserved time, too
    if (has_gate()) {
        time_point const asked = chooses_ || settings.gate_measures_time ? now : time_point();
        std::string_view refuser;
        admission answer = chooses_ ? ask_choosers(asked, refuser) : ask_policys_gate(asked);
        if (answer.until > asked) {
            if (!hold(answer, asked))
                refuse(refuser, answer, asked, now);
            if (is_refused_ || !ask_later_gates(now))
                return false;
        }
    }
    is_admitted_ = has_gate() || is_policy_observed();
    return !cancelled(); // the gate or another thread may have cancelled
}

/// Precondition: there is one.
admission retry_machine::ask_policys_gate(time_point asked) noexcept {
    admission const answer = policy_.settings().gate->admit(attempts_ + 1, asked);
    if (answer.ticket == 0 || answer.until > asked || keep(answer, asked))
        return answer;
    end_unbegun(answer);
    return {time_point::max(), no_memory_error()};
}

/// Keeps how the gate has admitted the attempt. Returns false without memory.
bool retry_machine::keep(admission const& given, time_point asked) noexcept {
    if (!story())
        return false;
    story_->held_until = given.until;
    story_->ticket = given.ticket;
    story_->is_reserved = given.until != asked;
    return true;
}

/// The admission by the policy's gate, if it is not for the time when the gate was asked.
admission retry_machine::kept() const noexcept {
    admission given = story_->held_until;
    given.ticket = story_->ticket;
    given.reserved = story_->is_reserved;
    return given;
}

/// The policy's gate has so admitted an attempt that does not begin. Only the gate hears of it.
void retry_machine::end_unbegun(admission const& given) noexcept {
    is_admitted_ = false;
    if (story_) {
        story_->is_reserved = false;
        story_->ticket = 0;
    }
    policy_.settings().gate->on_end(detail::unbegun(attempts_ + 1, given));
}

void retry_machine::refuse(std::string_view refuser, admission const& answer, time_point asked,
                           time_point now) noexcept {
    is_refused_ = true;
    error_code const& why = answer.refusal ? answer.refusal : detail::attempt_refused_error();
    if (answer.reserved)
        end_unbegun(answer);
    if (story()) {
        ++story_->refusals;
        if (!story_->has_failure)
            story_->last = why;
        story_->is_put_off = !refuser.empty() && why == error::cooling_down; // by a gate that chooses
        story_->held_until =
            answer.until == time_point::max() ? now : saturating_add(now, elapsed_between(asked, answer.until));
    }
    observe_refusal(refuser, why, failure_kind::none, now);
}

// --- attempts that may begin later

/// Waits in the queue of the gate, or for the time that it has reserved. Returns false if the attempt is
/// refused. A gate that gets no time names none. An operation whose limits end before keeps nothing of it.
bool retry_machine::hold(admission& answer, time_point asked) noexcept {
    auto const& gate = policy_.settings().gate;
    if (!chooses_ && !policy_.settings().gate_measures_time)
        return false;
    if (answer.reserved && policy_.settings().wait_when_refused && keep(answer, asked)) {
        is_admitted_ = true;
        keep_held(answer, asked);
        if (is_admitted_ && is_wakeable_ && story_->renew_waiter(policy_.settings().priority))
            story_->is_watching = gate->watch(*story_->waiter, answer);
        return true;
    }
    if (!answer.can_queue || !is_wakeable_ || !story())
        return false;
    if (longest_wait(asked).first <= duration::zero()) { // it takes nobody's place in the queue
        keep_held(answer, asked);
        return true;
    }
    if (!story_->renew_waiter(policy_.settings().priority))
        return false;
    answer = gate->enqueue(*story_->waiter, attempts_ + 1, asked);
    if (!answer.can_queue) {
        is_admitted_ = answer.until <= asked && keep(answer, asked); // there is a place after all
        return is_admitted_ || (answer.reserved && hold(answer, asked));
    }
    story_->is_reserved = false;
    story_->is_queued = true;
    keep_held(answer, asked);
    return true;
}

void retry_machine::keep_held(admission const& answer, time_point now) noexcept {
    is_held_ = is_refused_ = true;
    story_->held_until = answer.until;
    if (!story_->has_failure)
        story_->last = answer.refusal ? answer.refusal : detail::attempt_refused_error();
    if (is_policy_observed()) {
        observation event;
        event.what = observation::kind::held;
        event.gate = policy_.settings().gate->name();
        event.attempt = attempts_ + 1;
        event.error = story_->last;
        if (story_->is_reserved)
            event.delay = elapsed_between(now, answer.until);
        observe(event, now);
    }
    if (!wait_held(now))
        keep_nothing(now);
}

/// The limits of the operation end before its wait. What the gate has given goes back at once: the operation
/// itself may end in a later turn.
void retry_machine::keep_nothing(time_point now) noexcept {
    leave_queue(now);
    if (is_admitted_)
        end_unbegun(kept());
    story_->is_reserved = true;
    story_->held_until = time_point::max();
}

bool retry_machine::listen_to_gate(void (*wake)(void*) noexcept, void* who) noexcept {
    return !story_ || !(story_->is_queued || story_->is_watching) || story_->waiter->listen(wake, who);
}

/// The wait of an attempt that is held, as far as the limits of the operation allow. Nothing if it has to end.
std::optional<retry_action> retry_machine::wait_held(time_point now) noexcept {
    time_point const earliest = story_->is_reserved ? story_->held_until
                                : story_->is_queued ? story_->waiter->reserved_for
                                                    : now;
    duration const allowed = longest_wait(now).first;
    if (elapsed_between(now, earliest) > allowed || (!story_->is_reserved && allowed <= duration::zero()))
        return std::nullopt;
    retry_action action;
    action.what = retry_action::kind::wait;
    action.delay = std::min(elapsed_between(now, story_->held_until), allowed);
    return action;
}

/// A wait of an attempt that is held has ended. Returns whether the attempt may begin; otherwise it is refused,
/// or held on.
bool retry_machine::take_held(time_point now) noexcept {
    bool const is_early = now < story_->held_until;
    bool const is_listening = story_->is_queued || story_->is_watching;
    if (is_listening)
        story_->waiter->ignore(); // a new wait must not begin while another thread ends the old one
    if (is_early && !(is_listening && story_->waiter->is_decided())) {
        is_refused_ = true; // cut short, or at a limit of the operation
        return false;
    }
    stop_watching();
    is_held_ = false;
    auto const& gate = policy_.settings().gate;
    bool const was_queued = story_->is_queued;
    story_->is_queued = false;
    admission answer = was_queued ? gate->leave(*story_->waiter, attempts_ + 1, now)
                                  : gate->admit_again(kept(), attempts_ + 1, now);
    is_admitted_ = answer.until <= now;
    if (is_admitted_) {
        keep(answer, now);
    } else if (was_queued && answer.can_queue && story_->waiter->ticket != 0) { // in another queue
        story_->is_queued = true;
        keep_held(answer, now);
    } else if (!hold(answer, now)) {
        refuse({}, answer, now, now);
    }
    return !is_refused_ && ask_later_gates(now);
}

/// The policy's gate has admitted the attempt: asks those of the operation.
bool retry_machine::ask_later_gates(time_point now) noexcept {
    if (!chooses_)
        return true;
    std::string_view refuser;
    admission const answer = ask_choosers(now, refuser);
    if (answer.until <= now)
        return true;
    refuse(refuser, answer, now, now);
    return false;
}

/// Nobody moves the reserved time any more.
void retry_machine::stop_watching() noexcept {
    if (!story_->is_watching)
        return;
    story_->is_watching = false;
    policy_.settings().gate->unwatch(*story_->waiter, kept());
}

/// The operation ends: what a gate has granted meanwhile is given back.
void retry_machine::leave_queue(time_point now) noexcept {
    if (!is_held_ || !story_)
        return;
    stop_watching();
    if (!story_->is_queued)
        return;
    story_->is_queued = false;
    story_->waiter->is_leaving = true;
    time_point const left = std::max(now, began_);
    admission const answer = policy_.settings().gate->leave(*story_->waiter, attempts_ + 1, left);
    is_admitted_ = answer.until <= left || answer.reserved;
    if (is_admitted_)
        keep(answer, began_);
}

/// The policy's gate, then those of the operation. If a later one refuses, `refuser` gets its name, and the
/// attempt is abandoned in the earlier ones.
[[gnu::noinline]] // or an operation with a gate alone is dearer
admission
retry_machine::ask_choosers(time_point now, std::string_view& refuser) noexcept {
    std::uint64_t const number = attempts_ + 1;
    bool const has_gate = policy_.settings().gate != nullptr;
    admission const given = is_admitted_ ? kept() : has_gate ? ask_policys_gate(now) : admission(now);
    if (given.until > now)
        return given;
    for (auto* one = observer_; one; one = one->next) {
        admission const answer = one->admit(number, now);
        if (answer.until <= now)
            continue;
        refuser = one->gate_name();
        for (auto* earlier = observer_; earlier != one; earlier = earlier->next)
            earlier->on_attempt_end(detail::unbegun(number, now));
        if (has_gate)
            end_unbegun(given);
        return answer;
    }
    return given;
}

void retry_machine::draw_from(random& source) noexcept {
    for (auto* one = observer_; one; one = one->next)
        one->draw_from(source);
}

/// Tells the observer that the next attempt begins. Returns false if the observer cancels.
bool retry_machine::announce_attempt(time_point now) noexcept {
    if (!is_policy_observed())
        return true;
    observation event;
    event.what = observation::kind::attempt_began;
    event.attempt = attempts_ + 1;
    event.took = elapsed_between(story_->initiated, now);
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
        story_->is_reserved = false;
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

/// An operation inside the attempt may take over how the gate has admitted it.
detail::shared_value<detail::nested_marks>
retry_machine::lend_admission(detail::shared_value<detail::nested_marks> marks) noexcept {
    if (is_admitted_ && has_begun_) {
        admission given = began_;
        given.ticket = story_->ticket;
        detail::lend(marks->lent, policy_.settings().gate, {given, attempts_, kind_});
    }
    return marks;
}

detail::shared_value<detail::nested_marks> retry_machine::marks_of_nested() noexcept {
    try {
        if (story() && !story_->marks) {
            story_->marks = lend_admission(detail::shared_value<detail::nested_marks>::make());
            story_->marks->around = policy_.settings().outer;
        }
    } catch (...) { // without memory the nested retry has no marks
    }
    return story_ ? story_->marks : detail::shared_value<detail::nested_marks>();
}

// --- its end

retry_action retry_machine::tell_success(time_point now) noexcept {
    if (is_admitted_)
        tell_attempt_end({.outcome = attempt_end::how::succeeded, .said = story_ ? story_->heeded : pushback()},
                         nullptr, interruption::none, now);
    tell_end(stop_reason::succeeded, error_code(), nullptr, now);
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

/// What the server's wish means to the operation. With several servers it binds the one that said it alone.
pushback retry_machine::wish_of_choosers(pushback said, time_point now) const noexcept {
    for (auto* one = observer_; one; one = one->next)
        said = one->wish(said, now);
    return said;
}

/// A failure without a kind says nothing of the server. Nor does a refusal, which has one for the observer.
void retry_machine::tell_failure(verdict const& failure, std::optional<failure_kind> kind,
                                 time_point now) noexcept {
    if (!kind)
        return tell_attempt_end({.outcome = attempt_end::how::abandoned}, &failure, interrupted_by_, now);
    bool const is_refusal = story_ ? !is_out_of_time() && detail::is_refusal(failure, story_->marks)
                                   : detail::is_refusal(failure, {});
    auto const outcome = is_refusal ? attempt_end::how::abandoned : attempt_end::how::failed;
    tell_attempt_end({.outcome = outcome, .kind = *kind, .said = said_with(failure)}, &failure, interrupted_by_,
                     now);
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

void retry_machine::tell_abandoned(interruption stopped, time_point now) noexcept {
    tell_attempt_end({.outcome = attempt_end::how::abandoned}, nullptr, stopped, now);
}

/// `end` says how the attempt ended, and not yet which attempt it was. Without a failure the attempt succeeded,
/// or was abandoned.
void retry_machine::tell_attempt_end(attempt_end end, verdict const* failure, interruption stopped,
                                     time_point now) noexcept {
    failure_kind const kind = end.kind;
    pushback const said = end.said;
    bool const is_told = end.outcome != attempt_end::how::abandoned;
    is_admitted_ = false;
    std::uint64_t const number = has_begun_ ? attempts_ : attempts_ + 1;
    failure_kind const after = has_begun_ ? kind_ : failure_kind::none; // otherwise its cost is given back
    bool const is_unbegun = !has_begun_;
    has_begun_ = false;
    duration const took = measures_time_ ? elapsed_between(began_, now) : duration::zero();
    if (has_gate()) {
        bool const is_reserved = is_unbegun && story_ && story_->is_reserved;
        if (!is_told) {
            end.kind = failure_kind::none;
            end.said = {};
        }
        end.after = after;
        end.number = number;
        end.took = took;
        end.is_unbegun = is_unbegun;
        time_point const heard = end.now = is_told ? now : began_;
        if (is_reserved)
            end.now = story_->held_until;
        if (story_)
            end.ticket = std::exchange(story_->ticket, 0);
        if (auto const& gate = policy_.settings().gate) {
            if (story_ && story_->marks)
                detail::end_lent(story_->marks->lent, *gate, end);
            else
                gate->on_end(end);
        }
        if (chooses_) {
            end.now = heard;
            end.ticket = 0;
            detail::tell_all(observer_, &detail::machine_observer::on_attempt_end, end);
        }
    }
    if (!is_policy_observed() || !story_->is_announced)
        return;
    story_->is_announced = false;
    story_->attempted += took;
    bool const is_abandoned = !is_told && kind == failure_kind::none;
    observation event;
    event.what = observation::kind::attempt_ended;
    event.attempt = number;
    if (failure)
        describe(event, *failure);
    if (is_abandoned)
        event.error = aborted_error();
    event.is_abandoned = is_abandoned;
    event.failure = is_abandoned ? failure_kind::permanent : kind;
    event.took = took;
    event.stopped = stopped;
    event.said = said;
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
    observe_refusal({}, error_code(), kind_, now);
    return false;
}

void retry_machine::give_lease_back() noexcept {
    if (has_lease_)
        policy_.settings().gate->give_back(kind_);
    has_lease_ = false;
}

void retry_machine::tell_retry(verdict const& failure, duration delay, time_point now) noexcept {
    if (has_gate() && !failure.is_rejected() && story()) {
        story_->last = failure.error();
        story_->thrown = failure.exception();
        story_->has_failure = true;
    }
    if (observer_)
        detail::tell_all(observer_, &detail::machine_observer::on_wait, delay, now);
    if (!is_policy_observed())
        return;
    observation event;
    event.what = observation::kind::retry_decided;
    event.attempt = attempts_;
    describe(event, failure);
    event.failure = kind_;
    event.delay = delay;
    event.said = said_with(failure);
    observe(event, now);
}

// --- the end

/// `failure` is what the operation fails with; null if it does not fail.
void retry_machine::tell_end(stop_reason reason, error_code const& error, verdict const* failure,
                             time_point now) noexcept {
    leave_queue(now);
    if (is_admitted_)
        tell_abandoned(reason == stop_reason::cancelled ? interruption::cancellation : interruption::none, now);
    give_lease_back();
    if (observer_)
        detail::tell_all(observer_, &detail::machine_observer::on_end, reason, now);
    is_told_ = story_ != nullptr; // only the story is left, which must be deleted
    if (!is_policy_observed())
        return;
    time_point const end = std::max(story_->seen, now);
    observation event;
    event.what = observation::kind::ended;
    event.attempt = attempts_;
    if (failure) {
        describe(event, *failure);
        event.said = said_with(*failure);
    }
    if (reason == stop_reason::budget || reason == stop_reason::refused)
        event.gate = story_->last_refuser();
    event.error = error;
    event.took = elapsed_between(story_->initiated, end);
    event.delay = std::max(duration::zero(), event.took - story_->attempted);
    event.reason = reason;
    observe(event, now);
    story_->is_observed = false;
}

void retry_machine::end_story() noexcept {
    observer_ = nullptr; // it may be destroyed
    tell_end(stop_reason::cancelled, aborted_error(), nullptr, {});
    if (story_)
        detail::operation_story::destroy(story_);
}

// --- the observer

/// Asks the observer whether it wants this operation, before anything else is known of it.
void retry_machine::ask_observer() noexcept {
    std::uint64_t const number = detail::next_operation();
    if (!policy_.settings().observer->wants(number) || !story())
        return;
    story_->number = number;
    measures_time_ = true;
}

std::uint64_t retry_machine::operation_number() const noexcept {
    return story_ ? story_->number : 0;
}

bool retry_machine::is_policy_observed() const noexcept {
    return story_ && story_->is_observed;
}

/// Fills in the failure, and the limit that stopped the last attempt if it failed for that.
void retry_machine::describe(observation& event, verdict const& failure) const noexcept {
    event.error = failure.error();
    event.exception = failure.exception();
    event.status = failure.status();
    if (failure.error() == timed_out_error()) {
        event.stopped = interrupted_by_;
        std::tie(event.limit, event.allowed) = reached_limit();
    }
}

/// `gate` is the name of a chooser; empty: the policy's gate.
void retry_machine::observe_refusal(std::string_view gate, error_code const& refusal, failure_kind after,
                                    time_point now) noexcept {
    if (!is_policy_observed())
        return;
    observation event;
    event.what = observation::kind::refused;
    event.gate = gate.empty() ? policy_.settings().gate->name() : gate;
    story_->note_refuser(event.gate);
    event.attempt = attempts_ + 1;
    event.error = refusal;
    event.failure = after;
    observe(event, now);
}

/// Precondition: is_policy_observed(). The caller that ends an operation may not know the time.
void retry_machine::observe(observation& event, time_point now) noexcept {
    story_->seen = std::max(story_->seen, now);
    event.operation = story_->number;
    event.now = story_->seen;
    policy_.settings().observer->on_event(event);
}

// --- hooks and predicates of the policy

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
    if (policy_.settings().on_retry)
        policy_.settings().on_retry(event);
    for (auto* one = observer_; one; one = one->next)
        one->call_on_retry(event);
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
