#include <asio_retry/traffic/hedge_machine.hpp>

#include "support/elements.hpp"
#include "support/recording_gate.hpp"
#include "support/script.hpp"
#include "support/split_mix_64.hpp"

#include <asio_retry/traffic/retry_budget.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// Each further attempt costs one token; the winner succeeded and losers are abandoned, when they end.
TEST(decision_30, each_extra_attempt_costs_a_token) {
    gated_hedge hedge;
    hedge.start();
    EXPECT_THAT(hedge.gate->told, elements("admit 1"));
    hedge.go_on(10);
    EXPECT_THAT(hedge.gate->told, elements("admit 1", "acquire transient", "admit 2"));
    hedge.gate->told.clear();
    hedge.succeed(2, 11);
    EXPECT_THAT(hedge.gate->told, elements("succeeded 2"));
    hedge.succeed(1, 12);
    EXPECT_THAT(hedge.gate->told, elements("succeeded 2", "abandoned 1"));
    EXPECT_TRUE(hedge.gate->is_balanced());
    EXPECT_EQ(hedge.gate->ends[0].after, failure_kind::transient);
    EXPECT_EQ(hedge.gate->ends[0].took, 1ms);
    EXPECT_EQ(hedge.gate->ends[1].after, failure_kind::none);
}

// A gate is told of a defeat only where the loser began earlier: another one that began with the winner, or
// after it, may be as fast.
TEST(decision_30, one_that_began_before_the_winner_is_beaten) {
    gated_hedge hedge(hedge_policy(10ms).max_attempts(3));
    hedge.start();
    hedge.go_on(10);
    hedge.go_on(20);
    hedge.succeed(2, 25);
    hedge.drop(1, 26);
    hedge.drop(3, 27);
    ASSERT_EQ(hedge.gate->ends.size(), 3u);
    EXPECT_FALSE(hedge.gate->ends[0].is_beaten) << "the winner";
    EXPECT_TRUE(hedge.gate->ends[1].is_beaten);
    EXPECT_FALSE(hedge.gate->ends[2].is_beaten);

    gated_hedge together(hedge_policy(0ms));
    together.start();
    together.succeed(2, 5);
    together.drop(1, 6);
    EXPECT_FALSE(together.gate->ends[1].is_beaten);

    gated_hedge cancelled;
    cancelled.start();
    cancelled.go_on(10);
    cancelled.machine.cancel(true);
    cancelled.drop(1, 11);
    EXPECT_FALSE(cancelled.gate->ends[0].is_beaten);
}

// Another attempt was to come after 10 s, but then the peer said never.
TEST(decision_26, a_token_is_given_back_as_soon_as_no_attempt_can_follow) {
    gated_hedge hedge(hedge_policy(10ms).max_attempts(4));
    hedge.start();
    hedge.go_on(10);
    hedge.go_on(20);
    hedge.machine.heed(1, pushback::after(10s));
    hedge.fail(1, 21);
    EXPECT_EQ(hedge.gate->told.back(), "acquire transient");
    hedge.machine.heed(2, pushback::never());
    EXPECT_EQ(hedge.fail(2, 22), "wait") << "for 3";
    EXPECT_EQ(hedge.gate->told.back(), "give_back transient");
}

// Nobody asks the machine between two failures that come at once.
struct two_at_once : testing::Test {
    gated_hedge hedge{hedge_policy(10ms).max_attempts(4)};
    hedge_machine& machine = hedge.machine;

    two_at_once() {
        hedge.start();
        hedge.go_on(10);
        hedge.gate->told.clear();
    }
    void fail(std::uint64_t number) {
        machine.on_failure(number, hedge_script::refused_connection(), hedge_script::at(11));
    }
};

TEST_F(two_at_once, make_one_attempt_ready) {
    fail(1);
    fail(2);
    EXPECT_EQ(hedge.go_on(11), "begin 3, wait until 21");
    EXPECT_THAT(hedge.gate->told,
                elements("failed 1 transient", "acquire transient", "admit 3", "failed 2 transient"));
    EXPECT_EQ(hedge.succeed(3, 12), "deliver 3 succeeded, done");
    EXPECT_TRUE(hedge.gate->is_balanced());
}

TEST_F(two_at_once, leave_none_ready_if_the_second_succeeds) {
    fail(1);
    EXPECT_EQ(hedge.succeed(2, 11), "deliver 2 succeeded, done");
    EXPECT_TRUE(hedge.gate->is_balanced());
}

TEST_F(two_at_once, make_none_ready_if_the_second_says_never) {
    fail(1);
    machine.heed(2, pushback::never());
    fail(2);
    EXPECT_EQ(hedge.go_on(11), "deliver 2 pushback, done");
    EXPECT_EQ(hedge.gate->told.back(), "give_back transient");
    EXPECT_TRUE(hedge.gate->is_balanced());
}

TEST_F(two_at_once, make_none_ready_before_the_second_says) {
    fail(1);
    machine.heed(2, pushback::after(10s));
    fail(2);
    EXPECT_EQ(hedge.go_on(11), "wait until 10011");
    EXPECT_EQ(hedge.go_on(10011), "begin 3, wait until 10021");
    EXPECT_EQ(hedge.succeed(3, 10012), "deliver 3 succeeded, done");
    EXPECT_TRUE(hedge.gate->is_balanced());
}

TEST(hedge_machine_gates, the_others_failed) {
    gated_hedge hedge;
    hedge.start();
    hedge.fail(1, 1);
    hedge.fail(2, 2, verdict::failure(detail::aborted_error()));
    EXPECT_THAT(hedge.gate->told,
                elements("admit 1", "failed 1 transient", "acquire transient", "admit 2", "abandoned 2"));
}

TEST(decision_26, a_drain_gives_back_the_token_for_an_attempt_that_would_have_followed) {
    gated_hedge hedge(hedge_policy(10ms).max_attempts(3));
    hedge.start();
    hedge.go_on(10);
    hedge.machine.heed(1, pushback::after(10s));
    hedge.fail(1, 11);
    hedge.machine.drain();
    hedge.go_on(12);
    EXPECT_EQ(hedge.gate->told.back(), "give_back transient");
}

TEST(hedge_machine_gates, nobody_is_asked_for_another_attempt_in_a_drain) {
    gated_hedge hedge(hedge_policy(10ms).max_attempts(3));
    hedge.start();
    hedge.go_on(10);
    hedge.machine.drain();
    hedge.fail(1, 11);
    EXPECT_EQ(hedge.gate->told.back(), "failed 1 transient");
}

TEST(hedge_machine_gates, a_drain_does_not_take_a_cancellation_back) {
    gated_hedge hedge;
    hedge.start();
    hedge.machine.cancel(true);
    hedge.machine.drain();
    hedge.fail(1, 6);
    EXPECT_EQ(hedge.gate->told.back(), "abandoned 1");
}

TEST(hedge_machine_gates, one_that_goes_gives_back_what_it_holds) {
    auto const gate = std::make_shared<recording_gate>();
    {
        hedge_script waiting(hedge_policy(10ms).gate(gate));
        waiting.start();
        waiting.machine.heed(1, pushback::after(5ms));
        waiting.fail(1, 1);
    }
    EXPECT_EQ(gate->told.back(), "give_back transient");
    {
        hedge_script ready(hedge_policy(10ms).gate(gate));
        ready.start();
        ready.machine.on_failure(1, hedge_script::refused_connection(), hedge_script::at(1));
    }
    EXPECT_EQ(gate->ends.back().number, 2u);
    EXPECT_TRUE(gate->is_balanced());
}

TEST(hedge_machine_gates, one_that_begins_at_its_deadline_asks_for_nothing) {
    gated_hedge hedge(hedge_policy(10ms).deadline(noon));
    EXPECT_EQ(hedge.start(), "deliver 0 deadline, done");
    EXPECT_EQ(hedge.gate->told.size(), 0u);
}

// A budget that refuses harms nobody who runs.
TEST(decision_27, where_the_budget_refuses_those_in_flight_go_on) {
    gated_hedge hedge;
    hedge.gate->grants = {false};
    hedge.start();
    EXPECT_EQ(hedge.go_on(10), "wait");
    EXPECT_EQ(hedge.go_on(50), "wait") << "and it is not asked again";
    EXPECT_THAT(hedge.gate->told, elements("admit 1", "no lease transient"));
    EXPECT_EQ(hedge.succeed(1, 60), "deliver 1 succeeded, done");
    gated_hedge failed;
    failed.gate->grants = {false};
    failed.start();
    EXPECT_EQ(failed.fail(1, 1), "deliver 1 budget, done");
    EXPECT_TRUE(failed.kept);
}

TEST(hedge_machine_gates, an_attempt_that_may_not_begin_is_given_back) {
    gated_hedge hedge;
    hedge.gate->refusals = {std::nullopt, 1ms};
    hedge.start();
    EXPECT_EQ(hedge.go_on(10), "wait");
    EXPECT_THAT(hedge.gate->told, elements("admit 1", "acquire transient", "refuse 2", "give_back transient"));
    EXPECT_EQ(hedge.fail(1, 11), "deliver 1 refused, done") << "with its own error";
    EXPECT_FALSE(hedge.delivered.error);
}

TEST(hedge_machine_gates, hear_of_a_failure_about_which_the_predicate_throws_as_of_any) {
    gated_hedge hedge(
        hedge_policy(10ms).retry_if([](error_code) -> bool { throw std::runtime_error("mine"); }));
    hedge.start();
    EXPECT_EQ(hedge.fail(1, 1), "deliver 0 not_retryable, done");
    EXPECT_THAT(hedge.gate->told, elements("admit 1", "failed 1 transient"));
    EXPECT_EQ(hedge.delivered.error, error::predicate_threw);
}

TEST(hedge_machine_gates, a_first_attempt_that_may_not_begin_ends_it) {
    gated_hedge hedge;
    hedge.gate->refusals = {1ms};
    EXPECT_EQ(hedge.start(), "deliver 0 refused, done");
    EXPECT_EQ(hedge.delivered.error, error::circuit_open);
}

TEST(hedge_machine_gates, those_that_a_limit_stops_took_too_long) {
    gated_hedge hedge(hedge_policy(10ms).total_timeout(5ms));
    hedge.start();
    hedge.go_on(5);
    hedge.fail(1, 6, verdict::failure(detail::aborted_error()));
    EXPECT_THAT(hedge.gate->told, elements("admit 1", "failed 1 timeout"));
}

TEST(hedge_machine_gates, those_that_the_caller_cancels_are_abandoned) {
    gated_hedge hedge;
    hedge.start();
    hedge.machine.cancel(true);
    hedge.fail(1, 6);
    EXPECT_THAT(hedge.gate->told, elements("admit 1", "abandoned 1"));
}

TEST(hedge_machine_gates, a_hook_that_throws_or_cancels_costs_nothing) {
    gated_hedge thrown(hedge_policy(10ms).on_hedge([](std::uint64_t) { throw std::runtime_error("no"); }));
    thrown.start();
    thrown.go_on(10);
    thrown.fail(1, 11);
    EXPECT_THAT(thrown.gate->told, elements("admit 1", "acquire transient", "admit 2", "abandoned 2",
                                            "give_back transient", "abandoned 1"));
    EXPECT_TRUE(thrown.gate->is_balanced());
}

TEST(hedge_machine_gates, one_that_measures_no_time_is_told_none) {
    auto const gate = std::make_shared<recording_gate>(false);
    hedge_script script(hedge_policy(10ms).gate(gate));
    script.start();
    EXPECT_THAT(gate->asked_at, ElementsAre(time_point()));
    EXPECT_FALSE(script.machine.measures_successes());
    hedge_script other(hedge_policy(10ms).gate(std::make_shared<recording_gate>()));
    EXPECT_TRUE(other.machine.measures_successes());
}

TEST(hedge_machine_gates, an_abandoned_attempt_says_when_it_was_let_in) {
    gated_hedge hedge(hedge_policy(10ms).max_attempts(3).on_hedge([](std::uint64_t number) {
        if (number == 3)
            throw std::runtime_error("no");
    }));
    hedge.start();
    hedge.go_on(10);
    hedge.go_on(20);
    hedge.fail(1, 30);
    hedge.fail(2, 30);
    ASSERT_EQ(hedge.gate->ends.size(), 3u);
    EXPECT_EQ(hedge.gate->ends[0].now, noon + 20ms) << "the third, which never began";
    EXPECT_EQ(hedge.gate->ends[1].now, noon);
    EXPECT_EQ(hedge.gate->ends[2].now, noon + 10ms);
}

TEST(hedge_machine_gates, an_attempt_that_begins_late_was_let_in_before) {
    gated_hedge hedge;
    hedge.start();
    hedge.machine.on_failure(1, hedge_script::refused_connection(), hedge_script::at(1));
    hedge.go_on(5);
    hedge.drop(2, 6);
    EXPECT_EQ(hedge.gate->ends.back().now, noon + 1ms);
}

// --- what peers say

TEST(hedge_machine_pushback, never_lets_no_further_attempt_begin) {
    gated_hedge hedge(hedge_policy(10ms).max_attempts(3));
    hedge.start();
    hedge.go_on(10);
    hedge.machine.heed(1, pushback::never());
    EXPECT_EQ(hedge.fail(1, 11), "wait") << "the second goes on";
    EXPECT_EQ(hedge.go_on(30), "wait");
    EXPECT_EQ(hedge.gate->ends[0].said, pushback::never());
    EXPECT_EQ(hedge.fail(2, 31), "deliver 2 pushback, done");
}

TEST(hedge_machine_pushback, the_next_begins_when_the_peer_allows_it) {
    gated_hedge hedge(hedge_policy(10ms).max_attempts(3));
    hedge.start();
    hedge.machine.heed(1, pushback::after(50ms));
    EXPECT_EQ(hedge.fail(1, 1), "wait until 51");
    EXPECT_THAT(hedge.gate->told, elements("admit 1", "failed 1 transient", "acquire transient"))
        << "before the wait";
    EXPECT_EQ(hedge.go_on(50), "wait until 51");
    EXPECT_EQ(hedge.go_on(51), "begin 2, wait until 61");
    hedge.machine.heed(2, pushback::after(50ms));
    EXPECT_EQ(hedge.fail(2, 52), "wait until 102");
    hedge.machine.begin_now(hedge_script::at(60));
    EXPECT_EQ(hedge.go_on(60), "begin 3, wait");
}

/// The first of two attempts fails, and its server has asked for a delay of 50 ms.
void fail_with_a_wish(hedge_script& script) {
    script.start();
    script.go_on(10);
    script.machine.heed(1, pushback::after(50ms));
    EXPECT_EQ(script.fail(1, 11), "wait until 61");
}

TEST(hedge_machine_pushback, a_hedge_is_not_early_either) {
    hedge_script script(hedge_policy(10ms).max_attempts(4));
    fail_with_a_wish(script);
    EXPECT_EQ(script.fail(2, 12), "wait until 61") << "it said nothing, but the first did";
}

/// What follows the failure of the first attempt after a millisecond, whose server has asked for a delay.
std::string after_a_wish(hedge_policy const& policy, duration wish) {
    hedge_script script(policy);
    script.start();
    script.machine.heed(1, pushback::after(wish));
    return script.fail(1, 1);
}

TEST(hedge_machine_pushback, too_long_is_never) {
    EXPECT_EQ(after_a_wish(hedge_policy(10ms).pushback_limit(40ms), 41ms), "deliver 1 pushback, done");
    EXPECT_EQ(after_a_wish(hedge_policy(10ms).total_timeout(30ms), 30ms), "deliver 1 deadline, done")
        << "with its own error, now";
}

TEST(hedge_machine_pushback, as_long_as_may_be_is_waited_for) {
    EXPECT_EQ(after_a_wish(hedge_policy(10ms).pushback_limit(40ms), 40ms), "wait until 41");
    EXPECT_EQ(after_a_wish(hedge_policy(10ms).total_timeout(30ms), 29ms), "deliver 1 deadline, done")
        << "nothing begins at the deadline";
}

TEST(hedge_machine_pushback, the_longest_counts) {
    hedge_script script(hedge_policy(10ms).max_attempts(4));
    fail_with_a_wish(script);
    script.machine.heed(2, pushback::after(5ms));
    EXPECT_EQ(script.fail(2, 12), "wait until 61");
}

TEST(hedge_machine_pushback, what_the_failure_says_comes_after_what_the_attempt_heeded) {
    hedge_script script(hedge_policy(10ms));
    script.start();
    script.machine.heed(1, pushback::after(50ms));
    EXPECT_EQ(script.fail(1, 1, verdict::rejected({true, {}, pushback::after(5ms)})), "wait until 6");
}

TEST(hedge_machine_pushback, gates_hear_it_of_every_attempt_that_ends_by_itself) {
    gated_hedge succeeded;
    succeeded.start();
    succeeded.machine.heed(1, pushback::after(5ms));
    succeeded.succeed(1, 1);
    EXPECT_EQ(succeeded.gate->ends.back().said, pushback::after(5ms));
    gated_hedge thrown;
    thrown.start();
    thrown.machine.heed(1, pushback::after(5ms));
    thrown.machine.on_exception(1, error::predicate_threw, nullptr, noon);
    EXPECT_EQ(thrown.gate->ends.back().said, pushback::after(5ms));
    EXPECT_EQ(thrown.go_on(1), "deliver 0 not_retryable, done") << "none runs any more";
}

// After a wait the last result is gone: where the next may not begin, its error is delivered, or the refusal.
TEST(decision_20, what_a_refused_hedge_delivers_after_a_wait) {
    gated_hedge hedge;
    hedge.gate->refusals = {std::nullopt, 1ms};
    hedge.start();
    hedge.machine.heed(1, pushback::after(5ms));
    hedge.fail(1, 1);
    EXPECT_FALSE(hedge.kept);
    EXPECT_EQ(hedge.go_on(6), "deliver 0 refused, done");
    EXPECT_EQ(hedge.delivered.error, hedge_script::refused_connection().error());
    gated_hedge rejected;
    rejected.gate->refusals = {std::nullopt, 1ms};
    rejected.start();
    rejected.machine.heed(1, pushback::after(5ms));
    rejected.fail(1, 1, verdict::rejected());
    EXPECT_EQ(rejected.go_on(6), "deliver 0 refused, done");
    EXPECT_EQ(rejected.delivered.error, error::circuit_open);
}

TEST(hedge_machine_pushback, what_is_nested_passes_never_on) {
    auto const outer_forbidden = detail::shared_value<detail::nested_marks>::make();
    struct monitor final : detail::health_monitor {
        detail::shared_value<detail::nested_marks> shared;
        void on_healthy() noexcept override {}
        detail::shared_value<detail::nested_marks> marks() override { return shared; }
    } outer;
    outer.shared = outer_forbidden;
    hedge_script script(hedge_policy(10ms).nested_in({1, noon + 1s, &outer}));
    EXPECT_EQ(script.start(), "begin 1, wait until 10");
    script.machine.marks_of_nested(1)->forbidden = true; // a retry inside the attempt was told
    EXPECT_EQ(script.fail(1, 1), "deliver 1 pushback, done");
    EXPECT_TRUE(outer_forbidden->forbidden);
}

// --- the quantile

TEST(hedge_machine_quantile, hedges_what_is_slower_and_learns_from_all_but_those_that_failed) {
    auto const seen = std::make_shared<latency_quantile>(0.5, 10ms, 1);
    hedge_script script{hedge_policy(seen)};
    EXPECT_EQ(script.start(), "begin 1, wait until 10");
    script.go_on(10);
    script.succeed(2, 12);
    EXPECT_GE(seen->value(), 2ms) << "the winner's time";
    EXPECT_LT(seen->value(), 3ms);
    auto const losers = std::make_shared<latency_quantile>(0.9, 10ms, 1);
    hedge_script other{hedge_policy(losers)};
    other.start();
    other.go_on(10);
    other.succeed(2, 12);
    EXPECT_GE(losers->value(), 12ms) << "how long the first had run when it was told";
    other.fail(1, 500);
    EXPECT_LT(losers->value(), 13ms);
    hedge_script third{hedge_policy(losers)};
    EXPECT_EQ(third.start(), "begin 1, wait until 12");
}

TEST(hedge_machine_quantile, failures_and_what_the_caller_cancels_say_nothing) {
    auto const seen = std::make_shared<latency_quantile>(0.5, 10ms, 1);
    hedge_script failed{hedge_policy(seen)};
    failed.start();
    failed.fail(1, 1);
    failed.fail(2, 2);
    hedge_script cancelled{hedge_policy(seen)};
    cancelled.start();
    cancelled.machine.cancel_by_scope();
    cancelled.go_on(1);
    cancelled.fail(1, 2);
    EXPECT_EQ(seen->value(), 10ms) << "nothing has been recorded";
    hedge_script limited{hedge_policy(seen).total_timeout(5ms)};
    limited.start();
    limited.go_on(5);
    EXPECT_GE(seen->value(), 5ms);
    EXPECT_LT(seen->value(), 6ms);
}

TEST(hedge_machine_quantile, each_attempt_counts_once_and_those_that_failed_do_not_when_the_others_are_told) {
    auto const two = std::make_shared<latency_quantile>(0.5, 10ms, 2);
    hedge_script limited{hedge_policy(two).total_timeout(5ms)};
    limited.start();
    limited.go_on(5);
    limited.succeed(1, 6);
    EXPECT_EQ(two->value(), 10ms) << "one has been recorded";
    auto const three = std::make_shared<latency_quantile>(0.5, 10ms, 3);
    hedge_script script{hedge_policy(three).max_attempts(3)};
    script.start();
    script.fail(1, 1);
    script.go_on(11);
    EXPECT_EQ(script.succeed(3, 12), "stop, wait");
    EXPECT_EQ(three->value(), 10ms) << "two have been recorded";
}

// --- whatever happens, all that is granted is used or given back

TEST(hedge_machine_gates, nothing_leaks_over_any_interleaving) {
    split_mix_64 chance{17};
    auto const below = [&](std::uint64_t n) { return chance() % n; };
    for (int round = 0; round < 20'000; ++round) {
        auto const policy =
            hedge_policy(std::chrono::milliseconds(below(3) * 10)).max_attempts(1 + static_cast<int>(below(4)));
        auto operation = std::make_unique<gated_hedge>(policy);
        gated_hedge& hedge = *operation;
        for (int i = 0; i < 4; ++i) {
            hedge.gate->grants.push_back(below(4) != 0);
            hedge.gate->refusals.push_back(below(5) == 0 ? std::optional<duration>(1ms) : std::nullopt);
        }
        auto& machine = hedge.machine;
        int delivered = 0;
        std::string told = hedge.start();
        for (int now = 4; now < 160; now += 4) {
            delivered += told.find("deliver") != std::string::npos;
            if (told.ends_with("done") || told.ends_with("abandon"))
                break;
            std::uint64_t const number = 1 + below(4);
            bool const runs = number <= machine.begun() && machine.is_running(number);
            switch (below(9)) {
            case 0:
                machine.cancel(below(2) == 0);
                break;
            case 1:
                machine.cancel_by_scope();
                break;
            case 2:
                machine.drain();
                break;
            case 3:
            case 4:
                if (runs)
                    machine.on_success(number, hedge_script::at(now));
                break;
            case 5:
            case 6:
                if (runs) {
                    machine.heed(number, below(3) == 0 ? pushback::after(5ms) : pushback());
                    machine.on_failure(number,
                                       below(3) == 0 ? verdict::failure(detail::aborted_error())
                                                     : hedge_script::refused_connection(),
                                       hedge_script::at(now));
                }
                break;
            case 7:
                if (runs)
                    machine.on_dropped(number);
                break;
            case 8:
                break;
            }
            told = hedge.go_on(now);
        }
        EXPECT_LE(delivered, 1);
        if (told.ends_with("done") || told.ends_with("abandon")) {
            ASSERT_TRUE(hedge.gate->is_balanced()) << round;
        }
        auto const gate = hedge.gate;
        operation.reset();
        ASSERT_TRUE(gate->is_balanced()) << round;
    }
}

} // namespace
} // namespace asio_retry::test
