#include <asio_retry/detail/policy/narrator.hpp>

#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_settings.hpp>

#include "policy/handed_gate.hpp"
#include "policy/narrator_story.hpp"

#include <algorithm>
#include <utility>

// The part of the narrator that calls gates.

namespace asio_retry::detail {

/// Null without memory.
narrator::story* narrator::make_story() noexcept {
    if (!story_)
        story_ = new (std::nothrow) story;
    is_told_ = is_told_ || story_;
    return story_;
}

void narrator::forget_story() noexcept {
    delete story_;
}

void narrator::observe(machine_observer& observer, bool has_hooks, bool is_chooser) noexcept {
    observer.next = std::exchange(observers_, &observer);
    is_told_ = true;
    has_hooks_ = has_hooks_ || has_hooks;
    chooses_ = chooses_ || is_chooser;
}

void narrator::choose_with(machine_observer* only) noexcept {
    observers_ = only;
    chooses_ = only != nullptr;
    is_told_ = is_told_ || only;
}

void narrator::draw_from(random& source) noexcept {
    for (auto* one = observers_; one; one = one->next)
        one->draw_from(source);
}

bool narrator::has_gate() const noexcept {
    return chooses_ || settings_->gate;
}

// --- admission

/// After a refusal the gates are not asked again until the wait is over.
bool narrator::admits(std::uint64_t number, time_point now,
                      duration (*allowed)(void const*, time_point) noexcept, void const* machine) noexcept {
    if (is_refused_ || is_admitted_ || !makes_attempts_)
        return !is_refused_;
    asked_ = now;
    if (has_gate()) {
        time_point const asked = chooses_ || settings_->gate_measures_time ? now : time_point();
        std::string_view refuser;
        admission answer = ask(number, asked, refuser);
        if (answer.until > asked) {
            if (!hold(answer, number, asked, allowed(machine, asked)))
                refuse(refuser, answer, number, asked, now);
            if (is_refused_ || !ask_later_gates(number, now))
                return false;
        }
    }
    is_admitted_ = has_gate() || is_observed();
    return true;
}

/// Precondition: has_gate(). If a chooser refuses, sets `refuser` to its name.
admission narrator::ask(std::uint64_t number, time_point now, std::string_view& refuser) noexcept {
    return chooses_ ? ask_choosers(number, now, refuser) : ask_policys_gate(number, now);
}

/// Precondition: the policy has a gate. A retry keeps the ticket in its story; a hedge keeps one per attempt.
admission narrator::ask_policys_gate(std::uint64_t number, time_point asked) noexcept {
    admission const answer = settings_->gate->admit(number, asked);
    if (answer.ticket == 0 || is_hedge_ || answer.until > asked || keep(answer, asked))
        return answer;
    end_unbegun(number, answer);
    return {time_point::max(), no_memory_error()};
}

/// Asks the policy's gate, then the choosers. If one refuses, the gates before it hear that the attempt does
/// not begin.
[[gnu::noinline]] // inlining would slow down operations with a gate alone
admission
narrator::ask_choosers(std::uint64_t number, time_point now, std::string_view& refuser) noexcept {
    bool const has_gate = settings_->gate != nullptr;
    admission const given = is_admitted_ ? kept() : has_gate ? ask_policys_gate(number, now) : admission(now);
    if (given.until > now)
        return given;
    for (auto* one = observers_; one; one = one->next) {
        admission const answer = one->admit(number, now);
        if (answer.until <= now)
            continue;
        refuser = one->gate_name();
        for (auto* earlier = observers_; earlier != one; earlier = earlier->next)
            earlier->on_attempt_end(unbegun(number, now));
        if (has_gate)
            end_unbegun(number, given);
        return answer;
    }
    return given;
}

/// The policy's gate has admitted the attempt after a wait: asks the choosers.
bool narrator::ask_later_gates(std::uint64_t number, time_point now) noexcept {
    if (!chooses_)
        return true;
    std::string_view refuser;
    admission const answer = ask_choosers(number, now, refuser);
    if (answer.until <= now)
        return true;
    refuse(refuser, answer, number, now, now);
    return false;
}

/// Stores the admission. Returns false without memory.
bool narrator::keep(admission const& given, time_point asked) noexcept {
    if (!make_story())
        return false;
    story_->held_until = given.until;
    story_->ticket = given.ticket;
    story_->is_reserved = given.until != asked;
    return true;
}

/// The stored admission by the policy's gate.
admission narrator::kept() const noexcept {
    admission given = story_->held_until;
    given.ticket = story_->ticket;
    given.reserved = story_->is_reserved;
    return given;
}

/// The admitted attempt does not begin: tells the policy's gate alone.
void narrator::end_unbegun(std::uint64_t number, admission const& given) noexcept {
    is_admitted_ = false;
    if (story_) {
        story_->is_reserved = false;
        story_->ticket = 0;
    }
    settings_->gate->on_end(unbegun(number, given));
}

void narrator::refuse(std::string_view refuser, admission const& answer, std::uint64_t number, time_point asked,
                      time_point now) noexcept {
    is_refused_ = true;
    error_code const& why = answer.refusal ? answer.refusal : attempt_refused_error();
    if (answer.reserved)
        end_unbegun(number, answer);
    if (make_story()) {
        story_->refusal = why;
        story_->is_put_off = !refuser.empty() && why == error::cooling_down; // by a gate that chooses
        story_->held_until =
            answer.until == time_point::max() ? now : saturating_add(now, elapsed_between(asked, answer.until));
    }
    observe_refusal(refuser, why, number, failure_kind::none, now);
}

bool narrator::is_put_off() const noexcept {
    return story_ && story_->is_put_off;
}

/// When the wait for resting servers began; `now` if there is none.
time_point narrator::put_off_since(time_point now) const noexcept {
    time_point since = now;
    for (auto* one = observers_; one; one = one->next)
        since = std::min(since, one->put_off_since(now));
    return since;
}

/// The whole wait for resting servers, and the part of it that is over. Precondition: is_put_off().
std::pair<pushback, duration> narrator::rest_of_servers(time_point now) const noexcept {
    time_point const since = put_off_since(now);
    return {pushback::after(elapsed_between(since, std::max(now, story_->held_until))),
            elapsed_between(since, now)};
}

duration narrator::refused_for(time_point now) const noexcept {
    return is_refused_ && story_ ? elapsed_between(now, story_->held_until) : duration::zero();
}

/// The failure with which the operation would end now: the last failure, or else the refusal. A rejected value
/// is no longer there, so the refusal stands for it.
verdict narrator::last_failure() const {
    if (!story_)
        return verdict::failure(error::attempt_refused);
    auto const& failure = story_->failure;
    return failure ? verdict::failure(failure->error(), failure->exception())
                   : verdict::failure(story_->refusal);
}

// --- attempts that may begin later

/// Waits in the queue of the gate, or for the time that the gate has reserved. Returns false if the attempt is
/// refused. A gate that gets no time can reserve none. If the limits end before, the gate gets all back.
bool narrator::hold(admission& answer, std::uint64_t number, time_point asked, duration allowed) noexcept {
    auto const& gate = settings_->gate;
    if (!chooses_ && !settings_->gate_measures_time)
        return false;
    if (answer.reserved && settings_->wait_when_refused && keep(answer, asked)) {
        is_admitted_ = true;
        keep_held(answer, number, asked, allowed);
        if (is_admitted_ && is_wakeable_ && story_->renew_waiter(settings_->priority))
            story_->is_watching = gate->watch(*story_->waiter, answer);
        return true;
    }
    if (!answer.can_queue || !is_wakeable_ || !make_story())
        return false;
    if (allowed <= duration::zero()) { // no time is left: do not enter the queue
        keep_held(answer, number, asked, allowed);
        return true;
    }
    if (!story_->renew_waiter(settings_->priority))
        return false;
    answer = gate->enqueue(*story_->waiter, number, asked);
    if (!answer.can_queue) {
        is_admitted_ = answer.until <= asked && keep(answer, asked); // the gate may admit at once now
        return is_admitted_ || (answer.reserved && hold(answer, number, asked, allowed));
    }
    story_->is_reserved = false;
    story_->is_queued = true;
    keep_held(answer, number, asked, allowed);
    return true;
}

void narrator::keep_held(admission const& answer, std::uint64_t number, time_point now,
                         duration allowed) noexcept {
    is_held_ = is_refused_ = true;
    story_->held_until = answer.until;
    story_->refusal = answer.refusal ? answer.refusal : attempt_refused_error();
    observe_held(number, now);
    if (!held_wait(now, allowed))
        keep_nothing(number, now);
}

/// The limits of the operation end before its wait. Gives the place back now, because the operation itself may
/// end in a later turn. A reservation for max() marks this state.
void narrator::keep_nothing(std::uint64_t number, time_point now) noexcept {
    leave_queue(number - 1, now);
    if (is_admitted_)
        end_unbegun(number, kept());
    story_->is_reserved = true;
    story_->held_until = time_point::max();
}

bool narrator::listen(void (*wake)(void*) noexcept, void* who) noexcept {
    return !story_ || !(story_->is_queued || story_->is_watching) || story_->waiter->listen(wake, who);
}

/// The wait of a held attempt, cut to the limits of the operation; nullopt if the operation must end.
std::optional<duration> narrator::held_wait(time_point now, duration allowed) const noexcept {
    time_point const earliest = story_->is_reserved ? story_->held_until
                                : story_->is_queued ? story_->waiter->reserved_for
                                                    : now;
    if (elapsed_between(now, earliest) > allowed || (!story_->is_reserved && allowed <= duration::zero()))
        return std::nullopt;
    return std::min(elapsed_between(now, story_->held_until), allowed);
}

/// A wait is over. Returns whether a held attempt may begin now; if not, it is refused or held again. Returns
/// true if the attempt was not held.
bool narrator::admits_held(std::uint64_t number, time_point now, duration allowed) noexcept {
    is_refused_ = false;
    if (!is_held_)
        return true;
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
    auto const& gate = settings_->gate;
    bool const was_queued = std::exchange(story_->is_queued, false);
    admission answer =
        was_queued ? gate->leave(*story_->waiter, number, now) : gate->admit_again(kept(), number, now);
    is_admitted_ = answer.until <= now;
    if (is_admitted_) {
        keep(answer, now);
    } else if (was_queued && answer.can_queue && story_->waiter->ticket != 0) { // in another queue
        story_->is_queued = true;
        keep_held(answer, number, now, allowed);
    } else if (!hold(answer, number, now, allowed)) {
        refuse({}, answer, number, now, now);
    }
    return !is_refused_ && ask_later_gates(number, now);
}

/// From now on the gate may not move the reserved time.
void narrator::stop_watching() noexcept {
    if (std::exchange(story_->is_watching, false))
        settings_->gate->unwatch(*story_->waiter, kept());
}

/// The operation ends. If a gate has granted the attempt meanwhile, stores the admission: its end gives it
/// back.
void narrator::leave_queue(std::uint64_t attempts, time_point now) noexcept {
    if (!is_held_ || !story_)
        return;
    stop_watching();
    if (!std::exchange(story_->is_queued, false))
        return;
    story_->waiter->is_leaving = true;
    time_point const left = std::max(now, asked_);
    admission const answer = settings_->gate->leave(*story_->waiter, attempts + 1, left);
    is_admitted_ = answer.until <= left || answer.reserved;
    if (is_admitted_)
        keep(answer, asked_);
}

// --- the cost of a retry

bool narrator::take_lease(std::uint64_t attempts, time_point now) noexcept {
    auto const& gate = settings_->gate;
    if (!gate || has_lease_)
        return true;
    has_lease_ = gate->acquire(kind_, now);
    if (!has_lease_)
        observe_refusal({}, error_code(), attempts + 1, is_hedge_ ? failure_kind::none : kind_, now);
    return has_lease_;
}

void narrator::end_lease() noexcept {
    has_lease_ = false;
    settings_->gate->give_back(kind_);
}

// --- an attempt

/// The attempt begins: clears the state of the attempt before, and spends the granted retry.
void narrator::begin(std::uint64_t number, time_point now) noexcept {
    has_lease_ = false;
    has_begun_ = true;
    if (story_) {
        story_->failure.reset();
        story_->refusal = error::attempt_refused;
        story_->heeded = pushback();
        story_->marks = {};
        story_->is_reserved = false;
    }
    if (auto const& outer = settings_->outer; outer && !attempts_speak_)
        outer->sent = true;
    if (observers_)
        tell_all(observers_, &machine_observer::on_attempt, number, now);
}

void narrator::note_sent() noexcept {
    has_sent_ = true;
    if (auto const& outer = settings_->outer)
        outer->sent = true;
}

void narrator::heed(pushback said) noexcept {
    if (make_story())
        story_->heeded = said;
}

/// The verdict's own pushback takes precedence over the one that the attempt reported.
pushback narrator::said_with(verdict const& failure) const noexcept {
    if (!story_)
        return failure.said();
    if (story_->marks && story_->marks->forbidden)
        return pushback::never();
    return failure.said() ? failure.said() : story_->heeded;
}

/// Asks the choosers: with several servers, a wish binds only the server that sent it.
pushback narrator::wish_of_choosers(pushback said, time_point now) const noexcept {
    for (auto* one = observers_; one; one = one->next)
        said = one->wish(said, now);
    return said;
}

void narrator::complete(attempt_facts& facts) const noexcept {
    if (!story_)
        return;
    facts.heeded = story_->heeded;
    facts.is_forbidden = story_->marks && story_->marks->forbidden;
    facts.may_have_sent = facts.may_have_sent || (story_->marks && story_->marks->sent);
}

/// Marks for operations nested in the attempt. `given`: the admission that one of them may take over; null if
/// there is none. Throws std::bad_alloc.
shared_value<nested_marks> narrator::make_marks(std::uint64_t number, admission const* given) const {
    auto marks = shared_value<nested_marks>::make();
    marks->around = settings_->outer;
    if (given)
        lend(marks->lent, settings_->gate, {*given, number, number > 1 ? kind_ : failure_kind::none});
    return marks;
}

shared_value<nested_marks> narrator::marks_of_nested(std::uint64_t number) noexcept {
    try {
        if (make_story() && !story_->marks) {
            admission given = asked_;
            given.ticket = story_->ticket;
            story_->marks = make_marks(number, is_admitted_ && has_begun_ ? &given : nullptr);
        }
    } catch (...) { // without memory the nested retry has no marks
    }
    return story_ ? story_->marks : shared_value<nested_marks>();
}

// --- its end

void narrator::succeed(std::uint64_t attempts, duration took, time_point now) noexcept {
    if (is_admitted_)
        end_attempt(attempts,
                    {.outcome = attempt_end::how::succeeded,
                     .took = took,
                     .said = story_ ? story_->heeded : pushback()},
                    nullptr, no_facts, now);
    tell_end(attempts, stop_reason::succeeded, error_code(), nullptr, no_facts, now);
}

/// Gates hear an abandoned attempt if the failure has no kind, or if a nested gate has refused the attempt. For
/// the observer a nested refusal has a kind.
void narrator::fail(std::uint64_t attempts, verdict const& failure, std::optional<failure_kind> kind,
                    attempt_facts const& facts, time_point now) noexcept {
    attempt_end end{.outcome = attempt_end::how::abandoned, .took = facts.took};
    if (kind) {
        bool const is_refused = !facts.is_out_of_time() &&
                                is_refusal(failure, story_ ? story_->marks : shared_value<nested_marks>());
        if (!is_refused)
            end.outcome = attempt_end::how::failed;
        end.kind = *kind;
        end.said = said_with(failure);
    }
    end_attempt(attempts, end, &failure, facts, now);
    if (kind)
        kind_ = *kind;
}

void narrator::fail_unjudged(std::uint64_t attempts, verdict const& failure, attempt_facts const& facts,
                             time_point now) noexcept {
    std::optional<failure_kind> kind;
    try {
        kind = heard_kind(*settings_, failure, facts.is_out_of_time(), facts.wish);
    } catch (...) {
        kind = heard_kind(failure, facts.is_out_of_time(), facts.wish);
    }
    fail(attempts, failure, kind, facts, now);
}

void narrator::abandon(std::uint64_t attempts, interruption stopped, duration took, time_point now) noexcept {
    end_attempt(attempts,
                {.outcome = attempt_end::how::abandoned, .took = has_begun_ ? took : duration::zero()}, nullptr,
                {.stopped = stopped}, now);
}

/// Completes `end` with the number and the times, and tells gates and the observer. `is_unbegun` lets gates
/// give the cost back. The end of an abandoned attempt may have no time: gates get the time of the question,
/// and neither a kind nor a wish.
void narrator::end_attempt(std::uint64_t attempts, attempt_end end, verdict const* failure,
                           attempt_facts const& facts, time_point now) noexcept {
    failure_kind const kind = end.kind;
    pushback const said = end.said;
    is_admitted_ = false;
    end.is_unbegun = !std::exchange(has_begun_, false);
    end.number = end.is_unbegun ? attempts + 1 : attempts;
    if (has_gate()) {
        end.after = end.is_unbegun ? failure_kind::none : kind_;
        end.now = now;
        if (end.outcome == attempt_end::how::abandoned) {
            end.kind = failure_kind::none;
            end.said = {};
            end.now = asked_;
        }
        time_point const chosen = end.now;
        if (end.is_unbegun && story_ && story_->is_reserved)
            end.now = story_->held_until;
        if (story_)
            end.ticket = std::exchange(story_->ticket, 0);
        tell_gates(end, story_ ? story_->marks.get() : nullptr, chosen);
    }
    if (!story_ || !announces(end.number))
        return;
    end.kind = kind;
    end.said = said;
    observe_attempt_end(end, failure, facts, now);
}

/// `marks`: of nested operations; one may have taken the admission over. `chosen`: the `now` of the
/// end for choosers, because choosers reserve no time.
void narrator::tell_gates(attempt_end const& end, nested_marks* marks, time_point chosen) noexcept {
    if (auto const& gate = settings_->gate) {
        if (marks)
            end_lent(marks->lent, *gate, end);
        else
            gate->on_end(end);
    }
    if (!chooses_)
        return;
    attempt_end its = end;
    its.now = chosen;
    its.ticket = 0;
    tell_all(observers_, &machine_observer::on_attempt_end, its);
}

} // namespace asio_retry::detail
