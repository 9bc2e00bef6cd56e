#include "table.hpp"

#include "support/scripted_operation.hpp"

#include <utility>

namespace asio_retry::test {
namespace {

using type = asio::cancellation_type;

constexpr type none = type::none;

bool holds(type types, type wanted) {
    return (types & wanted) != none;
}

// A coroutine that lets all types in, and any_completion_handler, lets in those that have a name.
constexpr type named = type::terminal | type::partial | type::total;

/// A coroutine that says nothing else lets terminal in only.
type let_in(matrix_case const& c, type types) {
    if (c.shape != form::awaitable_operation)
        return types;
    if (c.does == kind::disables_and_fails)
        return none;
    return types & (c.passes_all ? named : type::terminal);
}

/// What of the cancellation reaches the operation.
type heard(matrix_case const& c) {
    return c.by_coroutine() || c.with == token::any_handler ? c.emitted() & named : c.emitted();
}

/// Decision 16: partial and terminal stop new attempts, and so does `all`, which holds them; total only until
/// the first attempt has failed, unless the policy allows it.
bool stops(matrix_case const& c, unsigned failures_so_far) {
    return holds(heard(c), type::terminal | type::partial) ||
           (holds(heard(c), type::total) && (failures_so_far == 0 || c.by == means::total_allowed));
}

/// As if nobody had cancelled.
expectation undisturbed(matrix_case const& c) {
    expectation e;
    if (c.at.where == place::in_on_give_up) {
        e.error = refused();
        e.attempts = c.at.attempt;
        e.retries = e.attempts - 1;
        e.reason = stop_reason::attempts;
        e.failed = refused();
    } else if (c.does == kind::never_completes) {
        e.completes = false;
        e.retries = c.prior_failures();
        e.attempts = e.retries + 1;
    } else {
        e.retries = c.failures();
        e.attempts = e.retries + 1;
    }
    return e;
}

expectation gives_up(error_code const& error, stop_reason reason, unsigned attempts, unsigned retries) {
    expectation e;
    e.error = error;
    e.reason = reason;
    e.attempts = attempts;
    e.retries = retries;
    return e;
}

expectation cancelled(unsigned attempts, unsigned retries, std::optional<error_code> failed = {}) {
    expectation e = gives_up(aborted(), stop_reason::cancelled, attempts, retries);
    e.at_once = true;
    e.failed = failed;
    return e;
}

/// Cancelled if that counts after so many failures; else nothing has happened.
expectation cancelled_after(matrix_case const& c, unsigned failures, unsigned retries,
                            std::optional<error_code> failed = {}) {
    return stops(c, failures) ? cancelled(c.at.attempt, retries, failed) : undisturbed(c);
}

/// An attempt that is pending, and what it is told.
struct pending_attempt {
    matrix_case const& c;
    std::vector<type> told;
    std::optional<error_code> result;
    bool by_itself = false;

    void tell(type types) {
        type const seen = let_in(c, types);
        if (result || seen == none)
            return;
        told.push_back(seen);
        switch (c.does) {
        case kind::honours_all:
            result = aborted();
            break;
        case kind::honours_terminal:
            if (holds(seen, type::terminal))
                result = aborted();
            break;
        case kind::succeeds_when_cancelled:
            result = error_code();
            break;
        case kind::fails_when_cancelled:
        case kind::cleans_up:
            result = asio::error::connection_reset;
            break;
        default: // takes no notice
            break;
        }
    }

    /// Lets the attempt end by itself, if it has not and ever does.
    void wait_for() {
        by_itself = !result;
        if (by_itself && c.does != kind::never_completes)
            result = c.fails_by_itself() ? refused() : error_code();
    }
};

/// Decision 12 and 14: a success wins, a failure becomes operation_aborted and is reported; never a new
/// attempt.
expectation cancelled_in_attempt(matrix_case const& c, pending_attempt const& attempt) {
    unsigned const number = c.at.attempt;
    expectation e;
    if (!attempt.result) {
        e.completes = false;
        e.attempts = number;
        e.retries = number - 1;
    } else if (attempt.result->failed()) {
        e = cancelled(number, number - 1, attempt.result);
    } else {
        e.attempts = number;
        e.retries = number - 1;
    }
    e.at_once = !attempt.by_itself;
    e.told = attempt.told;
    return e;
}

expectation in_attempt(matrix_case const& c) {
    pending_attempt attempt{c, {}, {}};
    bool const counts = stops(c, c.at.attempt - 1);
    if (counts)
        attempt.tell(heard(c));
    attempt.wait_for();
    if (counts)
        return cancelled_in_attempt(c, attempt);
    expectation e;
    if (attempt.result == aborted()) { // decision 17
        e = gives_up(aborted(), stop_reason::not_retryable, c.at.attempt, c.at.attempt - 1);
    } else {
        e = undisturbed(c);
        if (attempt.result == error_code(asio::error::connection_reset)) {
            ++e.attempts;
            ++e.retries;
        }
    }
    e.told = attempt.told;
    return e;
}

/// The callable of the attempt cancels. A signal has no memory, so an operation that is initiated afterwards is
/// not told; a coroutine remembers and begins nothing new, and a scope tells the attempt once it is pending.
expectation in_initiation(matrix_case const& c) {
    unsigned const failures = c.at.attempt - 1;
    bool const counts = stops(c, failures);
    if (c.does == kind::completes_inline)
        return undisturbed(c);
    if (c.does == kind::throws)
        return cancelled_after(c, failures, failures, refused());
    if (c.by_scope())
        return in_attempt(c);
    if (counts && c.shape == form::awaitable_operation && let_in(c, heard(c)) != none)
        return cancelled(c.at.attempt, failures,
                         c.does == kind::cleans_up ? asio::error::connection_reset : aborted());
    if (!counts)
        return undisturbed(c);
    pending_attempt attempt{c, {}, {}};
    attempt.wait_for();
    return cancelled_in_attempt(c, attempt);
}

/// What the attempt comes to when its time is over and nobody cancels.
expectation timed_out_attempt(matrix_case const& c, pending_attempt const& attempt) {
    unsigned const number = c.at.attempt;
    expectation e;
    e.attempts = number;
    e.retries = number - 1;
    if (!attempt.result) {
        e.completes = false;
    } else if (attempt.result->failed()) {
        if (c.at_deadline()) {
            e = gives_up(timed_out(), stop_reason::deadline, number, number - 1);
            e.failed = timed_out();
        } else {
            ++e.attempts; // it counts as failed, and the next one succeeds
            ++e.retries;
        }
    }
    e.told = attempt.told;
    return e;
}

/// Decision 8 and 10, with a cancellation between the limit and its notice. A scope's own notice is behind the
/// one of the limit, which makes no difference here: both are terminal. At the deadline it is no cancellation
/// any more (decision 74).
expectation at_limit_queued(matrix_case const& c) {
    pending_attempt attempt{c, {}, {}};
    bool const counts = stops(c, c.at.attempt - 1);
    if (counts)
        attempt.tell(heard(c));
    attempt.tell(type::terminal);
    attempt.wait_for();
    return counts && !c.at_deadline() ? cancelled_in_attempt(c, attempt) : timed_out_attempt(c, attempt);
}

/// The same with a cancellation after whatever the attempt did when it was told of its limit.
expectation at_limit_passed(matrix_case const& c) {
    pending_attempt attempt{c, {}, {}};
    attempt.tell(type::terminal);
    if (attempt.result) { // the operation has ended, or waits for its next attempt
        expectation const ended = timed_out_attempt(c, attempt);
        if (!attempt.result->failed() || c.at_deadline() || !stops(c, c.at.attempt))
            return ended;
        expectation e = cancelled(c.at.attempt, c.at.attempt);
        e.told = attempt.told;
        return e;
    }
    bool const counts = stops(c, c.at.attempt - 1);
    if (counts)
        attempt.tell(heard(c));
    attempt.wait_for();
    return counts && !c.at_deadline() ? cancelled_in_attempt(c, attempt) : timed_out_attempt(c, attempt);
}

} // namespace

expectation expected(matrix_case const& c) {
    unsigned const attempt = c.at.attempt;
    switch (c.at.where) {
    case place::before_start:
        // A signal has no memory; a scope and a coroutine that makes the attempts itself have.
        return (c.by_scope() || c.direct()) && stops(c, 0) ? cancelled(0, 0) : undisturbed(c);
    case place::attempt_not_begun:
        return stops(c, 0) ? cancelled(0, 0) : undisturbed(c);
    case place::in_initiation:
        return in_initiation(c);
    case place::in_attempt:
        return in_attempt(c);
    case place::failure_queued: // still the first attempt, if it is that
        return cancelled_after(c, attempt - 1, attempt - 1, refused());
    case place::waiting:
    case place::wait_over_and_queued:
    case place::retry_queued:
        return cancelled_after(c, attempt, attempt);
    case place::waiting_in_real_time: {
        if (stops(c, attempt))
            return cancelled(attempt, attempt);
        expectation e;
        e.completes = false;
        e.attempts = e.retries = attempt;
        return e;
    }
    case place::in_predicate:
    case place::in_backoff:
    case place::in_jitter:
        return cancelled_after(c, attempt, attempt - 1, refused());
    case place::in_on_retry:
        return cancelled_after(c, attempt, attempt, refused());
    case place::success_queued:
    case place::in_on_give_up:
    case place::in_completion_handler:
    case place::after_completion:
        return undisturbed(c);
    case place::attempt_limit_queued:
    case place::set_up_limit_queued:
    case place::silence_queued:
    case place::deadline_queued:
        return at_limit_queued(c);
    case place::attempt_limit_passed:
    case place::set_up_limit_passed:
    case place::silence_passed:
    case place::deadline_passed:
        return at_limit_passed(c);
    }
    return {};
}

} // namespace asio_retry::test
