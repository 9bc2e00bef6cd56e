#include <asio_retry/retry_machine.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/elements.hpp"
#include "support/script.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// No wait begins that would end after max_elapsed, and the last real error is delivered.
TEST(decision_07, stops_before_a_wait_that_would_pass_max_elapsed) {
    machine_script script(endless_every_100ms().max_elapsed(250ms));
    script.start();
    EXPECT_THAT(script.fail(10ms), is_wait(100ms));
    EXPECT_THAT(script.wake(110ms), is_attempt());
    EXPECT_THAT(script.fail(151ms), is_completion(stop_reason::elapsed, no_replacement));
    EXPECT_THAT(script.retries, SizeIs(1));
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::elapsed, 2, unreachable())));
}

// A wait may end at max_elapsed exactly, and a nanosecond later it may not.
TEST(decision_07, max_elapsed_is_strict) {
    machine_script exact(endless_every_100ms().max_elapsed(250ms));
    exact.start();
    EXPECT_THAT(exact.fail(150ms), is_wait(100ms));
    machine_script late(endless_every_100ms().max_elapsed(250ms));
    late.start();
    EXPECT_THAT(late.fail(150ms + 1ns), is_completion(stop_reason::elapsed, no_replacement));
}

// A wait may end at the deadline exactly, and a nanosecond later it may not.
TEST(decision_07, the_deadline_is_strict) {
    for (retry_policy const& policy :
         {endless_every_100ms().total_timeout(250ms), endless_every_100ms().deadline(time_point(1h) + 250ms)}) {
        machine_script exact(policy);
        exact.start();
        EXPECT_THAT(exact.fail(150ms), is_wait(100ms));
        EXPECT_THAT(exact.wake(250ms), is_attempt());
        machine_script late(policy);
        late.start();
        EXPECT_THAT(late.fail(150ms + 1ns), is_completion(stop_reason::deadline, no_replacement));
        EXPECT_THAT(late.give_ups, ElementsAre(is_give_up(stop_reason::deadline, 1, unreachable())));
    }
}

// Of several limits the nearest gives the reason, and of two as near the deadline.
TEST(decision_07, the_nearest_limit_gives_the_reason) {
    machine_script elapsed(endless_every_100ms().max_elapsed(90ms).total_timeout(95ms));
    elapsed.start();
    EXPECT_THAT(elapsed.fail(), is_completion(stop_reason::elapsed, no_replacement));
    machine_script deadline(endless_every_100ms().max_elapsed(95ms).total_timeout(90ms));
    deadline.start();
    EXPECT_THAT(deadline.fail(), is_completion(stop_reason::deadline, no_replacement));
    machine_script both(endless_every_100ms().max_elapsed(90ms).total_timeout(90ms));
    both.start();
    EXPECT_THAT(both.fail(), is_completion(stop_reason::deadline, no_replacement));
}

TEST(decision_07, of_equal_limits_the_deadline_gives_the_reason) {
    for (auto const& policy :
         {endless_every_100ms().max_waited(50ms), endless_every_100ms().max_elapsed(50ms)}) {
        machine_script script(policy.total_timeout(50ms));
        script.start();
        EXPECT_THAT(script.fail(), is_completion(stop_reason::deadline, no_replacement));
    }
}

// The earlier of total_timeout and deadline counts, and an attempt is told of it.
TEST(retry_machine_limits, the_earlier_of_total_timeout_and_deadline_counts) {
    machine_script total(endless_every_100ms().total_timeout(1s).deadline(time_point(1h) + 2s));
    total.start();
    EXPECT_EQ(total.machine.current_attempt().deadline, total.begin + 1s);
    machine_script point(endless_every_100ms().total_timeout(3s).deadline(time_point(1h) + 2s));
    point.start();
    EXPECT_EQ(point.machine.current_attempt().deadline, point.begin + 2s);
}

// An operation has no more time than what it is a part of, and less if its policy says so.
TEST(retry_machine_limits, the_earliest_of_its_own_deadlines_and_the_inherited_one_counts) {
    for (retry_policy const& policy :
         {endless_every_100ms().total_timeout(2s), endless_every_100ms().deadline(time_point(1h) + 2s)})
        for (duration const inherited : {1s, 3s}) {
            machine_script script(policy);
            script.machine.inherit_deadline(script.begin + inherited);
            script.start();
            EXPECT_EQ(script.machine.current_attempt().deadline,
                      script.begin + std::min<duration>(inherited, 2s));
        }
}

// Whose policy limits nothing looks at the clock only if what it is a part of has an end.
TEST(retry_machine_limits, an_inherited_deadline_limits_attempts) {
    retry_machine machine(endless_every_100ms());
    machine.inherit_deadline(time_point::max());
    EXPECT_FALSE(machine.limits_attempts());
    EXPECT_FALSE(machine.measures_time());
    machine.inherit_deadline(time_point(1h));
    EXPECT_TRUE(machine.limits_attempts());
    EXPECT_TRUE(machine.measures_time());
}

// A wake-up that is late for max_elapsed still leads to its attempt, for max_elapsed interrupts nothing.
TEST(retry_machine_limits, max_elapsed_does_not_interrupt) {
    machine_script script(endless_every_100ms().max_elapsed(100ms));
    script.start();
    EXPECT_EQ(script.machine.attempt_limit(script.begin), time_point::max());
    script.fail();
    EXPECT_THAT(script.wake(101ms), is_attempt());
    EXPECT_THAT(script.fail(102ms), is_completion(stop_reason::elapsed, no_replacement));
}

// Elapsed time runs from the start and includes attempts, and each delay counts from its attempt's end.
TEST(decision_09, elapsed_time_includes_attempts) {
    machine_script script(endless_every_100ms().max_elapsed(1s));
    script.start();
    EXPECT_THAT(script.fail(500ms), is_wait(100ms));
    EXPECT_THAT(script.wake(600ms), is_attempt());
    EXPECT_THAT(script.fail(900ms), is_wait(100ms));
    EXPECT_THAT(script.wake(1s), is_attempt());
    EXPECT_THAT(script.fail(1s), is_completion(stop_reason::elapsed, no_replacement));
}

// With clamp, a wait is cut short to end at max_elapsed, and after one last attempt there it is over.
TEST(decision_07, clamp_makes_one_last_attempt_at_the_edge) {
    machine_script script(endless_every_100ms().clamp().max_elapsed(150ms));
    script.start();
    EXPECT_THAT(script.fail(90ms), is_wait(60ms));
    EXPECT_THAT(script.retries, ElementsAre(is_retry(1, 60ms)));
    EXPECT_THAT(script.wake(150ms), is_attempt());
    EXPECT_THAT(script.fail(150ms), is_completion(stop_reason::elapsed, no_replacement));
}

// A wait may end late, and the attempt at the edge is made even so, only that its time is up.
TEST(decision_07, clamp_makes_the_attempt_at_the_edge_after_a_late_wake) {
    machine_script script(endless_every_100ms().clamp().total_timeout(150ms));
    script.start();
    EXPECT_THAT(script.fail(90ms), is_wait(30ms));
    EXPECT_THAT(script.wake(151ms), is_attempt());
    EXPECT_EQ(script.limit(151ms), 150ms);
}

// After the last attempt at the edge it is over, even if the next delay is zero and no time has passed since.
// An attempt that was sent for before that is not the last one.
TEST(decision_07, clamp_makes_the_attempt_at_the_edge_even_if_the_wait_for_it_was_cut_short) {
    struct {
        retry_policy policy;
        duration first, second;
        stop_reason reason;
    } const cases[] = {{endless_every_100ms().clamp().max_elapsed(150ms), 60ms, 40ms, stop_reason::elapsed},
                       {endless_every_100ms().clamp().total_timeout(150ms), 30ms, 20ms, stop_reason::deadline}};
    for (auto const& c : cases) {
        machine_script script(c.policy);
        script.start();
        EXPECT_THAT(script.fail(90ms), is_wait(c.first));
        EXPECT_THAT(script.wake(100ms), is_attempt());
        EXPECT_THAT(script.fail(110ms), is_wait(c.second));
        EXPECT_THAT(script.wake(110ms + c.second), is_attempt());
        EXPECT_THAT(script.fail(110ms + c.second), is_completion(c.reason, no_replacement));
    }
}
TEST(decision_07, clamp_makes_no_second_attempt_at_the_edge) {
    backoff const once([](std::uint64_t failures) { return failures == 1 ? duration(100ms) : duration(0s); });
    struct {
        retry_policy policy;
        duration wait;
        stop_reason reason;
    } const cases[] = {{endless_every_100ms().clamp().max_elapsed(50ms), 50ms, stop_reason::elapsed},
                       {endless_every_100ms().clamp().total_timeout(50ms), 45ms, stop_reason::deadline}};
    for (auto const& c : cases) {
        machine_script script(c.policy.backoff(once));
        script.start();
        EXPECT_THAT(script.fail(), is_wait(c.wait));
        EXPECT_THAT(script.wake(c.wait), is_attempt());
        EXPECT_THAT(script.fail(c.wait), is_completion(c.reason, no_replacement));
    }
}

// A deadline interrupts the last attempt, which is therefore left what the longest one took so far: here all
// the bits of one second.
TEST(decision_41, with_clamp_a_last_attempt_is_left_what_the_longest_one_took) {
    constexpr duration longest((1 << 30) - 1);
    retry_policy const policy = endless_every_100ms().backoff(constant(3s)).clamp();
    for (retry_policy const& limited : {policy.total_timeout(10s), policy.deadline(time_point(1h) + 10s)})
        for (bool const marks_health : {false, true}) {
            machine_script script(limited);
            if (marks_health)
                script.machine.expect_marks();
            script.start();
            EXPECT_THAT(script.fail(1s), is_wait(3s));
            EXPECT_THAT(script.wake(4s), is_attempt());
            EXPECT_THAT(script.fail(4100ms), is_wait(3s));
            EXPECT_THAT(script.wake(7100ms), is_attempt());
            EXPECT_THAT(script.fail(7200ms), is_wait(2800ms - longest));
            EXPECT_THAT(script.wake(10s - longest), is_attempt());
            EXPECT_THAT(script.fail(9500ms), is_completion(stop_reason::deadline, no_replacement));
        }
    machine_script inherited(policy);
    inherited.machine.inherit_deadline(inherited.begin + 3s);
    inherited.start();
    EXPECT_THAT(inherited.fail(800ms), is_wait(2200ms - longest));
}

// What fails at once says little about what a success takes.
TEST(decision_41, with_clamp_a_last_attempt_is_left_a_tenth_of_the_time_at_least) {
    machine_script script(endless_every_100ms().clamp().total_timeout(50ms));
    script.start();
    EXPECT_THAT(script.fail(10ns), is_wait((50ms - 10ns) - (50ms - 10ns) / 10));
}

// Where time is short it is shared: no retry comes at once.
TEST(decision_41, with_clamp_a_last_attempt_is_left_half_of_the_time_at_most) {
    machine_script script(endless_every_100ms().clamp().total_timeout(150ms));
    script.start();
    EXPECT_THAT(script.fail(100ms), is_wait(25ms));
    EXPECT_THAT(script.wake(125ms), is_attempt());
    EXPECT_EQ(script.limit(125ms), 150ms);
}

// A wait that ends before the deadline leaves time too, and what follows it need not be the last.
TEST(decision_41, with_clamp_every_wait_leaves_time_for_an_attempt) {
    machine_script script(endless_every_100ms().clamp().total_timeout(160ms));
    script.start();
    EXPECT_THAT(script.fail(50ms), is_wait(55ms));
    EXPECT_THAT(script.wake(105ms), is_attempt());
    EXPECT_THAT(script.fail(106ms), is_wait(27ms));
    EXPECT_THAT(script.wake(133ms), is_attempt());
    EXPECT_THAT(script.fail(133ms), is_completion(stop_reason::deadline, no_replacement));
}

// An attempt that lasts, as a connection does, took its time because it worked.
TEST(decision_41, with_clamp_what_lasted_does_not_count) {
    machine_script script(
        endless_every_100ms().backoff(constant(1s)).clamp().total_timeout(1h).reset_after(1min));
    script.start();
    EXPECT_THAT(script.fail(59min + 59500ms), is_wait(450ms));
}

// Without clamp a wait may end at the deadline, as it always could.
TEST(decision_41, without_clamp_no_wait_is_shortened) {
    machine_script script(endless_every_100ms().total_timeout(150ms));
    script.start();
    EXPECT_THAT(script.fail(50ms), is_wait(100ms));
}

TEST(decision_07, clamp_makes_no_last_attempt_where_no_time_is_left) {
    machine_script script(endless_every_100ms().max_elapsed(1s).clamp());
    script.start();
    EXPECT_THAT(script.fail(1s), is_completion(stop_reason::elapsed, no_replacement));
}

// Zero delays end too, as soon as the time has passed the limit.
TEST(decision_07, clamp_with_zero_delays_ends_after_the_limit) {
    for (retry_policy const& policy : {endless_every_100ms().clamp().max_elapsed(150ms),
                                       endless_every_100ms().clamp().total_timeout(150ms)}) {
        machine_script script(policy.backoff(constant(0s)));
        script.start();
        EXPECT_THAT(script.fail(149ms), is_wait(0s));
        EXPECT_THAT(script.wake(149ms), is_attempt());
        EXPECT_EQ(script.fail(150ms + 1ns).what, retry_action::kind::complete);
        EXPECT_THAT(script.give_ups, SizeIs(1));
    }
}

// The jitter's next step sees the delay that was drawn, not the one that clamp cut short.
TEST(retry_machine_limits, clamp_does_not_shorten_the_previous_delay) {
    std::vector<duration> previous;
    auto const jitter = [&](backoff_step step, random&) {
        previous.push_back(step.previous);
        return step.ceiling;
    };
    machine_script script(endless_every_100ms().jitter(jitter).clamp().max_elapsed(50ms));
    script.start();
    EXPECT_THAT(script.fail(), is_wait(50ms));
    script.wake(50ms);
    EXPECT_EQ(script.fail(50ms).what, retry_action::kind::complete);
    EXPECT_THAT(previous, elements(100ms, 100ms));
}

// Limits as long as time itself never come, and nothing overflows on the way.
TEST(decision_01, huge_durations_saturate) {
    retry_policy const policy = endless_every_100ms().attempt_timeout(duration::max());
    for (time_point begin : {time_point(1h), time_point::max() - 1s, time_point(-1h)}) {
        machine_script script(policy.total_timeout(duration::max()).max_elapsed(duration::max()), begin);
        EXPECT_THAT(script.start(), is_attempt());
        EXPECT_THAT(script.fail(), is_wait(100ms));
        EXPECT_GE(script.machine.attempt_limit(begin), script.machine.current_attempt().deadline);
    }
    EXPECT_THAT(machine_script(endless_every_100ms(), time_point::max()).start(), is_attempt());
    machine_script script(policy.deadline(time_point::max()));
    EXPECT_THAT(script.start(), is_attempt());
    EXPECT_EQ(script.machine.attempt_limit(script.begin), time_point::max());
}

// Without a limit on time even the longest delay is waited for, whatever the clock says.
TEST(retry_machine_limits, without_a_deadline_no_delay_is_too_long) {
    retry_policy const policy = endless_every_100ms().backoff(constant(duration::max()));
    for (time_point begin : {time_point(), time_point(1h)}) {
        machine_script script(policy, begin);
        script.start();
        EXPECT_THAT(script.fail(), is_wait(duration::max()));
    }
}

// The clock may count from a later epoch: what matters is the distance between the points.
TEST(retry_machine_limits, times_before_the_epoch_count_alike) {
    for (time_point begin : {time_point(1h), time_point(-1h), time_point(-50ms), time_point::min()}) {
        machine_script script(endless_every_100ms().total_timeout(150ms), begin);
        script.start();
        EXPECT_THAT(script.fail(50ms), is_wait(100ms));
        machine_script late(endless_every_100ms().total_timeout(150ms), begin);
        late.start();
        EXPECT_THAT(late.fail(51ms), is_completion(stop_reason::deadline, no_replacement));
    }
}

} // namespace
} // namespace asio_retry::test
