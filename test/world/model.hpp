#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_gate.hpp>

#include "world/law.hpp"
#include "world/plan.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::world {

/// What one operation may do next, from the documentation and not from the library's machine. It is told of
/// everything that happens, and complains about what must not. Times count from the beginning of the run.
class model {
public:
    using complaint = std::function<void(std::string const&)>;

    model(operation_plan const& plan, complaint complain)
        : plan_(plan)
        , complain_(std::move(complain)) {}

    void initiated(duration now) {
        started_ = now;
        phase_ = phase::started;
        if (plan_.total_timeout)
            deadline_ = now + *plan_.total_timeout;
        if (plan_.deadline)
            deadline_ = std::min(deadline_, *plan_.deadline);
    }

    // --- attempts

    void began(std::uint64_t number, duration now) {
        demand(number == ++attempts_, "attempts are not numbered one after the other");
        demand(!plan_.max_attempts || number <= *plan_.max_attempts, "more attempts than max_attempts");
        demand(cancelled_ != answer::yes, "an attempt after a cancellation");
        demand(!plan_.limits_attempts() || now < deadline_ || clamped_ != answer::no,
               "an attempt after the deadline");
        if (number == 1)
            demand(phase_ == phase::started && now == started_, "the first attempt does not begin at once");
        else
            check_wait(now);
        phase_ = phase::running;
        began_at_ = now;
        leased_ = false;
        limit_ = plan_.limits_attempts() ? deadline_ : duration::max();
        limited_by_deadline_ = true;
        if (plan_.attempt_timeout && now + *plan_.attempt_timeout < limit_) {
            limit_ = now + *plan_.attempt_timeout;
            limited_by_deadline_ = false;
        }
    }

    /// The attempt was sent a cancellation.
    void told(asio::cancellation_type_t type, duration now) {
        demand(phase_ == phase::running, "an attempt that does not run is told to stop");
        bool const limit = is_limit(now) && type == asio::cancellation_type::terminal;
        bool const forwarded = now == told_at_ && (type & told_) != asio::cancellation_type::none;
        bool const drained = type == asio::cancellation_type::terminal &&
                             std::find(drain_ends_.begin(), drain_ends_.end(), now) != drain_ends_.end();
        demand(limit || forwarded || drained, "an attempt is told to stop for no reason");
        told_of_limit_ = told_of_limit_ || limit;
        told_of_deadline_ = told_of_deadline_ || (limit && now >= deadline_);
    }

    void ended(fate how, error_code const& error, bool hears, duration now) {
        demand(phase_ == phase::running, "an attempt ends that does not run");
        demand(!hears || now <= limit_ || told_of_limit_, "an attempt beyond its limit was not told to stop");
        demand(!hears || now <= deadline_ || told_of_deadline_,
               "an attempt beyond the deadline was not told to stop, or not again");
        if (now == limit_ || now == deadline_)
            lenient_ = true; // which of the two came first is anybody's guess
        phase_ = phase::ended;
        ended_at_ = now;
        longest_attempt_ = std::max(longest_attempt_, now - began_at_);
        how_ = how;
        error_ = error;
        expired_ = now > limit_;
        limited_by_deadline_ = limited_by_deadline_ || now > deadline_;
        if (expired_ && how != fate::success)
            error_ = asio::error::timed_out;
        judged_ = how == fate::rejected && !expired_;
        told_of_limit_ = told_of_deadline_ = false;
    }

    void dropped() { phase_ = phase::dropped; }

    // --- the policy's callables

    void predicate(error_code const& error, bool says_yes, duration now) {
        demand(phase_ == phase::ended && how_ != fate::success, "the predicate without a failure");
        demand(now == ended_at_, "the predicate at another time than the failure");
        demand(error == error_ || lenient_, "the predicate is asked about another error: " + error.message());
        demand(!judged_ || lenient_, "the predicate is asked about a rejected result");
        demand(!predicate_asked_, "the predicate is asked twice");
        demand(cancelled_ != answer::yes, "the predicate after a cancellation");
        settle_total(false);
        predicate_asked_ = true;
        retryable_ = says_yes;
    }
    void predicate_threw() { thrown_ = error::predicate_threw; }

    void leased(bool granted) {
        demand(!leased_, "two leases at once");
        leased_ = granted;
        refused_ = !granted;
    }
    void lease_returned() {
        demand(leased_, "a lease is returned that was not taken");
        leased_ = false;
    }

    void retrying(retry_event const& e, duration now) {
        demand(phase_ == phase::ended && how_ != fate::success, "on_retry without a failure");
        demand(now == ended_at_, "on_retry at another time than the failure");
        demand(e.attempt == attempts_, "on_retry tells of another attempt");
        settle_total(false);
        demand(cancelled_ != answer::yes, "on_retry after a cancellation");
        demand(judged_ || (predicate_asked_ && retryable_) || lenient_, "on_retry though it is not retryable");
        demand(!thrown_, "on_retry after a callable threw");
        demand(!plan_.max_attempts || attempts_ < *plan_.max_attempts, "on_retry after the last attempt");
        demand(!(expired_ && limited_by_deadline_) || lenient_, "on_retry after the deadline");
        demand(plan_.has_gate == leased_, "a retry without asking the gate");
        demand(e.error == (judged_ ? make_error_code(error::result_rejected) : error_) || lenient_,
               "on_retry tells of another error: " + e.error.message());
        check_delay(e.delay, now);
        phase_ = phase::waiting;
        delay_ = e.delay;
        earliest_end_ = now == hurried_at_ ? now : now + delay_;
        predicate_asked_ = false;
    }
    void hook_threw() { thrown_ = error::hook_threw; }

    void gave_up(retry_event const& e, duration now) {
        demand(!given_up_, "on_give_up twice");
        demand(phase_ != phase::running, "on_give_up while an attempt runs");
        demand(phase_ != phase::ended || how_ != fate::success, "on_give_up after a success");
        // An attempt told to stop before its coroutine began was none.
        bool const is_late = is_late_cancellation() && e.reason == stop_reason::deadline;
        unborn_ = plan_.form >= form_kind::awaitable && (e.reason == stop_reason::cancelled || is_late) &&
                  phase_ != phase::ended && e.attempt == attempts_ + 1;
        demand(e.attempt == attempts_ || unborn_, "on_give_up tells of another attempt");
        given_up_ = e.reason;
        if (cancelled_ == answer::maybe)
            settle_total(e.reason == stop_reason::cancelled);
        if (e.reason == stop_reason::cancelled) {
            demand(cancelled_ == answer::yes, "it gives up as cancelled and was not");
            demand(now == std::max(cancelled_at_, phase_ == phase::started ? started_ : ended_at_),
                   "the end of a cancelled operation is late");
        } else if (is_late) {
            demand(now == std::max(cancelled_at_, phase_ == phase::started ? started_ : ended_at_),
                   "the end of an operation that was cancelled at its deadline is late");
            lenient_ = true;
        } else {
            demand(cancelled_ == answer::no || thrown_, "a cancelled operation gives up for another reason");
            demand(now == (phase_ == phase::started ? started_ : ended_at_), "it gives up late");
            check_reason(e.reason, now);
        }
        if (phase_ == phase::ended || phase_ == phase::waiting)
            last_error_ = judged_ ? error_code() : error_;
    }

    // --- cancellation and the end

    /// Like one of type terminal, and nobody filters it.
    void cancelled_by_scope(duration now) {
        if (is_over())
            return;
        tell(asio::cancellation_type::terminal, now);
        if (std::exchange(cancelled_, answer::yes) != answer::yes)
            cancelled_at_ = now;
    }

    /// No attempt begins from now on; the one that runs may go on for the timeout.
    void drained_by_scope(duration timeout, duration now) {
        if (is_over())
            return;
        drain_ends_.push_back(now + timeout);
        if (std::exchange(cancelled_, answer::yes) != answer::yes)
            cancelled_at_ = now;
    }

    /// A wait ends within this time, or now; one that is about to begin may, too.
    void hurried_by_scope(duration spread, duration now) {
        hurried_at_ = now;
        if (phase_ != phase::waiting)
            return;
        duration const latest = now - ended_at_ + std::max(spread, duration(1)) - duration(1);
        earliest_end_ = std::min(earliest_end_, now);
        if (latest < delay_)
            clamped_ = answer::no;
        delay_ = std::min(delay_, latest);
    }

    void cancelled(asio::cancellation_type_t type, duration now) {
        if (is_over())
            return;
        using all = asio::cancellation_type;
        if (plan_.awaited)
            type = type & all::terminal;
        if (type == all::none)
            return;
        bool const only_total = (type & (all::terminal | all::partial)) == all::none;
        bool const failed = attempts_ > 1 || phase_ == phase::waiting || predicate_asked_ || given_up_;
        if (only_total && !plan_.allow_total && failed)
            return;
        tell(type, now);
        if (cancelled_ == answer::yes)
            return;
        cancelled_at_ = now;
        cancelled_ = only_total && !plan_.allow_total && phase_ == phase::ended ? answer::maybe : answer::yes;
    }

    void completed(error_code const& error, bool has_value, duration now) {
        demand(phase_ != phase::completed, "it completes twice");
        demand(phase_ != phase::dropped, "it completes though its handler was dropped");
        if (phase_ == phase::ended && how_ == fate::success) {
            demand(!error, "a success is delivered as " + error.message());
            demand(has_value, "a success is delivered without its value");
            demand(now == ended_at_, "a success is delivered late");
        } else if (plan_.awaited && attempts_ == 0 && cancelled_ == answer::yes && !given_up_) {
            demand(error == asio::error::operation_aborted, "cancelled before it began, but not aborted");
        } else {
            demand(given_up_.has_value(), "it fails without on_give_up");
            demand(error == expected_error() || lenient_,
                   "it completes with " + error.message() + " instead of " + expected_error().message());
        }
        demand(!leased_ || unborn_, "a lease is not returned");
        phase_ = phase::completed;
    }

    bool is_over() const { return phase_ == phase::completed || phase_ == phase::dropped; }
    bool holds_lease() const { return leased_; }
    std::uint64_t attempts() const { return attempts_; }

private:
    enum class phase { planned, started, running, ended, waiting, completed, dropped };
    enum class answer { no, maybe, yes };

    void tell(asio::cancellation_type_t type, duration now) {
        told_ = told_at_ == now ? told_ | type : type;
        told_at_ = now;
    }

    void demand(bool holds, std::string const& otherwise) const {
        if (!holds)
            complain_(otherwise);
    }

    /// It is the deadline, and no cancellation.
    bool is_late_cancellation() const {
        return cancelled_ == answer::yes && plan_.limits_attempts() && cancelled_at_ >= deadline_;
    }

    /// A total cancellation between the end of an attempt and its judgement: the judgement shows whether it
    /// came in time.
    void settle_total(bool counted) {
        if (cancelled_ == answer::maybe)
            cancelled_ = counted ? answer::yes : answer::no;
    }

    duration time_left(duration now) const {
        duration left = deadline_ == duration::max() ? duration::max() : deadline_ - now;
        if (plan_.max_elapsed)
            left = std::min(left, *plan_.max_elapsed - (now - started_));
        return left;
    }

    void check_wait(duration now) {
        demand(phase_ == phase::waiting && earliest_end_ <= now && now <= ended_at_ + delay_,
               "a retry not at the end of its wait");
        if (now < ended_at_ + delay_)
            clamped_ = answer::no;
    }

    /// With clamp, how long a wait may be that leaves an attempt time: what the longest one took, in whole
    /// bits, within a tenth and a half of what is left.
    duration clamped_wait(duration now) const {
        if (deadline_ == duration::max())
            return time_left(now);
        std::int64_t longest = 0;
        while (longest < longest_attempt_.count())
            longest = 2 * longest + 1;
        duration const left = std::max(deadline_ - now, duration::zero());
        return std::min(time_left(now), left - std::clamp(duration(longest), left / 10, left / 2));
    }

    void check_delay(duration delay, duration now) {
        demand(clamped_ != answer::yes, "a retry after the last one");
        demand(delay >= 0ns, "a negative delay");
        demand(delay <= time_left(now), "a wait that ends after a limit");
        clamped_ = answer::no;
        auto const range =
            range_of(plan_.law, attempts_, attempts_ == 1 ? ceiling_of(plan_.law, 1) : previous_);
        if (plan_.clamp)
            demand(delay <= clamped_wait(now), "a wait that leaves an attempt no time");
        previous_ = delay;
        if (plan_.clamp && delay == clamped_wait(now) && delay <= range.greatest) {
            previous_ = range.greatest; // what was drawn may have been longer
            if (range.greatest > time_left(now))
                clamped_ = range.least > time_left(now) ? answer::yes : answer::maybe;
        } else {
            demand(delay >= range.least && delay <= range.greatest,
                   "a delay of " + std::to_string(delay.count()) + " ns outside its law");
        }
    }

    /// Of the attempt that runs: the first or a later one, each of which tells the attempt.
    bool is_limit(duration now) const {
        bool const is_own = plan_.attempt_timeout && now == began_at_ + *plan_.attempt_timeout;
        bool const is_total = plan_.total_timeout && now == started_ + *plan_.total_timeout;
        return now == limit_ || (now >= limit_ && (is_own || is_total || now == plan_.deadline));
    }

    void check_reason(stop_reason reason, duration now) {
        if (lenient_)
            return;
        bool const failed = phase_ == phase::ended || phase_ == phase::waiting;
        if (thrown_) {
            demand(reason == stop_reason::not_retryable, "a callable threw, but the reason is another");
            return;
        }
        if (failed && expired_ && limited_by_deadline_) {
            demand(reason == stop_reason::deadline, "the deadline passed, but the reason is another");
            return;
        }
        switch (reason) {
        case stop_reason::not_retryable:
            demand(failed && predicate_asked_ && !retryable_ && !judged_, "not_retryable, but it was");
            return;
        case stop_reason::attempts:
            demand(failed && plan_.max_attempts && attempts_ == *plan_.max_attempts,
                   "attempts, but some were left");
            return;
        case stop_reason::deadline:
            if (phase_ == phase::started) {
                demand(now >= deadline_, "no attempt before the deadline");
                return;
            }
            [[fallthrough]];
        case stop_reason::elapsed: {
            auto const range =
                range_of(plan_.law, attempts_, attempts_ == 1 ? ceiling_of(plan_.law, 1) : previous_);
            demand(failed && (clamped_ != answer::no || range.greatest > time_left(now)),
                   "a limit is blamed that is far off");
            demand(clamped_ != answer::no || !plan_.clamp || time_left(now) <= 0ns, "no attempt at the edge");
            return;
        }
        case stop_reason::budget:
            demand(failed && refused_, "budget, but the gate did not refuse");
            return;
        case stop_reason::succeeded:
        case stop_reason::pushback:
        case stop_reason::refused:
        case stop_reason::cancelled:
            complain_("a reason that is none here");
            return;
        }
    }

    error_code expected_error() const {
        if (thrown_)
            return plan_.completes_with_code() ? make_error_code(*thrown_) : asio::error::already_open;
        if (given_up_ == stop_reason::cancelled)
            return asio::error::operation_aborted;
        if (phase_ == phase::started)
            return asio::error::timed_out;
        return last_error_;
    }

    operation_plan const& plan_;
    complaint complain_;
    phase phase_ = phase::planned;
    duration started_{}, began_at_{}, ended_at_{}, cancelled_at_{};
    duration deadline_ = duration::max();
    duration limit_ = duration::max();
    duration delay_{}, previous_{}, longest_attempt_{};
    duration told_at_{-1}, hurried_at_{-1}, earliest_end_{};
    std::vector<duration> drain_ends_;
    asio::cancellation_type_t told_ = asio::cancellation_type::none;
    std::uint64_t attempts_ = 0;
    fate how_{};
    error_code error_, last_error_;
    answer cancelled_ = answer::no;
    std::optional<stop_reason> given_up_;
    std::optional<error> thrown_;
    bool limited_by_deadline_ = false, told_of_limit_ = false, told_of_deadline_ = false;
    bool expired_ = false, judged_ = false;
    bool predicate_asked_ = false, retryable_ = false, leased_ = false, refused_ = false;
    answer clamped_ = answer::no; // whether the wait was cut short, so that the retry is the last
    bool lenient_ = false, unborn_ = false;
};

} // namespace asio_retry::world
