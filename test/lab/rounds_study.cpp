#include "rounds_study.hpp"
#include "study_formats.hpp"

#include "support/matches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

retry_policy const every_round = retry_policy().backoff(constant(1s)).jitter(no_jitter()).unlimited_attempts();

TEST(b6, a_hundred_clients_without_jitter_need_a_hundred_rounds_and_5050_attempts) {
    rounds_result const result = study_rounds(every_round, 100, 1, 1);
    EXPECT_EQ(result.rounds.size(), 100u);
    EXPECT_EQ(result.attempts, 5050u);
    EXPECT_EQ(result.gave_up, 0u);
    EXPECT_EQ(result.rounds.at(0).attempts, 100u);
    EXPECT_EQ(result.rounds.at(99).attempts, 1u);
}

// Who meets n others in round after round is served n rounds later, after as many attempts: n (n + 1) / 2 of
// all.
TEST(scheme_B6, clients_without_jitter_need_a_round_each_and_meet_in_every_one) {
    for (unsigned const clients : {1u, 2u, 37u, 100u}) {
        rounds_result const result = study_rounds(every_round, clients, 1, 1);
        EXPECT_EQ(result.rounds.size(), clients);
        EXPECT_EQ(result.attempts, clients * (clients + 1) / 2);
        EXPECT_EQ(result.gave_up, 0u);
    }
}

TEST(rounds_study, no_round_serves_more_than_its_capacity_and_jitter_saves_attempts) {
    auto const with_jitter =
        retry_policy().backoff(exponential(1s).cap(60s)).jitter(full_jitter()).unlimited_attempts();
    rounds_result const result = study_rounds(with_jitter, 100, 2, 1);
    unsigned served = 0;
    for (auto const& [number, round] : result.rounds) {
        EXPECT_LE(round.served, 2u) << number;
        EXPECT_LE(round.served, round.attempts) << number;
        served += round.served;
    }
    EXPECT_EQ(served, 100u);
    EXPECT_LT(result.attempts, study_rounds(every_round, 100, 2, 1).attempts / 2);
}

TEST(rounds_study, clients_without_attempts_left_give_up) {
    rounds_result const result = study_rounds(every_round.max_attempts(3), 10, 1, 1);
    EXPECT_EQ(result.rounds.size(), 3u);
    EXPECT_EQ(result.attempts, 10u + 9u + 8u);
    EXPECT_EQ(result.gave_up, 7u);
}

TEST(rounds_study, who_would_come_back_after_the_end_of_time_gives_up) {
    rounds_result const result = study_rounds(every_round.backoff(exponential(1h)), 40, 1, 1);
    EXPECT_GT(result.gave_up, 0u);
    EXPECT_EQ(result.rounds.size() + result.gave_up, 40u); // all wait alike, and each round serves one
}

TEST(rounds_study, who_would_come_back_at_once_comes_back_in_the_next_round) {
    auto const at_once = every_round.backoff(constant(0s));
    EXPECT_EQ(study_rounds(at_once, 5, 1, 1).rounds.size(), 5u);
}

// Two clients come in the first round and one again in the sixth: nobody does in between.
TEST(chart_of_rounds, rounds_without_attempts_are_drawn_and_who_was_served_is_counted) {
    auto const policy = retry_policy().backoff(constant(5s)).jitter(no_jitter()).unlimited_attempts();
    rounds_options asked;
    asked.as = format::svg;
    std::ostringstream out;
    print_rounds(out, {{"constant(5s)", study_rounds(policy, 2, 1, 1)}}, asked, {});
    auto const lines = test::all_matches(out.str(), "<polyline[^>]* points=\"([^\"]*)\"");
    ASSERT_EQ(lines.size(), 3u) << "attempts, served and served in all";
    constexpr double top = 34, base = 262;
    auto const heights = [](std::string const& points) {
        std::vector<double> result;
        for (auto const& one : test::all_matches(points, "[0-9.]+,([0-9.]+)"))
            result.push_back((base - std::stod(one[1])) / (base - top));
        return result;
    };
    using testing::ElementsAre;
    EXPECT_THAT(heights(lines[0][1]), ElementsAre(1, 0, 0, 0.5));
    EXPECT_THAT(heights(lines[1][1]), ElementsAre(0.5, 0, 0, 0.5));
    EXPECT_THAT(heights(lines[2][1]), ElementsAre(0.5, 0.5, 0.5, 1));
}

} // namespace
} // namespace asio_retry::lab
