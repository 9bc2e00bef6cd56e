// What an observer hears of a hedge.
#include <asio_retry/retry_observer.hpp>
#include <asio_retry/traffic/hedge_machine.hpp>

#include "support/choosy_observer.hpp"
#include "support/elements.hpp"
#include "support/named_gate.hpp"
#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"
#include "support/script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::IsEmpty;

verdict abortion() {
    return verdict::failure(detail::aborted_error());
}

TEST(hedge_observer, is_told_of_attempts_that_overlap) {
    observed_hedge hedge(hedge_policy(10ms).max_attempts(3));
    hedge.start();
    hedge.go_on(10);
    hedge.fail(1, 12);
    EXPECT_EQ(hedge.succeed(2, 15), "stop, wait");
    EXPECT_EQ(hedge.complete_late(3, 17), "deliver 2 succeeded, done");
    EXPECT_THAT(hedge.told(),
                elements("started", "attempt_began 1", "attempt_began 2", "attempt_ended 1", "attempt_began 3",
                         "attempt_ended 2", "attempt_ended 3", "ended succeeded"));
    for (observation const& each : hedge.observer->events) {
        EXPECT_TRUE(each.is_hedge);
        EXPECT_EQ(each.operation, hedge.machine.operation_number());
    }
    EXPECT_EQ(hedge.end_of(1).error, make_error_code(boost::system::errc::connection_refused));
    EXPECT_EQ(hedge.end_of(1).failure, failure_kind::transient);
    EXPECT_EQ(hedge.end_of(1).took, 12ms);
    EXPECT_EQ(hedge.end_of(1).stopped, interruption::none);
    EXPECT_FALSE(hedge.end_of(2).error);
    EXPECT_EQ(hedge.end_of(2).took, 5ms);
    EXPECT_EQ(hedge.last().attempt, 3u);
    EXPECT_EQ(hedge.last().took, 17ms);
    EXPECT_EQ(hedge.last().now, hedge_script::at(17));
    EXPECT_EQ(hedge.last().message(), "succeeded");
}

// A loser is no failure of its own.
TEST(hedge_observer, is_told_which_attempts_were_beaten) {
    observed_hedge hedge(hedge_policy(10ms).max_attempts(3));
    hedge.start();
    hedge.go_on(10);
    hedge.go_on(20);
    hedge.succeed(2, 25);
    hedge.fail(1, 26, abortion());
    EXPECT_EQ(hedge.succeed(3, 30), "deliver 2 succeeded, done") << "too late";
    EXPECT_EQ(hedge.told().back(), "ended succeeded");
    for (std::uint64_t const loser : {1u, 3u}) {
        observation const& end = hedge.end_of(loser);
        EXPECT_EQ(end.error, detail::aborted_error());
        EXPECT_EQ(end.failure, failure_kind::permanent);
        EXPECT_EQ(end.stopped, interruption::beaten);
        EXPECT_EQ(end.took, loser == 1 ? duration(26ms) : duration(10ms));
    }
    EXPECT_EQ(hedge.end_of(2).stopped, interruption::none);
}

TEST(hedge_observer, is_told_why_an_attempt_begins_and_when) {
    observed_hedge hedge(hedge_policy(10ms).max_attempts(3));
    hedge.start(0);
    hedge.go_on(10);
    hedge.fail(2, 13, verdict::failure(std::make_exception_ptr(std::runtime_error("no such host"))));
    hedge.succeed(3, 20);
    hedge.complete_late(1, 21);
    EXPECT_THAT(hedge.told(),
                elements("started", "attempt_began 1", "attempt_began 2", "attempt_ended 2", "attempt_began 3",
                         "attempt_ended 3", "attempt_ended 1", "ended succeeded"));
    EXPECT_EQ(hedge.event(1).took, 0ms);
    EXPECT_FALSE(hedge.event(1).error);
    EXPECT_EQ(hedge.event(2).took, 10ms) << "since the operation began";
    EXPECT_FALSE(hedge.event(2).error) << "the first is slow";
    EXPECT_EQ(hedge.event(4).took, 13ms);
    EXPECT_EQ(hedge.event(4).error, error::operation_threw) << "the second has failed";
    EXPECT_EQ(hedge.event(4).message(), "no such host");
}

// Once an attempt has begun after a failure, the next one begins because that one is slow.
TEST(hedge_observer, is_told_of_a_failure_once) {
    observed_hedge hedge(hedge_policy(10ms).max_attempts(4));
    hedge.start();
    hedge.fail(1, 4, verdict::rejected(judge_http(503, "1")));
    hedge.go_on(1004);
    hedge.go_on(1014);
    EXPECT_THAT(hedge.told(), elements("started", "attempt_began 1", "attempt_ended 1", "attempt_began 2",
                                       "attempt_began 3"));
    EXPECT_EQ(hedge.event(3).message(), "HTTP 503, retry after 1 s");
    EXPECT_EQ(hedge.event(3).status, 503);
    EXPECT_EQ(hedge.event(4).message(), "succeeded") << "nothing has failed since";
}

// --- how it ends

TEST(hedge_observer, is_told_of_the_failure_that_is_delivered) {
    observed_hedge last(hedge_policy(10ms).max_attempts(2));
    last.start();
    last.fail(1, 3, verdict::failure(detail::timed_out_error()));
    last.fail(2, 5);
    EXPECT_THAT(last.told(), elements("started", "attempt_began 1", "attempt_ended 1", "attempt_began 2",
                                      "attempt_ended 2", "ended attempts"));
    EXPECT_EQ(last.last().message(), hedge_script::refused_connection().error().message());
    EXPECT_EQ(last.last().took, 5ms);

    observed_hedge fatal(hedge_policy(10ms).retry_if([](error_code const&) { return false; }));
    fatal.start();
    fatal.go_on(10);
    fatal.fail(1, 12, verdict::failure(std::make_exception_ptr(std::runtime_error("no such table"))));
    EXPECT_EQ(fatal.fail(2, 13, abortion()), "deliver 1 not_retryable, done");
    EXPECT_EQ(fatal.told().back(), "ended not_retryable");
    EXPECT_EQ(fatal.last().message(), "no such table") << "and not that of the loser";
    EXPECT_EQ(fatal.end_of(2).stopped, interruption::beaten);

    observed_hedge judged(hedge_policy(10ms).max_attempts(1));
    judged.start();
    judged.machine.heed(1, pushback::after(2s));
    judged.fail(1, 1, verdict::rejected(judge_http(503)));
    EXPECT_EQ(judged.end_of(1).said, pushback::after(2s));
    EXPECT_EQ(judged.last().said, pushback::after(2s));
    EXPECT_EQ(judged.last().message(), "HTTP 503, retry after 2 s");
}

TEST(hedge_observer, is_told_of_its_deadline) {
    observed_hedge hedge(hedge_policy(10ms).max_attempts(3).total_timeout(15ms));
    hedge.start();
    hedge.go_on(10);
    EXPECT_EQ(hedge.go_on(15), "stop, wait");
    hedge.fail(1, 16, abortion());
    EXPECT_EQ(hedge.fail(2, 17, abortion()), "deliver 0 deadline, done");
    EXPECT_THAT(hedge.told(), elements("started", "attempt_began 1", "attempt_began 2", "attempt_ended 1",
                                       "attempt_ended 2", "ended deadline"));
    for (observation const* const one : {&hedge.end_of(1), &hedge.end_of(2), &hedge.last()}) {
        EXPECT_EQ(one->error, detail::timed_out_error());
        EXPECT_EQ(one->stopped, interruption::deadline);
        EXPECT_EQ(one->limit, time_limit::total_timeout);
        EXPECT_EQ(one->allowed, 15ms);
        EXPECT_EQ(one->message(), "operation timed out after 15 ms");
    }
    EXPECT_EQ(hedge.end_of(2).failure, failure_kind::timeout);

    observed_hedge until(hedge_policy(10ms).deadline(noon + 15ms));
    until.start();
    until.go_on(10);
    until.go_on(15);
    until.fail(1, 16, abortion());
    until.fail(2, 17, abortion());
    EXPECT_EQ(until.end_of(2).limit, time_limit::deadline);
    EXPECT_EQ(until.end_of(2).message(), "deadline reached") << "when, the end of an attempt does not say";
    EXPECT_EQ(until.last().message(), "deadline reached after 17 ms");

    observed_hedge late(hedge_policy(10ms).deadline(noon));
    EXPECT_EQ(late.start(), "deliver 0 deadline, done");
    EXPECT_THAT(late.told(), elements("started", "ended deadline"));
}

// The caller hears of the failure of its attempt, since no other would have time.
TEST(hedge_observer, is_told_of_the_failure_after_which_there_is_no_time) {
    observed_hedge hedge(hedge_policy(10ms).total_timeout(1s));
    hedge.start();
    EXPECT_EQ(hedge.fail(1, 4, verdict::rejected(judge_http(503, "2"))), "deliver 1 deadline, done");
    EXPECT_EQ(hedge.told().back(), "ended deadline");
    EXPECT_EQ(hedge.last().error, error::result_rejected);
    EXPECT_EQ(hedge.last().limit, time_limit::none);
    EXPECT_EQ(hedge.last().stopped, interruption::none);
    EXPECT_EQ(hedge.last().message(), "HTTP 503, retry after 2 s");
}

TEST(hedge_observer, is_told_of_attempts_that_end_after_its_deadline) {
    for (bool const is_cancelled_too : {false, true}) {
        observed_hedge hedge(hedge_policy(10ms).total_timeout(15ms));
        hedge.start();
        hedge.go_on(10);
        hedge.go_on(15);
        if (is_cancelled_too)
            hedge.machine.cancel(true);
        hedge.fail(1, 18, abortion());
        EXPECT_EQ(hedge.fail(2, 20, abortion()), "deliver 0 deadline, done");
        EXPECT_EQ(hedge.end_of(1).failure, failure_kind::timeout) << is_cancelled_too;
        EXPECT_EQ(hedge.end_of(1).stopped, interruption::deadline) << is_cancelled_too;
        EXPECT_EQ(hedge.end_of(1).error, detail::timed_out_error());
        EXPECT_EQ(hedge.end_of(2).took, 10ms);
        EXPECT_EQ(hedge.told().back(), "ended deadline");
    }
}

TEST(hedge_observer, is_told_of_a_cancellation) {
    observed_hedge hedge(hedge_policy(10ms));
    hedge.start();
    hedge.go_on(10);
    hedge.machine.cancel(true);
    hedge.go_on(12);
    hedge.fail(1, 13, abortion());
    EXPECT_EQ(hedge.fail(2, 14, abortion()), "deliver 0 cancelled, done");
    EXPECT_THAT(hedge.told(), elements("started", "attempt_began 1", "attempt_began 2", "attempt_ended 1",
                                       "attempt_ended 2", "ended cancelled"));
    EXPECT_EQ(hedge.end_of(1).stopped, interruption::cancellation);
    EXPECT_EQ(hedge.end_of(2).failure, failure_kind::permanent);
    EXPECT_EQ(hedge.last().error, detail::aborted_error());
    EXPECT_EQ(hedge.last().took, 14ms);

    observed_hedge before(hedge_policy(10ms));
    before.machine.cancel(false);
    before.start();
    EXPECT_THAT(before.told(), elements("started", "ended cancelled"));
}

TEST(hedge_observer, is_told_of_a_drain) {
    observed_hedge hedge(hedge_policy(10ms));
    hedge.start();
    hedge.machine.drain();
    hedge.go_on(10);
    EXPECT_EQ(hedge.fail(1, 13), "deliver 0 cancelled, done");
    EXPECT_THAT(hedge.told(), elements("started", "attempt_began 1", "attempt_ended 1", "ended cancelled"));
    EXPECT_EQ(hedge.end_of(1).stopped, interruption::none) << "it ended by itself";
}

TEST(hedge_observer, is_told_at_once_where_the_result_is_delivered_at_once) {
    observed_hedge won(hedge_policy(10ms).deliver_at_once());
    won.start();
    won.go_on(10);
    EXPECT_EQ(won.succeed(2, 11), "stop, deliver 2 succeeded, wait");
    EXPECT_EQ(won.complete_late(1, 500), "done");
    EXPECT_THAT(won.told(), elements("started", "attempt_began 1", "attempt_began 2", "attempt_ended 2",
                                     "attempt_ended 1", "ended succeeded"));
    EXPECT_EQ(won.end_of(1).stopped, interruption::beaten);
    EXPECT_EQ(won.end_of(1).took, 11ms);
    EXPECT_EQ(won.last().took, 11ms);

    observed_hedge late(hedge_policy(10ms).deliver_at_once().total_timeout(15ms));
    late.start();
    late.go_on(10);
    EXPECT_EQ(late.go_on(15), "stop, deliver 0 deadline, wait");
    EXPECT_EQ(late.told().back(), "ended deadline");
    EXPECT_EQ(late.end_of(2).error, detail::aborted_error());
    EXPECT_EQ(late.end_of(2).stopped, interruption::deadline);
    EXPECT_EQ(late.end_of(2).message(), "operation timed out after 15 ms");
}

// Somebody destroys it in the middle.
TEST(hedge_observer, is_told_when_the_operation_is_dropped) {
    observed_hedge hedge(hedge_policy(10ms));
    hedge.start();
    hedge.go_on(10);
    hedge.destroy();
    EXPECT_THAT(hedge.told(), elements("started", "attempt_began 1", "attempt_began 2", "attempt_ended 1",
                                       "attempt_ended 2", "ended cancelled"));
    EXPECT_TRUE(hedge.observer->is_complete());

    observed_hedge unanswered(hedge_policy(10ms).max_attempts(1));
    unanswered.start();
    EXPECT_EQ(unanswered.drop(1, 2), "abandon");
    unanswered.destroy();
    EXPECT_THAT(unanswered.told(),
                elements("started", "attempt_began 1", "attempt_ended 1", "ended cancelled"));

    observed_hedge never_started(hedge_policy(10ms));
    never_started.destroy();
    EXPECT_THAT(never_started.told(), IsEmpty());
}

TEST(hedge_observer, is_told_that_there_is_no_room) {
    observed_hedge hedge(hedge_policy(10ms));
    hedge.machine.refuse(detail::no_buffer_space_error(), noon);
    hedge.go_on(0);
    EXPECT_THAT(hedge.told(), elements("started", "ended budget"));
    EXPECT_EQ(hedge.last().error, detail::no_buffer_space_error());
    EXPECT_EQ(hedge.last().gate, "");
}

// --- gates

TEST(hedge_observer, is_told_which_gate_refuses) {
    auto const gate = std::make_shared<named_gate>();

    gate->grants = false;
    observed_hedge budget(hedge_policy(10ms).gate(gate));
    budget.start();
    budget.go_on(10);
    budget.fail(1, 12);
    EXPECT_THAT(budget.told(),
                elements("started", "attempt_began 1", "refused 2", "attempt_ended 1", "ended budget"));
    EXPECT_EQ(budget.event(2).gate, "my_gate");
    EXPECT_EQ(budget.event(2).message(), "my_gate refused the retry");
    EXPECT_EQ(budget.last().gate, "my_gate");
    EXPECT_EQ(budget.last().message(), hedge_script::refused_connection().error().message());

    observed_hedge won(hedge_policy(10ms).gate(gate));
    won.start();
    won.go_on(10);
    won.succeed(1, 12);
    EXPECT_EQ(won.told().back(), "ended succeeded");
    EXPECT_EQ(won.last().gate, "") << "it did not matter";

    gate->grants = true;
    gate->refused_from = 2;
    observed_hedge second(hedge_policy(10ms).gate(gate));
    second.start();
    second.fail(1, 3);
    EXPECT_THAT(second.told(),
                elements("started", "attempt_began 1", "attempt_ended 1", "refused 2", "ended refused"));
    EXPECT_EQ(second.event(3).error, error::circuit_open);
    EXPECT_EQ(second.last().gate, "my_gate");
    EXPECT_EQ(second.last().message(), hedge_script::refused_connection().error().message());

    gate->refused_from = 1;
    observed_hedge first(hedge_policy(10ms).gate(gate));
    first.start();
    EXPECT_THAT(first.told(), elements("started", "refused 1", "ended refused"));
    EXPECT_EQ(first.last().error, error::circuit_open);
    EXPECT_EQ(first.last().gate, "my_gate");
}

// --- time

TEST(hedge_observer, is_told_how_long_no_attempt_ran) {
    observed_hedge hedge(hedge_policy(10ms).max_attempts(3));
    hedge.start();
    hedge.fail(1, 4, verdict::rejected(judge_http(503, "1")));
    hedge.go_on(1004);
    hedge.go_on(1014);
    hedge.succeed(2, 1020);
    hedge.complete_late(3, 1500);
    EXPECT_EQ(hedge.end_of(3).took, 486ms) << "it was told at 1020, and ended later";
    EXPECT_EQ(hedge.last().took, 1500ms);
    EXPECT_EQ(hedge.last().delay, 1s) << "between the first and the second";
}

// --- an observer that takes part

struct meddling_observer final : retry_observer {
    void on_event(observation const& event) noexcept override {
        inner.on_event(event);
        if (seen++ % every == every - 1)
            machine->cancel(false);
    }
    recording_observer inner;
    hedge_machine* machine = nullptr;
    int every = 1;
    int seen = 0;
};

TEST(hedge_observer, may_cancel_the_operation_whenever_it_hears_something) {
    for (int every = 1; every != 10; ++every) {
        auto const observer = std::make_shared<meddling_observer>();
        observer->every = every;
        auto const gate = std::make_shared<recording_gate>();
        {
            hedge_script script(hedge_policy(10ms).max_attempts(4).gate(gate).observe(observer));
            observer->machine = &script.machine;
            script.start();
            for (int ms = 10; !script.delivered.error && ms != 100; ms += 10) {
                std::string const story = script.go_on(ms);
                for (std::uint64_t number = 1; number <= script.machine.begun(); ++number)
                    if (script.machine.is_running(number) && (number != 1 || ms > 40))
                        script.fail(number, ms + 5,
                                    script.machine.is_cancelled() ? abortion()
                                                                  : hedge_script::refused_connection());
            }
        }
        EXPECT_EQ(observer->inner.fault, "") << every;
        EXPECT_TRUE(observer->inner.is_complete()) << every;
        EXPECT_TRUE(gate->is_balanced()) << every;
    }
}

// The attempt is not made: for the observer it has ended, abandoned.
TEST(hedge_observer, may_cancel_an_attempt_that_it_hears_begin) {
    auto const observer = std::make_shared<meddling_observer>();
    observer->every = 3; // the second attempt
    auto const gate = std::make_shared<recording_gate>();
    hedge_script script(hedge_policy(10ms).gate(gate).observe(observer));
    observer->machine = &script.machine;
    script.start();
    EXPECT_EQ(script.go_on(10), "wait");
    EXPECT_EQ(script.fail(1, 12, abortion()), "deliver 0 cancelled, done");
    EXPECT_THAT(observer->inner.told(), elements("started", "attempt_began 1", "attempt_began 2",
                                                 "attempt_ended 2", "attempt_ended 1", "ended cancelled"));
    EXPECT_EQ(observer->inner.fault, "");
    EXPECT_EQ(observer->inner.events.back().attempt, 1u) << "made";
    EXPECT_TRUE(gate->is_balanced());
}

TEST(hedge_observer, is_told_nothing_of_an_operation_that_it_does_not_want) {
    auto const observer = std::make_shared<choosy_observer>();
    hedge_script script(hedge_policy(10ms).observe(observer));
    EXPECT_FALSE(script.machine.measures_successes());
    EXPECT_EQ(script.machine.operation_number(), 0u);
    script.start();
    script.succeed(1, 5);
    EXPECT_THAT(observer->heard, IsEmpty());
}

// --- at random

/// Plays a random hedge to its end, or drops it in the middle.
void play_random_hedge(random& dice, hedge_policy policy, std::shared_ptr<recording_gate> const& gate) {
    auto const one_of = [&](std::int64_t count) {
        return static_cast<std::int64_t>(dice.uniform(0, static_cast<std::uint64_t>(count - 1)));
    };
    policy = policy.max_attempts(1 + one_of(5));
    if (one_of(3) == 0)
        policy = policy.total_timeout(std::chrono::milliseconds(one_of(60)));
    if (one_of(3) == 0)
        policy = policy.deliver_at_once();
    if (one_of(2) == 0) {
        policy = policy.gate(gate);
        for (auto i = one_of(4); i > 0; --i) {
            gate->grants.push_back(one_of(4) != 0);
            gate->refusals.push_back(one_of(4) == 0 ? std::optional(duration(5ms)) : let_in);
        }
    }
    hedge_script script(policy);
    int ms = 0;
    std::string story = script.start(ms);
    for (int step = 0; step != 40 && !story.ends_with("done") && !story.ends_with("abandon"); ++step) {
        ms += static_cast<int>(one_of(8));
        std::uint64_t const number = 1 + static_cast<std::uint64_t>(one_of(6));
        bool const is_running = number <= script.machine.begun() && script.machine.is_running(number);
        switch (is_running ? one_of(10) : 9 + one_of(8)) {
        case 0:
        case 1:
            story =
                script.machine.wants_results() ? script.succeed(number, ms) : script.complete_late(number, ms);
            break;
        case 2:
        case 3:
        case 4:
        case 5:
            story = script.fail(number, ms, one_of(3) == 0 ? abortion() : hedge_script::refused_connection());
            break;
        case 6:
            story = script.fail(number, ms, verdict::rejected(judge_http(503, one_of(2) == 0 ? "0" : "1")));
            break;
        case 7:
            story = script.drop(number, ms);
            break;
        case 8:
            script.machine.on_exception(number, error::predicate_threw,
                                        std::make_exception_ptr(std::runtime_error("no")),
                                        hedge_script::at(ms));
            story = script.go_on(ms);
            break;
        case 10:
            script.machine.cancel(one_of(2) == 0);
            story = script.go_on(ms);
            break;
        case 11:
            script.machine.drain();
            story = script.go_on(ms);
            break;
        case 12:
            script.machine.cancel_by_scope();
            story = script.go_on(ms);
            break;
        default:
            story = script.go_on(ms);
        }
    }
}

TEST(hedge_observer, is_told_one_story_whatever_happens) {
    std::set<std::string> ends;
    for (std::uint64_t stream = 0; stream != 20'000; ++stream) {
        random dice(1, stream);
        auto const observer = std::make_shared<recording_observer>();
        auto const gate = std::make_shared<recording_gate>();
        play_random_hedge(dice, hedge_policy(10ms).observe(observer), gate);
        ASSERT_EQ(observer->fault, "") << "stream " << stream;
        ASSERT_TRUE(observer->is_complete()) << "stream " << stream;
        ASSERT_TRUE(gate->is_balanced()) << "stream " << stream;
        observation const& last = observer->events.back();
        ASSERT_LE(last.delay, last.took) << "stream " << stream;
        ends.insert(observer->told().back());
    }
    EXPECT_THAT(ends,
                testing::ElementsAre("ended attempts", "ended budget", "ended cancelled", "ended deadline",
                                     "ended not_retryable", "ended refused", "ended succeeded"));
}

} // namespace
} // namespace asio_retry::test
