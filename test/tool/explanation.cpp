#include "explanation.hpp"

#include "sample.hpp"

#include <asio_retry/policy_text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace asio_retry::tool {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(explanation, shows_ceilings_bands_means_and_times) {
    auto const policy = retry_policy().backoff(exponential(1s).cap(3s)).jitter(equal_jitter()).max_attempts(4);
    explanation const what = explain(policy, {});
    ASSERT_EQ(what.failures.size(), 3u);
    EXPECT_TRUE(what.is_whole);
    EXPECT_FALSE(what.means_are_sampled);
    EXPECT_THAT(what.attempts, ElementsAre(4u));
    explained_failure const& last = what.failures.back();
    EXPECT_EQ(last.failure, 3u);
    EXPECT_EQ(last.ceiling, 3s);
    EXPECT_EQ(last.least, 1500ms);
    EXPECT_EQ(last.mean, 2250ms);
    EXPECT_EQ(last.greatest, 3s);
    EXPECT_EQ(last.cumulative_least, 500ms + 1s + 1500ms);
    EXPECT_EQ(last.cumulative_mean, 750ms + 1500ms + 2250ms);
    EXPECT_EQ(last.cumulative_greatest, 6s);
    EXPECT_TRUE(last.draws.empty());
}

TEST(explanation, ends_where_the_policy_does_or_after_twenty_failures) {
    auto const endless = retry_policy().backoff(constant(1s)).jitter(no_jitter()).unlimited_attempts();
    explanation const cut = explain(endless, {});
    EXPECT_EQ(cut.failures.size(), 20u);
    EXPECT_FALSE(cut.is_whole);
    EXPECT_THAT(cut.attempts, IsEmpty());
    EXPECT_THAT(explain(endless.max_attempts(30), {}).attempts, ElementsAre(30u));
    EXPECT_EQ(explain(endless.max_elapsed(5s), {}).failures.size(), 5u); // a wait may end at the limit
    EXPECT_EQ(explain(endless.total_timeout(4999ms), {}).failures.size(), 4u);
    EXPECT_EQ(explain(endless.max_elapsed(2s).total_timeout(4999ms), {}).failures.size(), 2u);
    EXPECT_THAT(explain(endless.total_timeout(4999ms), {}).attempts, Each(5u));
    EXPECT_TRUE(explain(endless.max_attempts(1), {}).failures.empty());
}

TEST(explanation, has_no_attempt_where_there_is_no_time_for_one) {
    for (auto const& policy :
         {retry_policy().total_timeout(0s), retry_policy().backoff(constant(0s)).total_timeout(0s)}) {
        explanation const what = explain(policy, {});
        EXPECT_THAT(what.failures, IsEmpty());
        EXPECT_TRUE(what.is_whole);
        EXPECT_THAT(what.attempts, Each(0u));
        EXPECT_EQ(load_at(what, 0.3).attempts, 0.0);
        EXPECT_EQ(load_at(what, 0.3).successes, 0.0);
    }
}

TEST(explanation, shows_as_many_failures_as_asked_whatever_the_limits) {
    auto const policy = retry_policy().max_attempts(2).max_elapsed(1s);
    explanation const what = explain(policy, {.failures = 40, .seed = 1, .draws = 0});
    EXPECT_EQ(what.failures.size(), 40u);
    EXPECT_EQ(what.failures.back().ceiling, 20s);
    EXPECT_THAT(what.attempts, Each(2u));
}

TEST(explanation, decision_86_asks_no_rate_limit) {
    char const* const policy = "constant(1s) max_attempts(4) max_elapsed(10s) ";
    for (std::string const more : {"rate_limit(1, 1h)", "rate_limit(1, 1h) wait_when_refused()"})
        EXPECT_EQ(explain(parse_policy(policy + more), {}).attempts,
                  explain(parse_policy(policy), {}).attempts);
}

// The limits of time end an operation wherever its rows end.
TEST(explanation, counts_the_attempts_within_the_limits_of_time) {
    auto const policy =
        retry_policy().backoff(constant(1s)).jitter(no_jitter()).max_attempts(100).max_elapsed(50s);
    explanation const what = explain(policy, {});
    EXPECT_EQ(what.failures.size(), 20u);
    EXPECT_FALSE(what.is_whole);
    EXPECT_THAT(what.attempts, Each(51u));
    EXPECT_NEAR(load_at(what, 0.99).successes, 1 - std::pow(0.99, 51), 1e-12);
    explanation const drawn = explain(policy.jitter(full_jitter()).max_elapsed(10s), {});
    EXPECT_LT(drawn.attempts.front(), drawn.attempts.back());
    EXPECT_GE(drawn.attempts.front(), 11u); // ten waits of a second each at least
}

// Not all of many attempts are played.
TEST(explanation, takes_no_end_of_its_own_for_that_of_the_policy) {
    auto const policy = retry_policy().backoff(constant(1ms)).jitter(no_jitter()).unlimited_attempts();
    explanation const longer = explain(policy.max_elapsed(10'000ms), {});
    EXPECT_FALSE(is_known(longer, longer.attempts.front()));
    EXPECT_TRUE(load_at(longer, 0.9999).is_least);
    EXPECT_FALSE(load_at(longer, 0.5).is_least);
    explanation const as_long = explain(policy.max_elapsed(9'999ms), {});
    EXPECT_THAT(as_long.attempts, Each(10'000u));
    EXPECT_TRUE(is_known(as_long, 10'000));
    EXPECT_FALSE(load_at(as_long, 1).is_least);
    explanation const asked_for = explain(policy.max_attempts(20'000), {});
    EXPECT_TRUE(is_known(asked_for, asked_for.attempts.front()));
    EXPECT_EQ(load_at(asked_for, 1).attempts, 20'000);
}

// Here attempts take no time.
TEST(explanation, ends_where_all_waits_may_take_no_longer) {
    auto const policy =
        retry_policy().backoff(constant(1s)).jitter(no_jitter()).max_attempts(10).max_waited(5s);
    for (auto const& each : {policy, policy.unlimited_attempts(), policy.max_elapsed(7s).total_timeout(1min)}) {
        explanation const what = explain(each, {});
        EXPECT_EQ(what.failures.size(), 5u);
        EXPECT_THAT(what.attempts, Each(6u));
        EXPECT_TRUE(what.is_whole);
        EXPECT_EQ(load_at(what, 1).attempts, 6);
    }
    explanation const cut_short = explain(policy.backoff(constant(2s)).clamp(), {});
    ASSERT_EQ(cut_short.failures.size(), 3u);
    EXPECT_EQ(cut_short.failures.back().mean, 1s);
    EXPECT_THAT(cut_short.attempts, Each(4u));
}

TEST(explanation, shows_the_wait_that_is_cut_short_to_end_at_the_limit) {
    auto const policy =
        retry_policy().backoff(constant(4s)).jitter(no_jitter()).unlimited_attempts().max_elapsed(10s).clamp();
    explanation const what = explain(policy, {});
    ASSERT_EQ(what.failures.size(), 3u);
    EXPECT_EQ(what.failures.back().mean, 2s);
    EXPECT_EQ(what.failures.back().cumulative_mean, 10s);
    EXPECT_THAT(what.attempts, Each(4u));
}

TEST(explanation, knows_the_waits_that_limits_of_time_leave) {
    auto const policy = retry_policy().backoff(exponential(1s)).jitter(equal_jitter()).max_attempts(4);
    explanation const what = explain(policy.max_elapsed(5s), {});
    EXPECT_EQ(what.failures.size(), 2u);
    EXPECT_FALSE(what.is_whole) << "a third wait may follow";
    EXPECT_EQ(what.attempts.back(), 4u);
    ASSERT_TRUE(what.waits);
    EXPECT_EQ(what.waits->runs, 1000u);
    // 1.5 s if the third delay is 4 s, and anything up to the limit
    EXPECT_GE(what.waits->least, 1500ms);
    EXPECT_LT(what.waits->least, 1700ms);
    EXPECT_GT(what.waits->greatest, 4900ms);
    EXPECT_LE(what.waits->greatest, 5s);

    explanation const endless = explain(policy.unlimited_attempts().max_elapsed(2500ms), {});
    EXPECT_GE(endless.waits->least, 500ms);
    EXPECT_LT(endless.waits->least, 700ms);
    EXPECT_GT(endless.waits->greatest, 2400ms);

    explanation const roomy = explain(policy.max_elapsed(7s), {}); // which they cannot exceed
    EXPECT_EQ(roomy.waits->least, 3500ms);
    EXPECT_EQ(roomy.waits->greatest, 7s);
    EXPECT_EQ(roomy.waits->runs, 0u);
    EXPECT_EQ(explain(policy.total_timeout(7s).clamp(), {}).waits->runs, 1000u);
    EXPECT_EQ(explain(policy.total_timeout(8s).clamp(), {}).waits->runs, 0u);
    EXPECT_FALSE(explain(policy.unlimited_attempts(), {}).waits);
    EXPECT_EQ(explain(policy.max_elapsed(100ms), {}).waits->greatest, 0s);

    auto const many = policy.backoff(constant(1ms)).unlimited_attempts().max_elapsed(1min);
    auto const of_many = explain(many, {}).waits;
    EXPECT_EQ(of_many->greatest, 1min);
    EXPECT_EQ(of_many->runs, 0u) << "no run is played to its end";
    auto const of_some = policy.backoff(constant(1ms)).jitter(no_jitter()).unlimited_attempts().max_elapsed(5s);
    EXPECT_EQ(explain(of_some, {}).waits->runs, 200u) << "of 5001 attempts each, a million in all";
}

TEST(explanation, shows_what_remains_for_the_waits_that_are_cut_short) {
    auto const policy = retry_policy().backoff(exponential(1s)).jitter(equal_jitter()).max_attempts(4).clamp();
    explanation const what = explain(policy.max_elapsed(2500ms), {});
    EXPECT_EQ(what.waits->least, 2500ms);
    EXPECT_EQ(what.waits->greatest, 2500ms);
    ASSERT_EQ(what.failures.size(), 3u);
    explained_failure const &second = what.failures[1], &last = what.failures[2];
    EXPECT_EQ(second.greatest, 2s);
    EXPECT_EQ(second.cumulative_greatest, 2500ms);
    EXPECT_EQ(last.least, 0s);
    EXPECT_EQ(last.mean, 250ms);
    EXPECT_EQ(last.greatest, 1s);
    EXPECT_EQ(last.cumulative_least, 2500ms);
    EXPECT_EQ(last.cumulative_greatest, 2500ms);
    explained_failure const interrupted = explain(policy.total_timeout(2500ms), {}).failures.back();
    EXPECT_EQ(interrupted.greatest, 900ms);
    EXPECT_EQ(interrupted.cumulative_least, 2400ms);
}

TEST(explanation, adds_up_to_the_limit_of_time_only) {
    auto const policy =
        retry_policy().backoff(constant(2s)).jitter(full_jitter()).unlimited_attempts().max_elapsed(10s);
    explanation const what = explain(policy, {});
    ASSERT_EQ(what.failures.size(), 10u);
    EXPECT_EQ(what.failures[4].cumulative_greatest, 10s);
    EXPECT_EQ(what.failures[9].cumulative_greatest, 10s);
    EXPECT_EQ(what.failures[9].cumulative_usual, 10s);
    explanation const asked_for = explain(policy, {.failures = 10, .seed = 1, .draws = 0});
    EXPECT_EQ(asked_for.failures[9].cumulative_greatest, 20s);
}

TEST(explanation, decision_41_shows_the_wait_that_is_cut_short_to_leave_the_last_attempt_time) {
    auto const policy = retry_policy()
                            .backoff(constant(4s))
                            .jitter(no_jitter())
                            .unlimited_attempts()
                            .total_timeout(10s)
                            .clamp();
    explanation const what = explain(policy, {});
    ASSERT_EQ(what.failures.size(), 3u);
    EXPECT_EQ(what.failures.back().mean, 1800ms);
    EXPECT_EQ(what.failures.back().cumulative_mean, 9800ms);
    EXPECT_THAT(what.attempts, Each(4u));
    EXPECT_EQ(explain(policy.backoff(constant(9500ms)), {}).failures.front().mean, 9s);
}

// What is drawn above a jitter's cap becomes the cap.
TEST(explanation, computes_the_mean_of_a_capped_draw) {
    auto const policy =
        retry_policy().backoff(constant(31500ms)).jitter(additive_jitter(1000ms).unit(1ms).cap(32s));
    auto const mean = explain(policy, {}).failures.front().mean;
    // (31500 + ... + 32000 + 500 * 32000) / 1001
    EXPECT_EQ(mean, duration(std::llround(31'906'750.0 / 1001 * 1e6)));
    auto const all_above = policy.backoff(constant(40s));
    EXPECT_EQ(explain(all_above, {}).failures.front().mean, 32s);
    EXPECT_EQ(explain(all_above, {}).failures.front().least, 32s);
    EXPECT_EQ(explain(all_above, {}).failures.front().greatest, 32s);
}

TEST(explanation, samples_the_mean_where_a_delay_depends_on_the_one_before) {
    auto const policy =
        retry_policy().backoff(constant(100ms).cap(1h)).jitter(decorrelated_jitter()).max_attempts(4);
    explanation const what = explain(policy, {});
    EXPECT_TRUE(what.means_are_sampled);
    // Half of the base and three times the mean before: 200, 350, 575 ms.
    EXPECT_NEAR(static_cast<double>(what.failures[0].mean / 1us), 200'000, 3'000);
    EXPECT_NEAR(static_cast<double>(what.failures[1].mean / 1us), 350'000, 7'000);
    EXPECT_NEAR(static_cast<double>(what.failures[2].mean / 1us), 575'000, 15'000);
    EXPECT_EQ(what.failures[2].least, 100ms);
    EXPECT_EQ(what.failures[2].greatest, 2700ms);
}

TEST(explanation, decision_36_begins_a_decorrelated_jitter_where_the_machine_does) {
    auto const policy = retry_policy()
                            .backoff(first_at_once(exponential(100ms).cap(20s)))
                            .jitter(decorrelated_jitter())
                            .max_attempts(5);
    explanation const what = explain(policy, {.failures = {}, .seed = 1, .draws = 200});
    ASSERT_EQ(what.failures.size(), 4u);
    EXPECT_EQ(what.failures[0].greatest, 0s);
    EXPECT_EQ(what.failures[1].least, 100ms);
    EXPECT_EQ(what.failures[1].greatest, 300ms);
    EXPECT_EQ(what.failures[3].greatest, 2700ms);
    for (explained_failure const& f : what.failures) {
        EXPECT_GE(f.draws.front(), f.least);
        EXPECT_LE(f.draws.back(), f.greatest);
    }
}

TEST(explanation, decision_37_shows_the_cap_of_the_part) {
    auto const policy = retry_policy()
                            .backoff(chained(constant(1s).cap(2s), 1, constant(5s).cap(6s)))
                            .jitter(log_normal_jitter(1));
    explanation const what = explain(policy, {.failures = 2, .seed = 1, .draws = 0});
    EXPECT_EQ(what.failures[0].greatest, 2s);
    EXPECT_EQ(what.failures[1].greatest, 6s);
}

// Where the cap of the backoff allows none, there is no delay.
TEST(explanation, shows_the_least_delay_of_a_jitter_without_a_range) {
    auto const policy = retry_policy().backoff(first_at_once(exponential(100ms).cap(10s))).max_attempts(5);
    for (jitter const& kind : {log_normal_jitter(0.5), decorrelated_jitter_v2()}) {
        explanation const what =
            explain(policy.jitter(kind.unit(20ms).at_least(150ms)), {.failures = {}, .seed = 1, .draws = 1000});
        ASSERT_EQ(what.failures.size(), 4u);
        EXPECT_EQ(what.failures[0].least, 0s);
        EXPECT_EQ(what.failures[1].least, 160ms);
        EXPECT_EQ(what.failures[3].cumulative_least, 480ms);
        for (explained_failure const& f : what.failures)
            EXPECT_GE(f.draws.front(), f.least) << f.failure;
        EXPECT_EQ(what.failures[1].draws.front(), 160ms);
        auto const capped = policy.jitter(kind.at_least(150ms).cap(150ms).beyond_cap());
        EXPECT_EQ(explain(capped, {}).failures[0].least, 150ms);
        EXPECT_EQ(explain(policy.jitter(kind), {}).failures[1].least, 0s);
        auto const low = policy.backoff(constant(100ms).cap(100ms)).jitter(kind.at_least(150ms));
        EXPECT_EQ(explain(low, {}).failures[0].least, 100ms);
    }
}

TEST(explanation, draws_from_the_band_and_the_same_for_the_same_seed) {
    explain_request const request{.failures = 3, .seed = 5, .draws = 1000};
    explanation const what = explain(retry_policy(), request);
    for (explained_failure const& f : what.failures) {
        ASSERT_EQ(f.draws.size(), 1000u);
        EXPECT_GE(f.draws.front(), f.least);
        EXPECT_LE(f.draws.back(), f.greatest);
        EXPECT_TRUE(std::is_sorted(f.draws.begin(), f.draws.end()));
        EXPECT_NEAR(static_cast<double>(quantile(f.draws, 0.5) / 1us), static_cast<double>(f.mean / 1us),
                    static_cast<double>(f.greatest / 1us) * 0.1);
    }
    EXPECT_EQ(what.failures[2].draws, explain(retry_policy(), request).failures[2].draws);
    EXPECT_NE(what.failures[2].draws,
              explain(retry_policy(), {.failures = 3, .seed = 6, .draws = 1000}).failures[2].draws);
}

TEST(explanation, knows_the_longest_time) {
    auto const policy = retry_policy().backoff(constant(1s)).jitter(full_jitter()).max_attempts(3);
    EXPECT_FALSE(explain(policy, {}).longest); // an attempt may take for ever
    EXPECT_EQ(explain(policy.attempt_timeout(10s), {}).longest, 3 * 10s + 2 * 1s);
    EXPECT_EQ(explain(policy.attempt_timeout(10s).total_timeout(7s), {}).longest, 7s);
    EXPECT_EQ(explain(policy.unlimited_attempts().attempt_timeout(10s).max_elapsed(1min), {}).longest, 70s);
    // An attempt in good health lets all begin anew, but for the timeout of the whole.
    retry_policy const healing = policy.attempt_timeout(10s).reset_after(10s);
    EXPECT_FALSE(explain(healing, {}).longest);
    EXPECT_FALSE(explain(healing.max_elapsed(1min), {}).longest);
    EXPECT_EQ(explain(healing.total_timeout(7s), {}).longest, 7s);
    EXPECT_EQ(explain(healing.reset_after(10s + 1ns), {}).longest, 3 * 10s + 2 * 1s)
        << "no attempt lasts so long";
    EXPECT_EQ(explain(policy.attempt_timeout(10s).max_waited(500ms), {}).longest, 30'500ms);
    auto const queued = policy.attempt_timeout(10s).wait_when_refused(); // a gate may refuse for ever
    EXPECT_FALSE(explain(queued, {}).longest);
    EXPECT_EQ(explain(queued.total_timeout(7s), {}).longest, 7s);
    EXPECT_FALSE(explain(policy.attempt_timeout(10s).max_waited(500ms).unlimited_attempts(), {}).longest);
    auto const many = policy.max_attempts(1'000'001).attempt_timeout(1s).jitter(no_jitter());
    EXPECT_EQ(explain(many, {}).longest, 2'000'001s);
    EXPECT_FALSE(explain(many.backoff(linear(1s, 1ns)), {}).longest) << "would take long to add up";
    EXPECT_EQ(explain(many.backoff(linear(1s, 1ns)).max_waited(1h), {}).longest, 1'000'001s + 1h);
    EXPECT_EQ(explain(many.backoff(exponential(1s)), {}).longest, duration::max());
}

TEST(expected_load, is_that_of_independent_failures) {
    explanation const three = explain(retry_policy().max_attempts(3), {});
    EXPECT_DOUBLE_EQ(load_at(three, 0.5).attempts, 1.75);
    EXPECT_DOUBLE_EQ(load_at(three, 0.5).successes, 0.875);
    EXPECT_DOUBLE_EQ(load_at(three, 1).attempts, 3);
    EXPECT_DOUBLE_EQ(load_at(three, 1).successes, 0);
    EXPECT_DOUBLE_EQ(load_at(three, 0).attempts, 1);
    EXPECT_DOUBLE_EQ(load_at(explain(retry_policy().unlimited_attempts(), {}), 0.75).attempts, 4);
}

} // namespace
} // namespace asio_retry::tool
