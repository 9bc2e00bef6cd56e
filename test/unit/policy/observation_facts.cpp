// What an observer is told of each event of a retry, which operations it hears of, and several observers.
#include <asio_retry/retry_observer.hpp>

#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/rate_limit.hpp>

#include "support/choosy_observer.hpp"
#include "support/elements.hpp"
#include "support/message_of.hpp"
#include "support/named_gate.hpp"
#include "support/recording_observer.hpp"
#include "support/script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace asio_retry::test {
namespace {

using testing::IsNull;
using observed_kind = observation::kind;

retry_policy two_attempts() {
    return endless_every_100ms().max_attempts(2).pushback_spread(0);
}

// The base of max_elapsed moves with each outage; the length of the operation does not.
TEST(observation_facts, have_the_length_of_the_whole_operation) {
    observed_script script(two_attempts().reset_after(10s));
    script.start();
    script.fail(20s);
    script.wake(20'100ms);
    script.fail(20'200ms);
    EXPECT_EQ(script.last(observed_kind::ended).took, 20'200ms);
}

// --- what failed

TEST(observation_facts, have_the_exception) {
    observed_script script(two_attempts());
    script.start();
    script.fail_with(std::runtime_error("no such host"));
    script.wake(100ms);
    script.fail_with(std::runtime_error("no such table"));
    EXPECT_EQ(message_of(script.observer->events.at(2).exception), "no such host");
    EXPECT_EQ(message_of(script.last(observed_kind::retry_decided).exception), "no such host");
    EXPECT_EQ(message_of(script.last(observed_kind::attempt_ended).exception), "no such table");
    EXPECT_EQ(message_of(script.last(observed_kind::ended).exception), "no such table");
    EXPECT_EQ(script.last(observed_kind::ended).error, error::operation_threw);
    EXPECT_EQ(script.last(observed_kind::ended).message(), "no such table");
    EXPECT_FALSE(script.last(observed_kind::attempt_began).exception);
}

TEST(observation_facts, have_what_a_value_was_judged) {
    observed_script script(two_attempts());
    script.start();
    script.fail(1ms, verdict::rejected(judge_http(503, "1")));
    script.wake(1s);
    script.fail(1s, verdict::rejected(judge_http(429)));
    for (auto const what : {observed_kind::retry_decided, observed_kind::ended}) {
        observation const& heard = script.last(what);
        EXPECT_EQ(heard.error, error::result_rejected);
        EXPECT_EQ(heard.status, what == observed_kind::ended ? 429 : 503);
        EXPECT_EQ(heard.said, what == observed_kind::ended ? pushback() : pushback::after(1s));
        EXPECT_EQ(heard.message(), what == observed_kind::ended ? "HTTP 429" : "HTTP 503, retry after 1 s");
    }
    EXPECT_EQ(script.last(observed_kind::retry_decided).failure, failure_kind::overloaded);
    EXPECT_EQ(script.last(observed_kind::retry_decided).delay, 1s);
    EXPECT_EQ(script.last(observed_kind::attempt_ended).status, 429);
    EXPECT_EQ(script.last(observed_kind::attempt_ended).message(), "HTTP 429");
}

// By attempt::heed, and not in the judgement.
TEST(observation_facts, have_what_the_attempt_heard_of_its_server) {
    observed_script script(two_attempts());
    script.start();
    script.machine.heed(pushback::after(1s));
    script.fail(1ms, verdict::rejected(judge_http(503)));
    script.wake(1s);
    script.machine.heed(pushback::after(2s));
    script.fail(1s, verdict::rejected(judge_http(503)));
    EXPECT_EQ(script.last(observed_kind::retry_decided).said, pushback::after(1s));
    EXPECT_EQ(script.last(observed_kind::attempt_ended).said, pushback::after(2s));
    EXPECT_EQ(script.last(observed_kind::ended).said, pushback::after(2s));
    EXPECT_EQ(script.last(observed_kind::ended).message(), "HTTP 503, retry after 2 s");
}

// A value that stays a failure is an error for whoever asks for one.
TEST(observation_facts, of_an_exhausted_operation_name_the_value) {
    observed_script script(two_attempts().max_attempts(1));
    script.machine.expect_errors();
    script.start();
    script.fail(1ms, verdict::rejected(judge_http(503)));
    EXPECT_EQ(script.last(observed_kind::ended).error, error::exhausted);
    EXPECT_EQ(script.last(observed_kind::ended).message(), "HTTP 503");
}

// --- limits, and what stopped an attempt

TEST(observation_facts, have_the_limit_of_an_attempt) {
    observed_script script(two_attempts().attempt_timeout(500ms));
    script.start();
    script.expire(0s, 501ms);
    script.wake(601ms);
    script.expire(601ms, 1102ms);
    for (auto const what : {observed_kind::attempt_ended, observed_kind::retry_decided, observed_kind::ended}) {
        observation const& heard = script.last(what);
        EXPECT_EQ(heard.error, detail::timed_out_error());
        EXPECT_EQ(heard.stopped, interruption::attempt_timeout);
        EXPECT_EQ(heard.limit, time_limit::attempt_timeout);
        EXPECT_EQ(heard.allowed, 500ms);
        EXPECT_EQ(heard.message(), "attempt timed out after 500 ms");
    }
    EXPECT_EQ(script.last(observed_kind::attempt_ended).failure, failure_kind::timeout);
    EXPECT_EQ(script.last(observed_kind::attempt_ended).took, 501ms);
    EXPECT_EQ(script.last(observed_kind::attempt_began).limit, time_limit::none);
}

TEST(observation_facts, have_the_limit_of_the_operation) {
    observed_script total(endless_every_100ms().total_timeout(3s));
    total.start();
    total.fail(1s);
    total.wake(1100ms);
    total.expire(1100ms, 3001ms);
    for (auto const what : {observed_kind::attempt_ended, observed_kind::ended}) {
        observation const& heard = total.last(what);
        EXPECT_EQ(heard.stopped, interruption::deadline);
        EXPECT_EQ(heard.limit, time_limit::total_timeout);
        EXPECT_EQ(heard.allowed, 3s);
        EXPECT_EQ(heard.message(), "operation timed out after 3 s");
    }
    EXPECT_EQ(total.told().back(), "ended deadline");

    observed_script until(endless_every_100ms().deadline(time_point(1h + 3s)));
    until.start();
    until.fail(1s);
    until.wake(1100ms);
    until.expire(1100ms, 3s);
    EXPECT_EQ(until.last(observed_kind::ended).limit, time_limit::deadline);
    EXPECT_EQ(until.last(observed_kind::ended).allowed, 0s);
    EXPECT_EQ(until.last(observed_kind::ended).message(), "deadline reached after 3 s");
    EXPECT_EQ(until.last(observed_kind::attempt_ended).message(), "deadline reached")
        << "when, the end of an attempt does not say";
}

TEST(observation_facts, have_no_limit_that_stopped_nothing) {
    observed_script script(two_attempts().attempt_timeout(500ms).total_timeout(3s));
    script.start();
    script.expire(0s, 501ms);
    script.wake(601ms);
    script.fail(602ms, detail::timed_out_error());
    observation const& own = script.last(observed_kind::ended);
    EXPECT_EQ(own.stopped, interruption::none);
    EXPECT_EQ(own.limit, time_limit::none);
    EXPECT_EQ(own.message(), detail::timed_out_error().message()) << "that of the system";
}

TEST(observation_facts, have_a_cancellation) {
    observed_script script(endless_every_100ms());
    script.start();
    script.machine.cancel();
    script.fail(1ms, detail::aborted_error());
    EXPECT_EQ(script.last(observed_kind::attempt_ended).stopped, interruption::cancellation);
    EXPECT_EQ(script.last(observed_kind::attempt_ended).error, detail::aborted_error());
    EXPECT_EQ(script.last(observed_kind::attempt_ended).failure, failure_kind::permanent);
    EXPECT_EQ(script.last(observed_kind::ended).message(), detail::aborted_error().message());

    observed_script drained(endless_every_100ms());
    drained.start();
    drained.machine.drain();
    drained.fail(1ms);
    EXPECT_EQ(drained.last(observed_kind::attempt_ended).stopped, interruption::none) << "it ended by itself";
    EXPECT_EQ(drained.last(observed_kind::attempt_ended).error, unreachable());
    EXPECT_EQ(drained.told().back(), "ended cancelled");
}

TEST(observation_facts, have_the_exception_of_a_predicate) {
    observed_script script(endless_every_100ms().retry_if(
        [](error_code const&) -> bool { throw std::runtime_error("no answer"); }));
    script.start();
    script.fail(1ms);
    EXPECT_EQ(script.told().back(), "ended not_retryable");
    EXPECT_EQ(script.last(observed_kind::attempt_ended).error, unreachable());
    EXPECT_EQ(script.last(observed_kind::ended).error, error::predicate_threw);
    EXPECT_EQ(script.last(observed_kind::ended).message(), "no answer");
}

// --- gates

TEST(observation_facts, name_the_gate_that_refused_the_retry) {
    auto const gate = std::make_shared<named_gate>();
    gate->grants = false;
    observed_script script(endless_every_100ms().gate(all_gates({std::make_shared<retry_gate>(), gate})));
    script.start();
    script.fail(1ms);
    EXPECT_THAT(script.told(),
                elements("started", "attempt_began 1", "attempt_ended 1", "refused 2", "ended budget"));
    EXPECT_EQ(script.last(observed_kind::refused).gate, "my_gate");
    EXPECT_EQ(script.last(observed_kind::refused).message(), "my_gate refused the retry");
    EXPECT_EQ(script.last(observed_kind::ended).gate, "my_gate");
    EXPECT_EQ(script.last(observed_kind::ended).message(), unreachable().message());
    EXPECT_EQ(script.last(observed_kind::attempt_ended).gate, "");
}

TEST(observation_facts, name_the_gate_that_refused_an_attempt) {
    auto const gate = std::make_shared<named_gate>();
    gate->refused_from = 2;
    observed_script second(endless_every_100ms().gate(gate));
    second.start();
    second.fail_with(std::runtime_error("no such host"));
    second.wake(100ms);
    EXPECT_EQ(second.told().back(), "ended refused");
    EXPECT_EQ(second.last(observed_kind::refused).error, error::circuit_open);
    EXPECT_EQ(second.last(observed_kind::refused).message(),
              "my_gate refused the attempt: " + make_error_code(error::circuit_open).message());
    EXPECT_EQ(second.last(observed_kind::ended).gate, "my_gate");
    EXPECT_EQ(second.last(observed_kind::ended).message(), "no such host");

    gate->refused_from = 1;
    observed_script first(endless_every_100ms().gate(gate));
    first.start();
    EXPECT_THAT(first.told(), elements("started", "refused 1", "ended refused"));
    EXPECT_EQ(first.last(observed_kind::ended).gate, "my_gate");
    EXPECT_EQ(first.last(observed_kind::ended).error, error::circuit_open);

    gate->refused_from = 2;
    observed_script waits(endless_every_100ms().gate(gate).wait_when_refused());
    waits.start();
    waits.fail(1ms);
    waits.wake(100ms);
    gate->refused_from = 99;
    waits.wake(200ms);
    waits.machine.on_success(waits.begin + 201ms);
    EXPECT_EQ(waits.told().back(), "ended succeeded");
    EXPECT_EQ(waits.last(observed_kind::ended).gate, "") << "it did not matter";
}

/// Refuses all but the first attempt, like an endpoint_set.
struct choosing final : detail::machine_observer {
    void on_start(time_point) noexcept override {}
    void on_attempt(std::uint64_t, time_point) noexcept override {}
    void on_failure(verdict const&, interruption, time_point) noexcept override {}
    void on_wait(duration, time_point) noexcept override {}
    void on_wait_over(time_point) noexcept override {}
    void on_end(stop_reason, time_point) noexcept override {}
    admission admit(std::uint64_t number, time_point now) noexcept override {
        return number == 1 ? admission(now) : admission(time_point::max(), error::circuit_open);
    }
    std::string_view gate_name() const noexcept override { return "chooser"; }
};

TEST(observation_facts, name_a_gate_of_the_operations_own) {
    observed_script script(endless_every_100ms().gate(std::make_shared<named_gate>()));
    choosing chooser;
    script.machine.choose_with(chooser);
    script.start();
    script.fail(1ms);
    script.wake(100ms);
    EXPECT_EQ(script.told().back(), "ended refused");
    EXPECT_EQ(script.last(observed_kind::refused).gate, "chooser");
    EXPECT_EQ(script.last(observed_kind::ended).gate, "chooser");
}

TEST(observation_facts, name_no_gate_where_there_was_no_room) {
    observed_script script(endless_every_100ms().gate(std::make_shared<named_gate>()));
    EXPECT_TRUE(script.machine.may_start(script.begin));
    script.machine.refuse(detail::no_buffer_space_error(), script.begin);
    EXPECT_EQ(script.told().back(), "ended budget");
    EXPECT_EQ(script.last(observed_kind::ended).gate, "");
}

// --- time

TEST(observation_facts, say_how_long_no_attempt_ran) {
    observed_script script(endless_every_100ms());
    script.start();
    script.fail(30ms);
    script.wake(130ms);
    EXPECT_EQ(script.last(observed_kind::attempt_began).took, 130ms) << "since the operation began";
    script.fail(150ms);
    script.wake(260ms);
    script.machine.on_success(script.begin + 300ms);
    EXPECT_EQ(script.last(observed_kind::ended).took, 300ms);
    EXPECT_EQ(script.last(observed_kind::ended).delay, 210ms);

    observed_script gave_up(two_attempts());
    gave_up.start();
    gave_up.fail(30ms);
    gave_up.wake(130ms);
    gave_up.fail(140ms);
    EXPECT_EQ(gave_up.last(observed_kind::ended).delay, 100ms);

    observed_script in_wait(endless_every_100ms());
    in_wait.start();
    in_wait.fail(30ms);
    in_wait.machine.cancel();
    in_wait.wake(50ms);
    EXPECT_EQ(in_wait.last(observed_kind::ended).took, 50ms);
    EXPECT_EQ(in_wait.last(observed_kind::ended).delay, 20ms);
}

// The gate is asked some time before the attempt begins.
TEST(observation_facts, count_a_wait_for_a_gate_as_time_without_an_attempt) {
    auto const gate = std::make_shared<named_gate>();
    gate->refused_from = 1;
    observed_script script(endless_every_100ms().gate(gate).wait_when_refused());
    script.start();
    script.wake(100ms);
    gate->refused_from = 99;
    script.wake(200ms);
    script.machine.on_success(script.begin + 250ms);
    EXPECT_THAT(script.told(), elements("started", "refused 1", "refused 1", "attempt_began 1",
                                        "attempt_ended 1", "ended succeeded"));
    EXPECT_EQ(script.last(observed_kind::ended).delay, 200ms);
}

TEST(observation_facts, name_the_gate_that_lets_an_attempt_wait) {
    struct fixed {
        std::uint32_t limit() const noexcept { return 1; }
        void update(duration, std::uint32_t, bool) noexcept {}
    };
    auto const limit = std::make_shared<concurrency_limit<fixed>>(fixed(), queue_options{.greatest = 1});
    auto const rate = std::make_shared<rate_limit>(1, 1s);
    retry_policy const policy = endless_every_100ms().wait_when_refused().gate(
        all_gates({std::make_shared<named_gate>(), limit, std::make_shared<named_gate>(), rate}));
    observed_script first(policy), second(policy);
    first.start();
    second.start();
    EXPECT_THAT(second.told(), elements("started", "held 1"));
    EXPECT_EQ(second.last(observed_kind::held).gate, "concurrency_limit");
    EXPECT_EQ(second.last(observed_kind::held).delay, 0ms);
    EXPECT_EQ(second.last(observed_kind::held).message(), "in the queue of concurrency_limit");
    first.machine.on_success(first.begin + 300ms);
    EXPECT_THAT(second.wake(300ms), is_wait(700ms)) << "a place, but no time yet";
    EXPECT_EQ(second.last(observed_kind::held).gate, "rate_limit");
    EXPECT_EQ(second.last(observed_kind::held).delay, 700ms);
    EXPECT_EQ(second.last(observed_kind::held).error, error::rate_limited);
    EXPECT_EQ(second.last(observed_kind::held).message(), "rate_limit lets the attempt begin in 700 ms");
    EXPECT_THAT(second.wake(1s), is_attempt());
    EXPECT_THAT(second.told(), elements("started", "held 1", "held 1", "attempt_began 1"));
}

// --- which operations it hears of

TEST(observation_facts, nothing_is_told_of_an_operation_that_nobody_wants) {
    auto const observer = std::make_shared<choosy_observer>();
    retry_policy const policy = endless_every_100ms().observe(observer);
    EXPECT_FALSE(retry_machine(policy).measures_time());
    EXPECT_FALSE(retry_machine(policy).is_observed());
    machine_script script(policy.on_retry([](retry_event const&) {}).max_attempts(2));
    EXPECT_EQ(script.machine.operation_number(), 0u);
    script.start();
    script.fail(1ms);
    script.wake(100ms);
    script.fail(101ms);
    EXPECT_THAT(observer->heard, testing::IsEmpty());
    EXPECT_EQ(observer->asked.size(), 3u) << "each operation is asked about once";

    observer->wanted = true;
    machine_script wanted(policy);
    EXPECT_TRUE(wanted.machine.measures_time());
    EXPECT_EQ(wanted.machine.operation_number(), observer->asked.back());
    wanted.start();
    EXPECT_THAT(observer->heard, testing::ElementsAre(observed_kind::started, observed_kind::attempt_began));
}

TEST(observation_facts, operations_that_nobody_wants_have_numbers_too) {
    auto const observer = std::make_shared<choosy_observer>();
    for (int i = 0; i != 3; ++i)
        retry_machine(endless_every_100ms().observe(observer));
    EXPECT_EQ(observer->asked.at(1), observer->asked.at(0) + 1);
    EXPECT_EQ(observer->asked.at(2), observer->asked.at(0) + 2);
}

// --- several observers

TEST(all_observers, are_told_in_this_order) {
    struct noting final : retry_observer {
        noting(std::string& into, char own)
            : text(into)
            , name(own) {}
        void on_event(observation const&) noexcept override { text += name; }
        std::string& text;
        char const name;
    };
    std::string text;
    machine_script script(endless_every_100ms().observe(
        all_observers({std::make_shared<noting>(text, 'a'), nullptr, std::make_shared<noting>(text, 'b')})));
    script.start();
    EXPECT_EQ(text, "abab");
}

TEST(all_observers, hear_of_the_operations_that_each_wants) {
    auto const all = std::make_shared<recording_observer>();
    auto const none = std::make_shared<choosy_observer>();
    retry_policy const policy = endless_every_100ms().observe(all_observers({none, all}));
    EXPECT_TRUE(retry_machine(policy).measures_time());
    machine_script script(policy);
    script.start();
    EXPECT_THAT(all->told(), elements("started", "attempt_began 1"));
    EXPECT_THAT(none->heard, testing::IsEmpty());

    auto const nobody = all_observers({none, std::make_shared<choosy_observer>()});
    EXPECT_FALSE(retry_machine(endless_every_100ms().observe(nobody)).measures_time());
}

TEST(all_observers, of_none_are_null_and_of_one_are_that_one) {
    auto const one = std::make_shared<choosy_observer>();
    EXPECT_THAT(all_observers({}), IsNull());
    EXPECT_THAT(all_observers({nullptr, nullptr}), IsNull());
    EXPECT_EQ(all_observers({nullptr, one}), one);
}

} // namespace
} // namespace asio_retry::test
