#pragma once

#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_machine.hpp>

#include "support/int128.hpp"
#include "support/plain_jitters.hpp"

#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace asio_retry::test {

/// Bytes, read as choices; zeros when they are used up.
class byte_choices {
public:
    explicit byte_choices(std::span<std::uint8_t const> bytes) noexcept
        : left_(bytes) {}

    bool used_up() const noexcept { return left_.empty(); }

    std::uint8_t byte() noexcept {
        if (left_.empty())
            return 0;
        std::uint8_t const first = left_.front();
        left_ = left_.subspan(1);
        return first;
    }

    /// A number in [0, count).
    unsigned one_of(unsigned count) noexcept { return byte() % count; }

    bool flip() noexcept { return one_of(2) == 1; }

    /// Of every magnitude: zero, a nanosecond, hours, the greatest.
    duration length() noexcept {
        constexpr auto greatest = static_cast<std::uint64_t>(duration::max().count());
        std::uint64_t const mantissa = byte();
        unsigned const exponent = one_of(64);
        return duration(
            static_cast<duration::rep>(mantissa > (greatest >> exponent) ? greatest : mantissa << exponent));
    }

    duration signed_length() noexcept {
        duration const magnitude = length();
        return flip() ? -magnitude : magnitude;
    }

private:
    std::span<std::uint8_t const> left_;
};

/// Plays a policy and the events of one operation, read from bytes, to a machine, and checks after each event
/// what must hold whatever they are. Callbacks throw and cancel as the bytes say.
class machine_bytes {
public:
    explicit machine_bytes(std::span<std::uint8_t const> bytes)
        : choices_(bytes) {}
    machine_bytes(machine_bytes const&) = delete;
    machine_bytes& operator=(machine_bytes const&) = delete;

    /// The first rule that was broken; empty if none was.
    std::string const& play() {
        try {
            machine_.emplace(read_policy());
            watched_ = choices_.flip();
            if (watched_)
                machine_->watch(probe_);
            now_ = begin_ = time_point(choices_.signed_length());
            while (phase_ != phase::over && !choices_.used_up() && fault_.empty())
                next_event();
            if (phase_ == phase::over)
                prod_what_is_over();
        } catch (...) {
            check(false, "an exception left the machine");
        }
        machine_.reset();
        check(gate_->held == 0, "the machine is gone and its lease was not given back");
        return fault_;
    }

    /// How the operation ended; none if the bytes ended first.
    std::optional<stop_reason> reason() const noexcept { return reason_; }

private:
    enum class phase { fresh, attempting, waiting, over };

    /// Wide enough for sums and differences of points in time.
    using wide = int128;

    struct watched_gate final : retry_gate {
        explicit watched_gate(machine_bytes& watcher)
            : owner(watcher) {}
        bool acquire(failure_kind, time_point) noexcept override {
            owner.check(owner.phase_ == phase::attempting, "the gate was asked although no attempt had failed");
            owner.check(++owner.call_.asked == 1, "the gate was asked twice for one retry");
            owner.call_.gate_refused = owner.choices_.one_of(4) == 1;
            return !owner.call_.gate_refused && ++held == 1;
        }
        void give_back(failure_kind) noexcept override {
            owner.check(--held == 0, "a lease was given back that was not held");
        }

        machine_bytes& owner;
        int held = 0;
    };

    struct flagged_probe final : detail::cancellation_probe {
        bool stops(bool total_counts) const noexcept override { return terminal || (total && total_counts); }
        bool terminal = false;
        bool total = false;
    };

    /// What the callbacks saw and did during one call of the machine.
    struct one_call {
        int asked = 0;
        int retries = 0;
        int give_ups = 0;
        bool gate_refused = false;
        bool predicate_refused = false;
        bool cancelled = false; // when on_give_up was called
        bool threw = false;
        std::optional<error_code> ended_by; // what threw, or an event from outside
        std::optional<duration> drawn;
        retry_event told;
    };

    void check(bool holds, char const* rule) {
        if (!holds && fault_.empty())
            fault_ = rule;
    }

    // The policy.

    backoff read_backoff() {
        unsigned const kind = choices_.one_of(8);
        if (kind == 6) {
            first_at_once_ = true;
            backoff const then = read_built_in_backoff();
            return first_at_once(then.cap(std::max(choices_.length(), then.base())));
        }
        if (kind == 7) {
            backoff const custom([this](std::uint64_t failures) {
                check(failures == failures_, "the backoff was told a wrong number of failures");
                misbehave(error::backoff_threw);
                return checked(choices_.signed_length(), error::backoff_threw);
            });
            return choices_.flip() ? custom.cap(choices_.length()) : custom;
        }
        backoff const shape = read_built_in_backoff();
        return choices_.flip() ? shape.cap(std::max(choices_.length(), shape.base())) : shape;
    }

    backoff read_built_in_backoff() {
        duration const base = choices_.length();
        switch (choices_.one_of(4)) {
        case 0:
            return constant(base);
        case 1:
            return linear(base, choices_.length());
        case 2:
            return exponential(base, 1 + choices_.byte() / 64.0);
        default:
            return truncated_binary(1 + choices_.byte(), base);
        }
    }

    jitter read_built_in_jitter() {
        auto const kind = static_cast<int>(choices_.one_of(plain_jitters + 1));
        return kind < plain_jitters ? plain_jitter(kind) : proportional_jitter(choices_.byte() / 255.0);
    }

    /// A built-in jitter, whose draw is noted, or nonsense. A negative draw ends the operation, and one beyond
    /// the cap is held there.
    jitter read_jitter() {
        if (choices_.one_of(4) == 3)
            return [this](backoff_step step, random&) {
                check_step(step);
                misbehave(error::jitter_threw);
                duration const nonsense = checked(choices_.signed_length(), error::jitter_threw);
                if (nonsense >= duration::zero())
                    call_.drawn = std::min(nonsense, step.cap);
                return nonsense;
            };
        return [this, built_in = read_built_in_jitter()](backoff_step step, random& source) {
            check_step(step);
            call_.drawn = built_in.draw(step, source);
            return *call_.drawn;
        };
    }

    /// A negative result ends the operation as an exception does.
    duration checked(duration result, error stage) {
        if (result < duration::zero()) {
            call_.threw = true;
            call_.ended_by = stage;
        }
        return result;
    }

    void check_step(backoff_step const& step) {
        check(step.failures == failures_, "the jitter was told a wrong number of failures");
        check(duration::zero() <= step.ceiling && step.ceiling <= step.cap, "the ceiling left [0, cap]");
        check(step.cap == settings().backoff.cap_after(failures_), "the jitter was told a wrong cap");
        check(!first_at_once_ || failures_ > 1 || step.cap == duration::zero(), "at once has a cap of zero");
        if (failures_ > 1 && step.ceiling < base_ && step.cap <= base_)
            base_ = previous_draw_ = duration::zero();
        if (base_ == duration::zero()) {
            base_ = step.ceiling;
            previous_draw_ = std::max(previous_draw_, base_);
        }
        check(step.base == base_,
              "the base is neither the first ceiling that is not zero nor one below a lower cap");
        check(step.previous == previous_draw_, "the jitter was told a wrong previous delay");
    }

    retry_policy read_predicate(retry_policy const& policy) {
        switch (choices_.one_of(3)) {
        case 1:
            return policy.retry_if([this](error_code const& code) { return judge(code); });
        case 2:
            return policy.retry_if([this](std::exception_ptr const& thrown) { return judge(code_of(thrown)); });
        default:
            return policy;
        }
    }

    bool judge(error_code const& code) {
        check(code == judged_, "the predicate was told a wrong error");
        misbehave(error::predicate_threw);
        call_.predicate_refused = choices_.one_of(4) == 1;
        return !call_.predicate_refused;
    }

    retry_policy read_policy() {
        retry_policy policy = retry_policy().backoff(read_backoff()).jitter(read_jitter()).unlimited_attempts();
        std::uint8_t const limits = choices_.byte();
        if (limits & 1)
            policy = policy.max_attempts(1 + choices_.one_of(6));
        if (limits & 2)
            policy = policy.max_elapsed(choices_.length());
        if (limits & 4)
            policy = policy.attempt_timeout(std::max(choices_.length(), duration(1)));
        if (limits & 8)
            policy = policy.total_timeout(choices_.length());
        if (limits & 16)
            policy = policy.deadline(time_point(choices_.signed_length()));
        if (limits & 32)
            policy = policy.clamp();
        if (limits & 64)
            policy = policy.allow_total_cancellation();
        if (limits & 128)
            policy = policy.gate(gate_);
        return read_predicate(policy)
            .on_retry([this](retry_event const& e) {
                ++call_.retries;
                call_.told = e;
                misbehave(error::hook_threw);
            })
            .on_give_up([this](retry_event const& e) {
                ++call_.give_ups;
                call_.told = e;
                call_.cancelled = cancelled_;
                if (choices_.one_of(8) == 1) // which changes nothing
                    throw std::runtime_error("thrown by on_give_up");
                misbehave({});
            });
    }

    retry_settings const& settings() const { return machine_->policy().settings(); }

    // What anybody may do at any time, callbacks included.

    void misbehave(std::optional<error> stage) {
        unsigned const what = choices_.one_of(12);
        if (what == 1 && stage) {
            call_.threw = true;
            call_.ended_by = *stage;
            throw std::runtime_error("thrown by a callback");
        }
        if (2 <= what && what <= 5)
            cancel(what - 2);
    }

    void cancel(unsigned kind) {
        bool const total_counts = failures_ == 0 || settings().allow_total_cancellation;
        switch (kind) {
        case 0:
            machine_->cancel();
            cancelled_ = true;
            return;
        case 1:
            check(machine_->cancel_total() || !total_counts, "a total cancellation was ignored that counts");
            cancelled_ = cancelled_ || total_counts;
            return;
        case 2:
            probe_.terminal = true;
            cancelled_ = cancelled_ || watched_;
            return;
        default:
            probe_.total = true;
            cancelled_ = cancelled_ || (watched_ && total_counts);
        }
    }

    // The events.

    void next_event() {
        call_ = one_call();
        unsigned const what = choices_.one_of(12);
        if (what == 11)
            now_ = saturating_add(now_, choices_.length());
        else if (what == 10)
            cancel(choices_.one_of(4));
        else if (what == 9)
            check(machine_->cancelled() == cancelled_, "the machine is wrong about whether it is cancelled");
        else if (phase_ == phase::fresh)
            start(what == 8);
        else if (phase_ == phase::waiting)
            wake();
        else if (what == 8)
            took(machine_->on_success());
        else if (what == 7)
            end_from_outside();
        else if (what >= 5)
            reach_limit();
        else
            fail();
    }

    void start(bool ask_first) {
        begin_ = now_;
        deadline_ = count_of(time_point::max());
        if (settings().total_timeout)
            deadline_ = std::min(deadline_, count_of(begin_) + settings().total_timeout->count());
        if (settings().deadline)
            deadline_ = std::min(deadline_, count_of(*settings().deadline));
        bool const may = ask_first && machine_->may_start(now_);
        retry_action const action = machine_->start(now_);
        if (ask_first)
            check(may == (action.what == retry_action::kind::attempt), "may_start promised something else");
        took(action);
    }

    void wake() {
        if (!cancelled_)
            now_ = std::max(now_, wait_end_);
        if (choices_.flip())
            now_ = saturating_add(now_, choices_.length());
        took(machine_->on_wait_over(now_));
    }

    void reach_limit() {
        if (limit_ == time_point::max())
            return;
        now_ = std::max(now_, limit_);
        machine_->on_attempt_limit(limit_);
        expired_ = true;
    }

    /// As when the predicate of fail_if throws, or there is no memory to carry on with.
    void end_from_outside() {
        std::exception_ptr thrown;
        if (choices_.flip())
            thrown = std::make_exception_ptr(std::runtime_error("thrown by fail_if"));
        call_.ended_by = choices_.flip() ? error_code(error::predicate_threw) : detail::no_memory_error();
        call_.threw = thrown != nullptr;
        took(machine_->on_exception(*call_.ended_by, thrown));
    }

    void fail() {
        verdict const failure = read_failure();
        judged_ = expired_ ? detail::timed_out_error() : failure.error();
        rejected_ = failure.is_rejected() && !expired_;
        has_own_exception_ = failure.exception() != nullptr;
        ++failures_;
        retry_action const action = machine_->on_failure(failure, now_, source_);
        took(action);
        previous_draw_ = call_.drawn.value_or(previous_draw_);
    }

    verdict read_failure() {
        switch (choices_.one_of(8)) {
        case 1:
            return verdict::failure(detail::aborted_error());
        case 2:
            return verdict::failure(detail::timed_out_error());
        case 3:
            return verdict::failure(std::make_exception_ptr(std::runtime_error("no code")));
        case 4:
            return verdict::failure(
                std::make_exception_ptr(boost::system::system_error(detail::aborted_error())));
        case 5:
            return verdict::rejected();
        default:
            return verdict::failure(
                boost::system::errc::make_error_code(boost::system::errc::host_unreachable));
        }
    }

    // What must hold of the answers.

    void took(retry_action const& action) {
        switch (action.what) {
        case retry_action::kind::attempt:
            check_attempt();
            return;
        case retry_action::kind::wait:
            check_wait(action);
            return;
        case retry_action::kind::complete:
            check_completion(action);
            phase_ = phase::over;
            reason_ = action.reason;
        }
    }

    void check_attempt() {
        check(phase_ == phase::fresh || phase_ == phase::waiting, "an attempt while another runs");
        check(!cancelled_, "an attempt after a cancellation");
        check(call_.retries == 0 && call_.give_ups == 0, "a hook was called for an attempt");
        check(!settings().max_attempts || attempts_ < *settings().max_attempts, "an attempt too many");
        if (phase_ == phase::fresh)
            check(!has_deadline() || count_of(now_) < deadline_, "a first attempt after the deadline");
        else
            check(at_edge_ || count_of(now_) <= deadline_, "an attempt after the deadline");
        at_edge_ = at_edge_ && now_ >= wait_end_; // unless the wait was cut short
        check(gate_->held == (phase_ == phase::waiting && settings().gate), "a retry without its lease");
        gate_->held = 0;
        phase_ = phase::attempting;
        expired_ = false;
        began_ = now_;
        ++attempts_;
        attempt const running = machine_->current_attempt();
        check(running.number == attempts_, "the attempt has a wrong number");

        wide const timeout = settings().attempt_timeout ? settings().attempt_timeout->count() : wide(1) << 64;
        limit_ = machine_->attempt_limit(now_);
        check(running.deadline == limit_, "the attempt was told a wrong deadline");
        limited_by_deadline_ = deadline_ <= std::min(count_of(now_) + timeout, count_of(time_point::max()));
        check(count_of(limit_) == std::min(count_of(now_) + timeout, deadline_),
              "the attempt has a wrong limit");
    }

    void check_wait(retry_action const& action) {
        check(phase_ == phase::attempting, "a wait although no attempt had failed");
        check(!cancelled_, "a wait after a cancellation");
        check(!call_.threw && !call_.predicate_refused && !call_.gate_refused,
              "a wait that a callback forbade");
        check(may_be_retried(), "a wait after a failure that is not to be retried");
        check(!settings().max_attempts || attempts_ < *settings().max_attempts,
              "a wait after the last attempt");
        check(!at_edge_, "a wait after the attempt at the edge");
        check(call_.drawn.has_value(), "a wait without a draw");
        wide const delay = action.delay.count(), allowed = longest_wait();
        check(0 <= delay && action.delay <= settings().backoff.cap(), "the delay left [0, cap]");
        check(delay <= allowed, "a wait would end after a limit");
        longest_attempt_ = std::max<std::int64_t>(longest_attempt_, elapsed_between(began_, now_).count());
        if (settings().clamp) {
            check(delay ==
                      std::min({wide(call_.drawn.value_or(duration()).count()), allowed, wait_leaving_time()}),
                  "the delay is neither the one drawn nor cut short to end at a limit");
            at_edge_ = call_.drawn > duration(static_cast<std::int64_t>(allowed));
        } else {
            check(action.delay == call_.drawn, "the delay is not the one drawn");
        }
        check(call_.retries == 1 && call_.give_ups == 0, "on_retry was not called exactly once for a retry");
        check(call_.told.delay == action.delay && call_.told.attempt == attempts_ &&
                  call_.told.error == judged_,
              "on_retry was told something else");
        check(gate_->held == (settings().gate != nullptr), "a retry was decided without a lease");
        wait_end_ = saturating_add(now_, std::max(action.delay, duration::zero()));
        phase_ = phase::waiting;
    }

    void check_completion(retry_action const& action) {
        check(gate_->held == 0, "a completion that keeps its lease");
        if (action.reason == stop_reason::succeeded) {
            check(call_.give_ups == 0 && call_.retries == 0, "a hook was called for a success");
            check(!action.error && !action.thrown, "a success with an error");
            check(phase_ == phase::attempting && call_.asked == 0 && !call_.threw, "a success out of nothing");
            return;
        }
        check(call_.give_ups == 1, "on_give_up was not called exactly once");
        check(call_.told.reason == action.reason && call_.told.attempt == attempts_ &&
                  call_.told.delay == duration::zero(),
              "on_give_up was told something else");
        check(call_.retries == 0 || call_.cancelled || call_.threw, "on_retry was called and no retry follows");
        check((action.thrown != nullptr) == (call_.threw || nests_own_exception(action.reason)),
              "what was thrown is lost or invented");
        check(is_justified(action.reason), "the operation ended for no reason, or for another one");
        check(action.error == expected_error(action.reason), "the completion has a wrong error");
    }

    /// A time-out has nested in it what the attempt threw.
    bool nests_own_exception(stop_reason reason) const {
        return phase_ == phase::attempting && expired_ && has_own_exception_ && !call_.ended_by &&
               reason != stop_reason::cancelled;
    }

    bool is_justified(stop_reason reason) const {
        if (call_.ended_by)
            return reason == stop_reason::not_retryable;
        if (call_.cancelled || reason == stop_reason::cancelled)
            return call_.cancelled && reason == stop_reason::cancelled;
        bool const in_time = count_of(now_) < deadline_;
        switch (phase_) {
        case phase::fresh:
            return reason == stop_reason::deadline && has_deadline() && !in_time;
        case phase::waiting:
            return reason == stop_reason::deadline && count_of(now_) > deadline_ && !at_edge_;
        case phase::attempting:
            break;
        case phase::over:
            return false;
        }
        if (expired_ && limited_by_deadline_)
            return reason == stop_reason::deadline;
        switch (reason) {
        case stop_reason::not_retryable:
            return call_.predicate_refused || !may_be_retried();
        case stop_reason::attempts:
            return settings().max_attempts == attempts_;
        case stop_reason::elapsed:
        case stop_reason::deadline:
            return (at_edge_ || (call_.drawn && call_.drawn->count() > longest_wait())) &&
                   reason == nearest_limit();
        case stop_reason::budget:
            return call_.gate_refused;
        case stop_reason::succeeded:
        case stop_reason::pushback:
        case stop_reason::refused:
        case stop_reason::cancelled:
            break;
        }
        return false;
    }

    error_code expected_error(stop_reason reason) const {
        if (call_.ended_by)
            return *call_.ended_by;
        if (reason == stop_reason::cancelled)
            return detail::aborted_error();
        return phase_ != phase::attempting || expired_ ? detail::timed_out_error() : error_code();
    }

    bool may_be_retried() const {
        bool const has_predicate = static_cast<bool>(settings().retry_if);
        return rejected_ || has_predicate || judged_ != detail::aborted_error();
    }

    static wide count_of(time_point when) { return when.time_since_epoch().count(); }

    bool has_deadline() const { return deadline_ != count_of(time_point::max()); }

    wide left_of_deadline() const {
        wide const greatest = duration::max().count();
        return has_deadline() ? std::clamp(deadline_ - count_of(now_), -greatest, greatest) : greatest;
    }

    wide left_of_max_elapsed() const {
        wide const greatest = duration::max().count();
        if (!settings().max_elapsed)
            return greatest;
        return settings().max_elapsed->count() - std::min(count_of(now_) - count_of(begin_), greatest);
    }

    wide longest_wait() const { return std::min(left_of_deadline(), left_of_max_elapsed()); }

    /// With clamp, which leaves an attempt time before the deadline.
    wide wait_leaving_time() const {
        wide bits = 0;
        while (bits < longest_attempt_)
            bits = 2 * bits + 1;
        wide const left = left_of_deadline();
        return has_deadline() ? left - std::clamp(bits, left / 10, left / 2) : left;
    }

    stop_reason nearest_limit() const {
        return left_of_max_elapsed() < left_of_deadline() ? stop_reason::elapsed : stop_reason::deadline;
    }

    void prod_what_is_over() {
        call_ = one_call();
        for (unsigned kind = 0; kind < 4; ++kind)
            cancel(kind);
        machine_->on_attempt_limit(now_);
        check(call_.retries == 0 && call_.give_ups == 0 && call_.asked == 0, "an operation ended twice");
        check(machine_->current_attempt().number == attempts_, "an attempt after the end");
    }

    byte_choices choices_;
    std::string fault_;
    std::optional<stop_reason> reason_;
    std::shared_ptr<watched_gate> gate_ = std::make_shared<watched_gate>(*this);
    flagged_probe probe_;
    bool watched_ = false;
    random source_{1};
    std::optional<retry_machine> machine_;

    // What the machine should know.
    phase phase_ = phase::fresh;
    time_point now_, begin_, began_, wait_end_, limit_ = time_point::max();
    std::int64_t longest_attempt_ = 0;
    wide deadline_ = 0;
    std::uint64_t attempts_ = 0;
    std::uint64_t failures_ = 0;
    bool first_at_once_ = false;
    duration base_{};
    duration previous_draw_{};
    error_code judged_;
    bool rejected_ = false;
    bool has_own_exception_ = false;
    bool cancelled_ = false;
    bool expired_ = false;
    bool limited_by_deadline_ = false;
    bool at_edge_ = false;
    one_call call_;
};

} // namespace asio_retry::test
