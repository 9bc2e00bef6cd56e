#include <asio_retry/traffic/hedge_machine.hpp>

#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/permanent.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace asio_retry {

hedge_machine::hedge_machine(hedge_policy const& policy, std::span<hedged_attempt> attempts) noexcept
    : policy_(policy)
    , attempts_(attempts.data())
    , tell_(common(), common().gate != nullptr, true) {
    assert(attempts.size() >= policy_.settings().max_attempts());
    retry_settings const& shared = common();
    bool const is_observed = shared.observer && tell_.ask_observer();
    measures_successes_ = is_observed || policy_.settings().observed || shared.gate_measures_time;
}

hedge_machine::~hedge_machine() {
    for (std::uint64_t number = 1; number <= begun_; ++number) {
        if (attempts_[number - 1].is_running)
            end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), {});
        attempts_[number - 1].marks = {}; // the memory may be freed without destructors
    }
    drop_ready();
    tell_.give_lease_back();
    if (tell_.is_told())
        observe_end(stop_reason::cancelled, detail::aborted_error(), nullptr, {});
}

void hedge_machine::choose_with(detail::machine_observer* chooser) noexcept {
    tell_.choose_with(chooser);
    measures_successes_ = measures_successes_ || chooser;
}

// --- the next step

void hedge_machine::start(time_point now) {
    if (tell_.is_told())
        tell_.observe_start(now);
    if (auto const& timeout = common().total_timeout)
        deadline_ = std::min(deadline_, saturating_add(now, *timeout));
    if (auto const& deadline = common().deadline)
        deadline_ = std::min(deadline_, *deadline);
    started_ = now;
    stops_at_ = deadline_;
    if (is_stopping())
        return end(phase::closed, stop_reason::cancelled, 0, detail::aborted_error());
    if (now >= deadline_)
        return end(phase::closed, stop_reason::deadline, 0, detail::timed_out_error());
    make_ready(now);
    if (phase_ == phase::open && !is_ready_ && !may_begin(next_at_))
        end(phase::closed, reason_, 0, error_);
}

void hedge_machine::refuse(error_code const& code, time_point now) noexcept {
    if (tell_.is_told())
        tell_.observe_start(now);
    if (is_stopping())
        end(phase::closed, stop_reason::cancelled, 0, detail::aborted_error());
    else
        end(phase::closed, stop_reason::budget, 0, code);
}

hedge_action hedge_machine::next(time_point now) {
    step const next = advance(now);
    if (next.what == hedge_action::kind::deliver)
        return delivery();
    hedge_action action;
    action.what = next.what;
    action.attempt = next.attempt;
    action.until = next.until;
    return action;
}

/// While the operation is open, begins attempts or waits. Afterwards it stops the attempts that still run,
/// waits for them unless `deliver_at_once` is set, delivers, and waits for the attempts that were left behind.
hedge_machine::step hedge_machine::advance(time_point now) {
    using kind = hedge_action::kind;
    if (phase_ == phase::open)
        go_on(now);
    if (phase_ == phase::open && is_ready_) {
        if (!tell_.is_told() || !tell_.announce(begun_ + 1u, now) || stopping_ == stopping::no)
            return launch(now);
        go_on(now); // the observer has cancelled
    }
    if (phase_ == phase::open)
        return {.what = is_unanswered_ ? kind::abandon : kind::wait, .until = expiry()};

    drop_ready();
    tell_.give_lease_back();
    if (watches_deadline() && now >= stops_at_) {
        has_to_stop_ = true;
        stops_at_ = deadline_after(stops_at_);
    }
    if (has_to_stop_ && running_ > 0) {
        has_to_stop_ = false;
        was_told_ = true;
        if (reason_ != stop_reason::cancelled) // the quantile counts attempts that were beaten or too late
            for (std::uint64_t number = 1; number <= begun_; ++number)
                if (attempts_[number - 1].is_running)
                    record(attempts_[number - 1], now);
        return {kind::stop};
    }
    if (running_ > 0 && (phase_ == phase::over || !policy_.settings().deliver_at_once))
        return {.what = kind::wait, .until = expiry()};
    if (phase_ == phase::over)
        return {kind::done};
    phase_ = phase::over;
    if (running_ > 0)
        pass_on_sent(); // attempts that are left behind may still send
    if (tell_.is_told())
        observe_end(reason_, error_, thrown_, now);
    return {kind::deliver, result_};
}

hedge_action hedge_machine::delivery() const {
    hedge_action action{.what = hedge_action::kind::deliver,
                        .attempt = result_,
                        .reason = reason_,
                        .error = error_,
                        .thrown = thrown_};
    bool const was_stopped = reason_ == stop_reason::cancelled || reason_ == stop_reason::deadline;
    if (has_marked_ && was_stopped && error_ && common().is_nested) // the outer retry must see the mark
        detail::mark_permanent(action.error, action.thrown);
    return action;
}

time_point hedge_machine::expiry() const noexcept {
    if (phase_ != phase::open) // attempts are told again at each deadline: they may have ignored an emission
        return watches_deadline() ? stops_at_ : time_point::max();
    bool const begins = stopping_ == stopping::no && may_begin(next_at_) && !is_held_back();
    return begins ? std::min(deadline_, next_at_) : deadline_;
}

/// While there is no result, makes another attempt ready if one is due. Ends the operation if a cancellation, a
/// limit or the last failure says so.
void hedge_machine::go_on(time_point now) {
    if (!is_stopping() && now < deadline_ && !is_ready_ && now >= next_at_)
        begin_another(now); // the callables of the policy may cancel
    if (phase_ != phase::open)
        return;
    if (stopping_ == stopping::cancelled)
        return end_cancelled();
    if (is_stopping()) {
        drop_ready();
        tell_.give_lease_back();
        if (running_ == 0)
            end(phase::closed, stop_reason::cancelled, 0, detail::aborted_error());
        else if (now >= deadline_)
            end(phase::ending, stop_reason::cancelled, 0, detail::aborted_error());
        return;
    }
    if (now >= deadline_)
        return end(phase::ending, stop_reason::deadline, 0, detail::timed_out_error());
    if (is_ready_ || may_begin(next_at_))
        return;
    tell_.give_lease_back();
    if (running_ == 0)
        conclude_unanswered();
}

/// Ends the operation with the last error. If all attempts were dropped, there is nothing to deliver.
/// Precondition: no attempt runs, none may begin, and there is no result.
void hedge_machine::conclude_unanswered() noexcept {
    if (failures_ == 0 && begun_ > 0)
        is_unanswered_ = true;
    else
        end(phase::closed, reason_, 0, error_ ? error_ : detail::attempt_refused_error(), std::move(thrown_));
}

void hedge_machine::end(phase to, stop_reason reason, std::uint64_t result, error_code const& error,
                        std::exception_ptr thrown) noexcept {
    phase_ = to;
    reason_ = reason;
    result_ = static_cast<std::uint8_t>(result);
    error_ = error;
    thrown_.swap(thrown);
    if (to == phase::closed) // attempts of an operation that is `ending` may still succeed
        has_to_stop_ = has_to_stop_ || !was_told_;
}

/// The first deadline after `reached`, of this operation or of the one around it.
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

/// Whether no other attempt may begin while the present ones run, because one of them has sent something.
bool hedge_machine::is_held_back() const noexcept {
    if (policy_.settings().hedge_sent)
        return false;
    if (sent_.load(std::memory_order_relaxed) != 0)
        return true;
    return std::any_of(attempts_, attempts_ + begun_, [](hedged_attempt const& one) {
        return one.is_running && one.marks && one.marks->sent.load();
    });
}

void hedge_machine::begin_another(time_point now) {
    if (may_begin(now) && (begun_ == 0 || (!is_held_back() && take_lease(now))))
        make_ready(now);
}

/// Asks the gate whether the next attempt may begin. For any but the first a retry has been granted.
void hedge_machine::make_ready(time_point now) {
    std::uint64_t const number = begun_ + 1u;
    if (tell_.is_told() && tell_.has_gate()) {
        time_point const asked = tell_.chooses() || common().gate_measures_time ? now : time_point();
        std::string_view refuser;
        admission const answer = tell_.ask(number, asked, refuser);
        if (answer.until > asked)
            return on_refused(answer, refuser, now);
        at(number).ticket = answer.ticket;
    }
    is_ready_ = true;
    admitted_at_ = now;
    if (number == 1 || !policy_.settings().on_hedge)
        return;
    try {
        policy_.settings().on_hedge(number);
    } catch (...) {
        drop_ready();
        end_by_hook();
    }
}

void hedge_machine::on_refused(admission const& answer, std::string_view refuser, time_point now) noexcept {
    std::uint64_t const number = begun_ + 1u;
    error_code const& why = answer.refusal ? answer.refusal : detail::attempt_refused_error();
    if (answer.reserved) // a hedge does not wait for a reserved time
        tell_.end_unbegun(number, answer);
    reason_ = stop_reason::refused;
    tell_.observe_refusal(refuser, why, number, failure_kind::none, now);
    tell_.give_lease_back();
    if (refuser.empty() || why != error::cooling_down || !put_off(answer.until, now))
        no_more_ = true;
    if (!error_) // otherwise an earlier failure is the error
        error_ = why;
}

/// All servers rest: plans the next attempt for `until`. Returns false if all such waits of the attempt
/// together are longer than the limit of a server's wish.
bool hedge_machine::put_off(time_point until, time_point now) noexcept {
    if (elapsed_between(tell_.put_off_since(now), until) > common().pushback_limit) {
        reason_ = stop_reason::pushback;
        return false;
    }
    next_at_ = not_before_ = std::max(not_before_, until);
    return true;
}

/// Precondition: the hook has thrown the exception that is being handled.
void hedge_machine::end_by_hook() noexcept {
    end(phase::closed, stop_reason::not_retryable, 0, error::hook_threw, std::current_exception());
}

hedge_machine::step hedge_machine::launch(time_point now) {
    auto const& settings = policy_.settings();
    is_ready_ = false;
    tell_.spend_lease();
    hedged_attempt& one = at(++begun_);
    one.began = admitted_at_;
    one.is_running = true;
    ++running_;
    if (begun_ < settings.max_attempts()) {
        duration const delay = settings.observed ? settings.observed->value() : settings.delay;
        next_at_ = std::max(saturating_add(now, delay), not_before_);
    } else {
        next_at_ = time_point::max();
    }
    return {hedge_action::kind::begin, begun_};
}

/// Gives back the cost of an admitted attempt that does not begin.
void hedge_machine::drop_ready() noexcept {
    if (!is_ready_)
        return;
    is_ready_ = false;
    admission given(admitted_at_);
    given.ticket = at(begun_ + 1u).ticket;
    attempt_end const end = detail::unbegun(begun_ + 1u, given);
    tell_.tell_gates(end, nullptr, end.now);
    if (tell_.announces(end.number))
        observe_attempt_end(end, nullptr, {});
    tell_.give_lease_back();
}

bool hedge_machine::take_lease(time_point now) noexcept {
    if (tell_.take_lease(begun_, now))
        return true;
    no_more_ = true;
    reason_ = stop_reason::budget;
    return false;
}

// --- the end of an attempt
//
// The functions from on_success to on_unwanted report how an attempt has ended. `take` marks it as ended. Then
// `end_attempt` tells the gates (`tell_end`) and the observer (`observe_attempt_end`).
//
// If that ends the operation, `end` notes its result. The observer hears of it in `observe_end`, when `advance`
// delivers the result.

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

/// An attempt that has failed too late, or after a cancellation, ends without a question to the predicate.
/// Gates and the observer hear of the end before the operation ends or plans another attempt.
bool hedge_machine::on_failure(std::uint64_t number, verdict const& failure, time_point now) {
    assert(!failure.succeeded());
    take(number);
    has_marked_ = has_marked_ || failure.is_permanent();
    if (phase_ == phase::open && cancelled_late_)
        end_cancelled();
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
    std::optional<bool> wants_retry; // empty if the predicate throws
    std::exception_ptr thrown;
    try {
        wants_retry = !failure.is_permanent() && detail::is_retryable(common(), failure, {.number = number});
    } catch (...) {
        thrown = std::current_exception();
    }
    pushback const said = end_failed(number, failure, false, wants_retry, now);
    tell_.keep_failure(failure, said);
    if (said.forbids() && common().outer)
        common().outer->forbidden = true;
    if (stopping_ == stopping::cancelled) // the predicate has cancelled
        return false;
    if (thrown) {
        end(phase::closed, stop_reason::not_retryable, 0, error::predicate_threw, std::move(thrown));
        return false;
    }
    if (!*wants_retry) {
        if (is_stopping()) {
            end(phase::closed, stop_reason::cancelled, 0, detail::aborted_error());
            return false;
        }
        bool const is_marked =
            failure.is_permanent() && !common().is_nested; // otherwise the outer retry must see the mark
        end(phase::closed, stop_reason::not_retryable, number, is_marked ? failure.error() : error_code(),
            is_marked ? failure.exception() : nullptr);
        return true;
    }
    plan_after_failure(said, now);
    return phase_ == phase::open && conclude_failure(number, failure);
}

/// Plans the next attempt: at once, or when the server allows it. A later attempt takes its lease now, too.
void hedge_machine::plan_after_failure(pushback said, time_point now) {
    if (said && tell_.chooses() && !said.forbids())
        said = tell_.wish_of_choosers(said, now);
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
    if (is_ready_) // another attempt, which failed just before, has planned it
        return;
    if (!may_begin(next_at_)) {
        if (!no_more_)
            reason_ = next_at_ >= deadline_ ? stop_reason::deadline : stop_reason::attempts;
        return;
    }
    if (!is_held_back() && take_lease(now) && next_at_ <= now)
        make_ready(now);
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
    // The server has answered, but the predicate has thrown.
    bool const has_answer = code == error::predicate_threw;
    verdict const failure = verdict::failure(code, thrown);
    if (has_answer)
        end_attempt(number, attempt_end::how::failed, failure_kind::permanent, at(number).heeded, now,
                    &failure);
    else
        end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), now);
    end(phase::closed, stop_reason::not_retryable, 0, code, std::move(thrown));
    return false;
}

void hedge_machine::on_dropped(std::uint64_t number) noexcept {
    take(number);
    end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), {});
}

void hedge_machine::on_unwanted(std::uint64_t number, time_point now) noexcept {
    hedged_attempt const& one = take(number);
    if (was_too_late())
        end_attempt(number, attempt_end::how::failed, failure_kind::timeout, one.heeded, now);
    else
        end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), now);
}

void hedge_machine::fail(error_code const& code, std::exception_ptr thrown) noexcept {
    if (phase_ == phase::open)
        end(phase::closed, stop_reason::not_retryable, 0, code, std::move(thrown));
}

hedged_attempt& hedge_machine::take(std::uint64_t number) noexcept {
    hedged_attempt& one = at(number);
    assert(one.is_running);
    one.is_running = false;
    if (sent_.load(std::memory_order_relaxed) != 0)
        sent_.fetch_and(static_cast<std::uint16_t>(~(1u << (number - 1))), std::memory_order_relaxed);
    --running_;
    return one;
}

/// Tells that an attempt has failed, and returns what the server said about retries. `wanted` is the answer of
/// the predicate; empty if it was not asked or has thrown.
pushback hedge_machine::end_failed(std::uint64_t number, verdict const& failure, bool timed_out,
                                   std::optional<bool> wanted, time_point now) noexcept {
    pushback const said = said_with(number, failure);
    auto wish = detail::retry_wish::unasked;
    if (wanted)
        wish = *wanted ? detail::retry_wish::wanted : detail::retry_wish::refused;
    bool const is_refusal = !timed_out && detail::is_refusal(failure, attempts_[number - 1].marks);
    if (auto const kind = detail::heard_kind(failure, timed_out, wish))
        end_attempt(number, is_refusal ? attempt_end::how::abandoned : attempt_end::how::failed, *kind, said,
                    now, &failure);
    else
        end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), now, &failure);
    return said;
}

inline void hedge_machine::end_attempt(std::uint64_t number, attempt_end::how outcome, failure_kind kind,
                                       pushback said, time_point now, verdict const* failure) noexcept {
    if (auto const& marks = attempts_[number - 1].marks; marks && marks->sent)
        pass_on_sent();
    if (tell_.is_told())
        tell_end(number, outcome, kind, said, failure, now);
}

[[gnu::noinline]] // so that `end_attempt` stays small for a hedge without a gate
void hedge_machine::tell_end(std::uint64_t number, attempt_end::how outcome, failure_kind kind, pushback said,
                             verdict const* failure, time_point now) noexcept {
    failure_kind const after = number > 1 ? failure_kind::transient : failure_kind::none;
    time_point const began = attempts_[number - 1].began;
    bool const is_abandoned = outcome == attempt_end::how::abandoned; // the time of its end may be unknown
    bool const is_beaten = is_abandoned && phase_ != phase::open && reason_ == stop_reason::succeeded &&
                           began < attempts_[result_ - 1].began;
    attempt_end end{.outcome = outcome,
                    .kind = is_abandoned ? failure_kind::none : kind,
                    .after = after,
                    .number = number,
                    .now = is_abandoned ? began : now,
                    .took = is_abandoned ? duration::zero() : elapsed_between(began, now),
                    .said = is_abandoned ? pushback() : said,
                    .is_beaten = is_beaten,
                    .ticket = attempts_[number - 1].ticket};
    tell_.tell_gates(end, attempts_[number - 1].marks.get(), end.now);
    end.kind = kind; // only the observer hears the kind and the wish of a refusal by an inner gate
    end.said = said;
    if (tell_.announces(number))
        observe_attempt_end(end, failure, now);
}

/// The verdict's own pushback takes precedence over the one that the attempt reported.
pushback hedge_machine::said_with(std::uint64_t number, verdict const& failure) const noexcept {
    hedged_attempt const& one = attempts_[number - 1];
    if (one.marks && one.marks->forbidden)
        return pushback::never();
    return failure.said() ? failure.said() : one.heeded;
}

void hedge_machine::on_sent(std::uint64_t number) noexcept {
    if (!policy_.settings().hedge_sent)
        sent_.fetch_or(static_cast<std::uint16_t>(1u << (number - 1)), std::memory_order_relaxed);
    pass_on_sent();
}

void hedge_machine::pass_on_sent() noexcept {
    if (auto const& outer = common().outer)
        outer->sent = true;
}

detail::shared_value<detail::nested_marks> hedge_machine::marks_of_nested(std::uint64_t number) noexcept {
    auto& shared = attempts_[number - 1].marks;
    try {
        if (!shared) {
            admission given(attempts_[number - 1].began);
            given.ticket = attempts_[number - 1].ticket;
            shared = tell_.make_marks(number, &given);
        }
    } catch (...) { // without memory the nested retry has no marks
    }
    return shared;
}

void hedge_machine::record(hedged_attempt& one, time_point now) noexcept {
    if (auto const& observed = policy_.settings().observed; observed && !std::exchange(one.is_recorded, true))
        observed->record(elapsed_between(one.began, now));
}

// --- for the observer

/// Why a running attempt is no longer wanted.
interruption hedge_machine::stopped_by() const noexcept {
    bool const is_late = phase_ != phase::open && reason_ == stop_reason::deadline;
    if (stopping_ == stopping::cancelled && !is_late) // otherwise the deadline came first
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

detail::attempt_facts hedge_machine::facts_of(interruption stopped) const noexcept {
    detail::attempt_facts known{.stopped = stopped};
    if (stopped != interruption::deadline)
        return known;
    auto const& total = common().total_timeout;
    bool const is_total = total && deadline_ == saturating_add(started_, *total);
    bool const is_own = deadline_ == common().deadline && !common().inherits_deadline;
    known.limit = is_total ? time_limit::total_timeout : is_own ? time_limit::deadline : time_limit::inherited;
    known.allowed = is_total ? *total : duration::zero();
    return known;
}

/// Precondition: the observer knows of the attempt.
void hedge_machine::observe_attempt_end(attempt_end end, verdict const* failure, time_point now) noexcept {
    bool const succeeded = end.outcome == attempt_end::how::succeeded;
    end.took = duration::zero();
    if (end.number <= begun_)
        end.took = elapsed_between(attempts_[end.number - 1].began, tell_.latest(now));
    tell_.observe_attempt_end(end, failure, facts_of(succeeded ? interruption::none : stopped_by()), now);
}

/// Attempts that still run are left behind: for the observer they have ended, abandoned.
void hedge_machine::observe_end(stop_reason reason, error_code const& error, std::exception_ptr const& thrown,
                                time_point now) noexcept {
    if (!tell_.is_observed())
        return;
    for (std::uint64_t number = 1; number <= begun_; ++number)
        if (tell_.announces(number))
            observe_attempt_end({.outcome = attempt_end::how::abandoned, .number = number}, nullptr, now);
    verdict const* const last = tell_.kept_failure();
    bool const is_own = last && (!error || error == last->error()) && !thrown;
    std::optional<verdict> other;
    if (!is_own && error)
        other = verdict::failure(error, thrown);
    verdict const* failure = is_own ? last : other ? &*other : nullptr;
    if (reason == stop_reason::succeeded)
        failure = nullptr;
    // Otherwise there was only too little time for another attempt.
    bool const is_late = reason == stop_reason::deadline && tell_.latest(now) >= deadline_;
    tell_.observe_end(begun_, reason, failure && is_own ? last->error() : error, failure,
                      facts_of(is_late ? interruption::deadline : interruption::none), now);
}

// --- cancellation

/// Asks the probe, and notes its answer: once it stops, the operation is drained.
bool hedge_machine::is_stopping() noexcept {
    if (stopping_ == stopping::no && probe_ && probe_->stops(begun_ <= 1 && failures_ == 0))
        stopping_ = stopping::drained;
    return stopping_ != stopping::no;
}

void hedge_machine::note_cancelled(time_point now) noexcept {
    if (stopping_ != stopping::cancelled)
        cancelled_late_ = now >= deadline_ && deadline_ != time_point::max();
    stopping_ = stopping::cancelled;
}

/// Ends the operation as cancelled, although attempts may still succeed.
void hedge_machine::end_cancelled() noexcept {
    if (cancelled_late_)
        end(phase::ending, stop_reason::deadline, 0, detail::timed_out_error());
    else
        end(phase::ending, stop_reason::cancelled, 0, detail::aborted_error());
}

void hedge_machine::cancel(bool told, time_point now) noexcept {
    note_cancelled(now);
    was_told_ = was_told_ || told;
}

bool hedge_machine::cancel_total(time_point now) noexcept {
    bool const counts = begun_ <= 1 && failures_ == 0;
    if (counts)
        cancel(false, now);
    return counts;
}

void hedge_machine::cancel_by_scope(time_point now) noexcept {
    note_cancelled(now);
    has_to_stop_ = true;
}

void hedge_machine::drain() noexcept {
    if (stopping_ == stopping::no)
        stopping_ = stopping::drained;
}

void hedge_machine::begin_by(time_point latest) noexcept {
    if (phase_ == phase::open && running_ == 0)
        next_at_ = std::min(next_at_, latest);
}

} // namespace asio_retry
