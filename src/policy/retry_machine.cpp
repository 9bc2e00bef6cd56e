#include <asio_retry/retry_machine.hpp>

#include <asio_retry/retry_report.hpp>

#include <boost/system/errc.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <optional>

namespace asio_retry {
namespace {

retry_action wait_for(duration delay) noexcept {
    retry_action action;
    action.what = retry_action::kind::wait;
    action.delay = delay;
    return action;
}

permanent_error marked(verdict const& failure) {
    return failure.exception() ? permanent_error(failure.exception()) : permanent_error(failure.error());
}

} // namespace

retry_action retry_machine::make_attempt(time_point now) noexcept {
    begin_attempt(now);
    retry_action action;
    action.what = retry_action::kind::attempt;
    return action;
}

bool retry_machine::may_start_at(time_point now) noexcept {
    retry_settings const& settings = policy_.settings();
    started_ = now;
    if (observer_)
        observer_->on_start(now);
    if (settings.total_timeout)
        deadline_ = std::min(deadline_, saturating_add(now, *settings.total_timeout));
    if (settings.deadline)
        deadline_ = std::min(deadline_, *settings.deadline);
    return deadline_ == time_point::max() || now < deadline_;
}

retry_action retry_machine::start(time_point now) {
    if (may_start(now))
        return make_attempt(now);
    if (cancelled())
        return end_without_attempt(stop_reason::cancelled, aborted_error(), now);
    return end_without_attempt(stop_reason::deadline, timed_out_error(), now);
}

retry_action retry_machine::refuse(error_code const& code, time_point now) {
    return end_without_attempt(stop_reason::budget, code, now);
}

retry_action retry_machine::end_without_attempt(stop_reason reason, error_code const& code, time_point now) {
    return give_up(reason, verdict::failure(code), code, now);
}

retry_action retry_machine::on_failure(verdict const& v, time_point now, random& source) {
    assert(!v.succeeded());
    bool const stopped = cancelled(); // asked while this attempt may still be the first
    if (stopped || attempt_expired_)
        return on_stopped_attempt(v, stopped, now, source);
    count_failure(now, interruption::none);
    if (observer_)
        observer_->on_failure(v, interruption::none, now);
    return decide(v, error_code(), now, source);
}

/// One that failed and was to stop, or after which none is to begin.
retry_action retry_machine::on_stopped_attempt(verdict const& v, bool stopped, time_point now, random& source) {
    bool const expired = attempt_expired_;
    attempt_expired_ = false;
    auto told_to_stop = interruption::none;
    if (stopped && is_told())
        told_to_stop = interruption::cancellation;
    else if (expired)
        told_to_stop = limited_by_deadline_ ? interruption::deadline : interruption::attempt_timeout;

    count_failure(now, told_to_stop);
    bool const out_of_time =
        told_to_stop == interruption::attempt_timeout || told_to_stop == interruption::deadline;
    std::optional<verdict> timed_out;
    if (out_of_time)
        timed_out = verdict::timed_out(v);
    if (observer_)
        observer_->on_failure(told_to_stop == interruption::attempt_timeout ? *timed_out : v, told_to_stop,
                              now);
    if (stopped)
        return give_up(stop_reason::cancelled, v, aborted_error(), now);
    if (told_to_stop == interruption::deadline)
        return give_up(stop_reason::deadline, *timed_out, timed_out->error(), now, timed_out->exception());
    return decide(*timed_out, timed_out->error(), now, source);
}

/// One after enough health is the first of a new outage. What hung until its time was up was not healthy,
/// unless it said so.
void retry_machine::count_failure(time_point now, interruption told_to_stop) noexcept {
    auto const& stable_for = policy_.settings().reset_after;
    bool const hung = told_to_stop == interruption::attempt_timeout && !marks_health_;
    bool const says_so = marks_health_ || stable_for > duration::zero(); // or every failure would be the first
    if (stable_for && says_so && !hung && healthy_since_ <= now &&
        elapsed_between(healthy_since_, now) >= *stable_for) {
        failures_ = 0;
        started_ = now;
        at_edge_ = false;
    }
    ++failures_;
}

retry_action retry_machine::decide(verdict const& failure, error_code const& replacement, time_point now,
                                   random& source) {
    retry_settings const& settings = policy_.settings();
    auto const stop = [&](stop_reason reason) {
        return cancelled() ? give_up(stop_reason::cancelled, failure, aborted_error(), now)
                           : give_up(reason, failure, replacement, now,
                                     replacement ? failure.exception() : std::exception_ptr());
    };
    error stage = error::predicate_threw;
    try {
        if (failure.is_permanent()) {
            if (settings.is_nested && replacement && !cancelled()) {
                permanent_error const timed_out = marked(failure);
                return give_up(stop_reason::not_retryable, failure, timed_out, now,
                               std::make_exception_ptr(timed_out));
            }
            if (cancelled() || settings.is_nested) // the outer retry has to see the mark
                return stop(stop_reason::not_retryable);
            return give_up(stop_reason::not_retryable, failure, failure.error(), now, failure.exception());
        }
        if (!is_retryable(failure))
            return stop(stop_reason::not_retryable);
        if (settings.max_attempts && failures_ >= *settings.max_attempts)
            return stop(stop_reason::attempts);

        stage = error::backoff_threw;
        duration const ceiling = settings.backoff.ceiling(failures_);
        stage = error::jitter_threw;
        duration delay = settings.jitter.draw(course_.step(settings.backoff, failures_, ceiling), source);
        course_.drew(delay);

        auto const [allowed, limit] = longest_wait(now);
        bool const is_last = delay > allowed;
        if (at_edge_ || (is_last && (!settings.clamp || allowed <= duration::zero())))
            return stop(limit);
        if (settings.clamp) {
            delay = std::min({delay, allowed, wait_leaving_time(now)});
            at_edge_ = is_last;
            healthy_since_ = saturating_add(now, delay);
        }
        if (cancelled())
            return stop(stop_reason::cancelled);
        if (!take_lease(now))
            return stop(stop_reason::budget);

        stage = error::hook_threw;
        if (settings.on_retry)
            settings.on_retry(retry_event{attempts_, failure.error(), failure.exception(), delay, {}});
        if (cancelled())
            return stop(stop_reason::cancelled);
        if (observer_)
            observer_->on_wait(delay, now);
        return wait_for(delay);
    } catch (...) {
        return give_up(stop_reason::not_retryable, failure, stage, now, std::current_exception());
    }
}

retry_machine::wait_limit retry_machine::longest_wait(time_point now) const noexcept {
    wait_limit result{duration::max(), stop_reason::deadline};
    if (deadline_ != time_point::max())
        result.allowed = now > deadline_ ? -elapsed_between(deadline_, now) : elapsed_between(now, deadline_);
    if (auto const& max_elapsed = policy_.settings().max_elapsed) {
        duration const left = *max_elapsed - elapsed_between(started_, now);
        if (left < result.allowed)
            result = {left, stop_reason::elapsed};
    }
    return result;
}

/// How long a wait may be that leaves the attempt after it time before the deadline: as much as the longest
/// attempt took, within a tenth and a half of what is left. What lasts says nothing about what it needs.
duration retry_machine::wait_leaving_time(time_point now) noexcept {
    if (deadline_ == time_point::max())
        return duration::max();
    if (!policy_.settings().reset_after) {
        auto const took = static_cast<std::uint64_t>(elapsed_between(healthy_since_, now).count());
        auto const bits = static_cast<unsigned char>(std::bit_width(took));
        if (bits > longest_attempt_)
            longest_attempt_ = bits & 63;
    }
    duration const longest(static_cast<std::int64_t>((std::uint64_t(1) << longest_attempt_) - 1));
    duration const left = elapsed_between(now, deadline_);
    return left - std::clamp(longest, left / 10, left / 2);
}

retry_action retry_machine::on_exception(error_code const& code, std::exception_ptr thrown, time_point now) {
    return give_up(stop_reason::not_retryable, verdict::failure(code), code, now, std::move(thrown));
}

retry_action retry_machine::on_wait_over(time_point now) {
    if (observer_)
        observer_->on_wait_over(now);
    if (cancelled())
        return end_without_attempt(stop_reason::cancelled, aborted_error(), now);
    if (now > deadline_ && !at_edge_)
        return end_without_attempt(stop_reason::deadline, timed_out_error(), now);
    at_edge_ = at_edge_ && now >= healthy_since_; // the wait may have been cut short
    return make_attempt(now);
}

time_point retry_machine::attempt_limit(time_point now) noexcept {
    auto const& timeout = policy_.settings().attempt_timeout;
    time_point const expiry = timeout ? saturating_add(now, *timeout) : time_point::max();
    limited_by_deadline_ = deadline_ <= expiry;
    return std::min(expiry, deadline_);
}

retry_action retry_machine::give_up(stop_reason reason, verdict const& failure, error_code const& replacement,
                                    time_point now, std::exception_ptr thrown) {
    give_lease_back();
    if (observer_)
        observer_->on_end(reason, now);
    retry_action action;
    action.reason = reason;
    action.error = replacement;
    action.thrown = std::move(thrown);
    if (auto const& hook = policy_.settings().on_give_up) {
        try {
            hook(retry_event{attempts_, failure.error(), failure.exception(), duration::zero(), reason});
        } catch (...) {
            action.error = error::hook_threw;
            action.thrown = std::current_exception();
        }
    }
    return action;
}

bool retry_machine::is_retryable(verdict const& failure) const {
    auto const& predicate = policy_.settings().retry_if;
    if (failure.is_rejected())
        return true;
    if (auto const* by_code = std::get_if<retry_settings::code_predicate>(&predicate))
        return (*by_code)(failure.error());
    if (auto const* by_exception = std::get_if<retry_settings::exception_predicate>(&predicate))
        return (*by_exception)(failure.exception() ? failure.exception()
                                                   : detail::exception_of(failure.error()));
    return std::holds_alternative<any_failure_t>(predicate) ||
           failure.error() != boost::system::errc::operation_canceled;
}

} // namespace asio_retry
