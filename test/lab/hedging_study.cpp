// What hedges make of operations of which some are slow, and what they cost.
#include "hedging_study.hpp"

#include "seeds.hpp"
#include "tool/sample.hpp"

#include <chrono>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

double p99_9(hedging_result const& result) {
    return quantile(result.ms, 0.999);
}

TEST(hedging_study, a_fixed_delay_takes_the_slowest_away_for_one_attempt_in_a_hundred) {
    with_three_seeds([](std::uint64_t seed) {
        hedging_result const without = study_hedging({}, seed),
                             with = study_hedging({.when = hedging::fixed}, seed);
        EXPECT_EQ(without.load, 1);
        EXPECT_LE(with.load, 1.01);
        EXPECT_GE(p99_9(without), 50 * p99_9(with)) << p99_9(without) << " ms and " << p99_9(with) << " ms";
    });
}

TEST(hedging_study, decision_30_a_quantile_does_so_for_five) {
    with_three_seeds([](std::uint64_t seed) {
        hedging_result const without = study_hedging({}, seed),
                             with = study_hedging({.when = hedging::observed}, seed);
        EXPECT_LE(with.load, 1.05);
        EXPECT_GE(p99_9(without), 50 * p99_9(with)) << p99_9(without) << " ms and " << p99_9(with) << " ms";
    });
}

TEST(hedging_study, decision_30_a_budget_keeps_hedges_from_doubling_the_load_where_all_are_slow) {
    with_three_seeds([](std::uint64_t seed) {
        hedging_setting const all_slow{.when = hedging::fixed, .with_budget = true, .slow_share = 1};
        EXPECT_LE(study_hedging(all_slow, seed).load, 1.11);
    });
}

TEST(hedging_study, without_a_budget_they_double_it) {
    with_three_seeds([](std::uint64_t seed) {
        hedging_setting const all_slow{.when = hedging::fixed, .slow_share = 1};
        EXPECT_EQ(study_hedging(all_slow, seed).load, 2);
    });
}

hedging_setting some_slow(hedging when) {
    return {.when = when, .slow_share = 0.05, .slow_least = 20ms, .slow_greatest = 190ms};
}

TEST(hedging_study, decision_30_a_quantile_hedges_the_share_that_it_is_told_to) {
    with_three_seeds([](std::uint64_t seed) {
        EXPECT_NEAR(study_hedging(some_slow(hedging::observed), seed).hedged, 0.05, 0.01);
    });
}

TEST(hedging_study, a_quantile_of_winners_alone_sinks) {
    with_three_seeds([](std::uint64_t seed) {
        EXPECT_GE(study_hedging(some_slow(hedging::of_winners), seed).hedged, 0.06);
    });
}

} // namespace
} // namespace asio_retry::lab
