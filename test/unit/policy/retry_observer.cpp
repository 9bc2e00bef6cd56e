#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_observer.hpp>

#include <asio_retry/retry_machine.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/elements.hpp"
#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"
#include "support/script.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace asio_retry::test {
namespace {

using testing::IsEmpty;

TEST(retry_observer, is_told_one_story) {
    observed_script script;
    script.start();
    script.fail(3ms, detail::timed_out_error());
    observation const failed = script.observer->events.at(2), decided = script.last();
    script.wake(103ms);
    script.machine.on_success(script.begin + 110ms);
    EXPECT_THAT(script.told(), elements("started", "attempt_began 1", "attempt_ended 1", "retry_decided 1",
                                        "attempt_began 2", "attempt_ended 2", "ended succeeded"));
    EXPECT_EQ(failed.error, detail::timed_out_error());
    EXPECT_EQ(failed.failure, failure_kind::timeout);
    EXPECT_EQ(failed.took, 3ms);
    EXPECT_EQ(decided.delay, 100ms);
    EXPECT_EQ(decided.failure, failure_kind::timeout);
    EXPECT_EQ(decided.error, detail::timed_out_error());
    EXPECT_EQ(script.last().took, 110ms);
    EXPECT_EQ(script.last().attempt, 2u);
    EXPECT_FALSE(script.last().error);
    script.destroy();
    EXPECT_THAT(script.told(), testing::SizeIs(7)) << "it ended once";
}

TEST(retry_observer, is_told_of_every_end) {
    observed_script exhausted(endless_every_100ms().max_attempts(1));
    exhausted.start();
    exhausted.fail(1ms);
    EXPECT_THAT(exhausted.told(), elements("started", "attempt_began 1", "attempt_ended 1", "ended attempts"));
    EXPECT_EQ(exhausted.last().error, unreachable());

    observed_script before;
    before.machine.cancel();
    before.start();
    EXPECT_THAT(before.told(), elements("started", "ended cancelled"));

    observed_script dropped;
    dropped.start();
    dropped.destroy();
    EXPECT_THAT(dropped.told(), elements("started", "attempt_began 1", "attempt_ended 1", "ended cancelled"));
    EXPECT_EQ(dropped.last().error, detail::aborted_error());

    observed_script late(endless_every_100ms().deadline(time_point()));
    late.start();
    EXPECT_THAT(late.told(), elements("started", "ended deadline"));

    observed_script never_started;
    never_started.destroy();
    EXPECT_THAT(never_started.told(), IsEmpty());
}

TEST(retry_observer, is_told_of_refusals) {
    auto const gate = std::make_shared<recording_gate>();
    gate->refusals = {duration::max(), std::nullopt};
    gate->grants = {false};
    observed_script script(endless_every_100ms().gate(gate).wait_when_refused());
    script.start();
    script.wake(100ms);
    script.fail(100ms);
    script.wake(200ms);
    script.machine.on_success(script.begin + 200ms);
    EXPECT_THAT(script.told(),
                elements("started", "refused 1", "attempt_began 1", "attempt_ended 1", "refused 2",
                         "retry_decided 1", "attempt_began 2", "attempt_ended 2", "ended succeeded"));
    EXPECT_EQ(script.observer->events.at(1).error, error::circuit_open);
    EXPECT_EQ(script.observer->events.at(4).failure, failure_kind::transient);
}

// Some forms ask first whether the operation may start, and tell it to when it may not.
TEST(retry_observer, is_told_of_one_start) {
    observed_script script;
    script.machine.cancel();
    EXPECT_FALSE(script.machine.may_start(script.begin));
    script.start();
    EXPECT_THAT(script.told(), elements("started", "ended cancelled"));
}

// A gate that lets an attempt in may cancel the operation meanwhile.
TEST(retry_observer, decision_60_is_told_of_no_attempt_that_its_gate_cancels) {
    struct cancelling final : retry_gate {
        admission admit(std::uint64_t, time_point now) noexcept override {
            machine->cancel();
            return now;
        }
        retry_machine* machine = nullptr;
    };
    auto const gate = std::make_shared<cancelling>();
    observed_script script(endless_every_100ms().gate(gate));
    gate->machine = &script.machine;
    script.start();
    EXPECT_THAT(script.told(), elements("started", "ended cancelled"));
}

/// Says stop from the k-th time on that it is asked.
struct late_probe final : detail::cancellation_probe {
    bool stops(bool) const noexcept override { return ++asked >= at; }
    int at = 0;
    int mutable asked = 0;
};

// Whenever a cancellation comes: what it counts has begun, and what has begun ends.
TEST(retry_observer, decision_60_counts_attempts_that_begin_whenever_the_operation_is_cancelled) {
    for (bool const asks_first : {false, true})
        for (int at = 1; at != 12; ++at) {
            SCOPED_TRACE(at);
            auto const observer = std::make_shared<recording_observer>();
            late_probe probe;
            probe.at = at;
            std::size_t made = 0;
            machine_script script(endless_every_100ms().observe(observer));
            script.machine.watch(probe);
            retry_action action;
            action.what = retry_action::kind::attempt;
            if (!asks_first || !script.machine.may_start(script.begin) ||
                !script.machine.start_with_attempt(script.begin))
                action = script.start();
            while (action.what != retry_action::kind::complete) {
                made += action.what == retry_action::kind::attempt;
                action = action.what == retry_action::kind::attempt ? script.fail() : script.wake();
            }
            auto const count = [&](observation::kind what) {
                return static_cast<std::size_t>(std::ranges::count(observer->events, what, &observation::what));
            };
            EXPECT_EQ(count(observation::kind::attempt_began), made);
            EXPECT_EQ(count(observation::kind::attempt_ended), made);
            EXPECT_EQ(observer->fault, "");
        }
}

// It was let in by its gate, and there was no room for its operation.
TEST(retry_observer, decision_60_is_told_of_no_attempt_that_has_no_room) {
    observed_script script(endless_every_100ms().gate(std::make_shared<recording_gate>()));
    EXPECT_TRUE(script.machine.may_start(script.begin));
    script.machine.refuse(detail::no_buffer_space_error(), script.begin);
    EXPECT_THAT(script.told(), elements("started", "ended budget"));
}

// It may cancel the operation whatever it is told.
TEST(retry_observer, may_cancel_the_operation) {
    struct cancelling final : retry_observer {
        void on_event(observation const& event) noexcept override {
            inner.on_event(event);
            if (seen++ == at)
                machine->cancel();
        }
        recording_observer inner;
        retry_machine* machine = nullptr;
        int at = 0;
        int seen = 0;
    };
    for (int at = 0; at != 7; ++at) {
        auto const observer = std::make_shared<cancelling>();
        observer->at = at;
        {
            machine_script script(endless_every_100ms().observe(observer));
            observer->machine = &script.machine;
            retry_action action = script.start();
            while (action.what != retry_action::kind::complete && observer->seen < 10)
                action = action.what == retry_action::kind::attempt ? script.fail() : script.wake();
            EXPECT_EQ(action.reason, stop_reason::cancelled);
        }
        EXPECT_EQ(observer->inner.fault, "") << at;
        EXPECT_TRUE(observer->inner.is_complete()) << at;
    }
}

TEST(retry_observer, every_operation_has_a_number_of_its_own) {
    auto const observer = std::make_shared<recording_observer>();
    machine_script one(endless_every_100ms().observe(observer)), other(endless_every_100ms().observe(observer));
    one.start();
    other.start();
    EXPECT_NE(observer->events.at(0).operation, observer->events.at(2).operation);
    EXPECT_EQ(observer->fault, "");
}

TEST(retry_observer, measures_time) {
    EXPECT_TRUE(retry_machine(retry_policy().observe(std::make_shared<recording_observer>())).measures_time());
    EXPECT_FALSE(retry_machine(retry_policy().observe(nullptr)).measures_time());
}

} // namespace
} // namespace asio_retry::test
