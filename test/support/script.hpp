#pragma once

#include "support/gate_values.hpp"
#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"

#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/traffic/hedge_machine.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/system/errc.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry {

inline void PrintTo(retry_action const& action, std::ostream* out) {
    switch (action.what) {
    case retry_action::kind::attempt:
        *out << "attempt";
        return;
    case retry_action::kind::wait:
        *out << "wait " << action.delay.count() << "ns";
        return;
    case retry_action::kind::complete:
        *out << "complete: " << to_string(action.reason) << ", error " << action.error
             << (action.thrown ? ", thrown" : "");
        return;
    }
}

inline void PrintTo(retry_event const& event, std::ostream* out) {
    *out << "attempt " << event.attempt << ", error " << event.error << ", delay " << event.delay.count()
         << "ns, " << to_string(event.reason) << (event.exception ? ", exception" : "");
}

} // namespace asio_retry

namespace asio_retry::test {

using namespace std::chrono_literals;

MATCHER(is_attempt, "is an attempt") {
    return arg.what == retry_action::kind::attempt;
}

MATCHER_P(is_wait, delay, "is a wait of " + testing::PrintToString(duration(delay).count()) + "ns") {
    return arg.what == retry_action::kind::wait && arg.delay == delay;
}

/// A completion that delivers `error`, or, where that is none, the attempt's own.
MATCHER_P2(is_completion, reason, error,
           "is a completion: " + std::string(to_string(reason)) + ", error " +
               testing::PrintToString(error_code(error))) {
    return arg.what == retry_action::kind::complete && arg.reason == reason && arg.error == error_code(error) &&
           !arg.thrown;
}

/// A completion that delivers what a callback threw, or the code that names the callback.
MATCHER_P(is_thrown, error, "is a completion with an exception, error " + error_code(error).message()) {
    return arg.what == retry_action::kind::complete && arg.reason == stop_reason::not_retryable &&
           arg.error == error_code(error) && arg.thrown;
}

MATCHER_P2(is_retry, attempt, delay,
           "tells of attempt " + std::to_string(attempt) + " and a delay of " +
               std::to_string(duration(delay).count()) + "ns") {
    return arg.attempt == std::uint64_t(attempt) && arg.delay == delay;
}

MATCHER_P3(is_give_up, reason, attempt, error,
           "tells of attempt " + std::to_string(attempt) + ", error " +
               testing::PrintToString(error_code(error)) + ", " + std::string(to_string(reason))) {
    return arg.reason == reason && arg.attempt == std::uint64_t(attempt) && arg.error == error_code(error) &&
           arg.delay == duration::zero();
}

inline error_code const no_replacement;

/// An ordinary failure.
inline error_code unreachable() {
    return boost::system::errc::make_error_code(boost::system::errc::host_unreachable);
}

/// A wait of 100 ms after every failure, without limits.
inline retry_policy endless_every_100ms() {
    return retry_policy().backoff(constant(100ms)).jitter(no_jitter()).unlimited_attempts();
}

/// A gate with a number of tokens that counts what is asked of it.
struct counting_tokens final : retry_gate {
    explicit counting_tokens(int count)
        : left(count) {}
    bool acquire(failure_kind, time_point) noexcept override {
        ++asked;
        return left > 0 && left-- > 0;
    }
    void give_back(failure_kind) noexcept override { ++left; }

    int left;
    int asked = 0;
};

/// A machine, told at which times what happened, and what it told the hooks. Times count from `begin`.
class machine_script {
public:
    explicit machine_script(retry_policy const& policy, time_point begins = time_point(1h))
        : begin(begins)
        , machine(held_.emplace(listened_to(policy))) {}
    machine_script(machine_script const&) = delete;
    machine_script& operator=(machine_script const&) = delete;

    /// What a script is about that does not say it.
    static retry_policy usual() { return endless_every_100ms(); }

    retry_action start() { return machine.start(begin); }

    retry_action fail(duration at = {}, error_code const& error = unreachable()) {
        return fail(at, verdict::failure(error));
    }
    retry_action fail(duration at, verdict const& failure) {
        return machine.on_failure(failure, begin + at, source);
    }
    template <typename Exception>
    retry_action fail_with(Exception const& exception) {
        return fail({}, verdict::failure(std::make_exception_ptr(exception)));
    }

    retry_action wake(duration at = {}) { return machine.on_wait_over(begin + at); }

    /// The limit of an attempt that begins then.
    duration limit(duration at = {}) { return machine.attempt_limit(begin + at) - begin; }

    /// An attempt that begins at `from` reaches its limit, is told to stop and does so.
    retry_action expire(duration from, duration stopped, verdict const& failure) {
        machine.on_attempt_limit(machine.attempt_limit(begin + from));
        return fail(stopped, failure);
    }
    retry_action expire(duration from, duration stopped, error_code const& error = detail::aborted_error()) {
        return expire(from, stopped, verdict::failure(error));
    }

    void destroy() { held_.reset(); }

    time_point const begin;
    random source{1};
    std::vector<retry_event> retries;
    std::vector<retry_event> give_ups;

private:
    std::optional<retry_machine> held_;

public:
    retry_machine& machine; // until it is destroyed

private:
    /// A test's own hook stays.
    retry_policy listened_to(retry_policy policy) {
        if (!policy.settings().on_retry)
            policy = policy.on_retry([this](retry_event const& e) { retries.push_back(e); });
        if (!policy.settings().on_give_up)
            policy = policy.on_give_up([this](retry_event const& e) { give_ups.push_back(e); });
        return policy;
    }
};

/// What follows each of the first failures.
inline std::vector<duration> first_delays(retry_policy const& policy, int count, std::uint64_t seed = 1) {
    machine_script script(policy.unlimited_attempts());
    script.source = random(seed);
    script.start();
    std::vector<duration> delays;
    for (int i = 0; i != count; ++i) {
        delays.push_back(script.fail().delay);
        script.wake();
    }
    return delays;
}

/// Tells a hedge_machine what happened, in milliseconds from the start, and asks it until it waits. What it
/// answers is written in a row, such as "stop, deliver 2 succeeded, done".
class hedge_script {
public:
    explicit hedge_script(hedge_policy const& policy)
        : machine(held_.emplace(policy, memory_)) {}
    hedge_script(hedge_script const&) = delete;
    hedge_script& operator=(hedge_script const&) = delete;

    static hedge_policy usual() { return hedge_policy(10ms); }

    std::string start(int ms = 0) {
        machine.start(at(ms));
        return go_on(ms);
    }
    std::string go_on(int ms) {
        std::string story;
        for (;;) {
            hedge_action const action = machine.next(at(ms));
            story += story.empty() ? "" : ", ";
            switch (action.what) {
            case hedge_action::kind::begin:
                story += "begin " + std::to_string(action.attempt);
                break;
            case hedge_action::kind::stop:
                story += "stop";
                break;
            case hedge_action::kind::deliver:
                story +=
                    "deliver " + std::to_string(action.attempt) + " " + std::string(to_string(action.reason));
                delivered = action;
                break;
            case hedge_action::kind::wait:
                if (action.until == time_point::max())
                    return story + "wait";
                return story + "wait until " + std::to_string((action.until - noon).count() / 1'000'000);
            case hedge_action::kind::done:
                return story + "done";
            case hedge_action::kind::abandon:
                return story + "abandon";
            }
        }
    }

    std::string succeed(std::uint64_t number, int ms) {
        kept = machine.on_success(number, at(ms));
        return go_on(ms);
    }
    std::string fail(std::uint64_t number, int ms, verdict const& why = refused_connection()) {
        kept = machine.on_failure(number, why, at(ms));
        return go_on(ms);
    }
    /// It completes after the result is known.
    std::string complete_late(std::uint64_t number, int ms) {
        machine.on_unwanted(number, at(ms));
        return go_on(ms);
    }
    std::string drop(std::uint64_t number, int ms) {
        machine.on_dropped(number);
        return go_on(ms);
    }

    static verdict refused_connection() {
        return verdict::failure(make_error_code(boost::system::errc::connection_refused));
    }
    static time_point at(int ms) { return noon + std::chrono::milliseconds(ms); }

    void destroy() { held_.reset(); }

    hedge_action delivered;
    bool kept = false;

private:
    std::array<hedged_attempt, 16> memory_;
    std::optional<hedge_machine> held_;

public:
    hedge_machine& machine; // until it is destroyed
};

/// A script of a policy with an observer.
template <typename Script>
class observed : public Script {
public:
    using policy = decltype(Script::usual());
    explicit observed(policy const& of = Script::usual())
        : observed(of, std::make_shared<recording_observer>()) {}

    std::vector<std::string> told() const {
        EXPECT_EQ(observer->fault, "");
        return observer->told();
    }
    observation const& event(std::size_t index) const { return observer->events.at(index); }
    observation const& last() const { return observer->events.back(); }

    /// The last event of that kind, or of those of that attempt.
    observation const& last(observation::kind what, std::optional<std::uint64_t> attempt = {}) const {
        auto const& events = observer->events;
        auto const found = std::find_if(events.rbegin(), events.rend(), [&](observation const& each) {
            return each.what == what && (!attempt || each.attempt == attempt);
        });
        if (found == events.rend())
            throw std::out_of_range("there is no such event");
        return *found;
    }
    observation const& end_of(std::uint64_t attempt) const {
        return last(observation::kind::attempt_ended, attempt);
    }

    std::shared_ptr<recording_observer> const observer;

private:
    observed(policy const& of, std::shared_ptr<recording_observer> by)
        : Script(of.observe(by))
        , observer(std::move(by)) {}
};

using observed_script = observed<machine_script>;
using observed_hedge = observed<hedge_script>;

/// A script of a policy with a gate.
template <typename Script>
class gated : public Script {
public:
    using policy = decltype(Script::usual());
    explicit gated(policy const& of = Script::usual(), bool measures = true)
        : gated(of, std::make_shared<recording_gate>(measures)) {}

    std::vector<std::string> const& told() const { return gate->told; }

    std::shared_ptr<recording_gate> const gate;

private:
    gated(policy const& of, std::shared_ptr<recording_gate> at)
        : Script(of.gate(at))
        , gate(std::move(at)) {}
};

using gated_script = gated<machine_script>;
using gated_hedge = gated<hedge_script>;

} // namespace asio_retry::test
