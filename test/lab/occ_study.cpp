// The contention study: the means of every algorithm and number of clients are those that were published.
#include "occ_study.hpp"

#include "support/csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

/// How far two means lie apart, in standard errors of their difference.
double distance(double mean, double sd, double count, double other_mean, double other_sd, double other_count) {
    double const error = std::sqrt(sd * sd / count + other_sd * other_sd / other_count);
    return std::abs(mean - other_mean) / std::max(error, 0.005); // to which the published means are rounded
}

class published_study : public ::testing::TestWithParam<unsigned> {};

TEST_P(published_study, has_the_same_means) {
    std::map<std::pair<unsigned, std::string>, std::map<std::string, double>> published;
    // As many as were published where that takes little time; otherwise fewer, with a larger standard error.
    unsigned const trials = GetParam() <= 20 ? 1000 : 200;
    auto const results = study_occ(occ_algorithms(), {GetParam()}, trials, 7, [](double) {});
    std::size_t compared = 0;
    for (auto const& row : test::read_csv("aws_simulator_1000trials_stats.csv")) {
        if (std::stoul(row.at("clients")) != GetParam())
            continue;
        auto const ours = std::find_if(results.begin(), results.end(),
                                       [&](occ_result const& r) { return r.algorithm == row.at("algorithm"); });
        ASSERT_NE(ours, results.end()) << row.at("algorithm");
        auto const expect_same = [&](char const* what, sample const& found) {
            std::string const prefix = what;
            EXPECT_LE(distance(found.mean(), found.standard_deviation(), static_cast<double>(found.size()),
                               std::stod(row.at(prefix + "_mean")), std::stod(row.at(prefix + "_sd")),
                               std::stod(row.at("trials"))),
                      4)
                << row.at("algorithm") << ": mean " << what << " " << found.mean() << ", published "
                << row.at(prefix + "_mean");
        };
        expect_same("time", ours->time_ms);
        expect_same("calls", ours->calls);
        ++compared;
    }
    EXPECT_EQ(compared, 5u);
}

INSTANTIATE_TEST_SUITE_P(b7, published_study,
                         ::testing::Values(1, 2, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160),
                         ::testing::PrintToStringParamName());

// Base 5 ms and cap 2 s; the first backoff uses n = 1, and so twice the base.
TEST(scheme_B7, algorithms_begin_with_n_1_and_stay_below_the_cap) {
    auto const algorithms = occ_algorithms();
    EXPECT_EQ(algorithms.size(), 5u);
    for (occ_algorithm const& algorithm : algorithms) {
        retry_settings const& settings = algorithm.policy.settings();
        EXPECT_EQ(settings.max_attempts, std::nullopt) << algorithm.name;
        if (algorithm.name == "None") {
            EXPECT_EQ(settings.backoff.ceiling(1), 0s);
        } else if (algorithm.name == "Decorr") {
            EXPECT_EQ(settings.backoff.base(), 5ms);
            EXPECT_EQ(settings.jitter.cap(), 2s);
        } else {
            for (std::uint64_t n = 1; n != 20; ++n)
                EXPECT_EQ(settings.backoff.ceiling(n), std::min<duration>(2s, 5ms * (1 << n)))
                    << algorithm.name << " after " << n;
        }
    }
}

// Who is alone wins at once, and two that begin together lose once or oftener: "calls" counts the writes.
TEST(scheme_B7, calls_are_writes_and_a_client_without_a_rival_makes_one) {
    for (occ_result const& result : study_occ(occ_algorithms(), {1}, 10, 7, [](double) {})) {
        EXPECT_EQ(result.calls.mean(), 1) << result.algorithm;
        EXPECT_GT(result.time_ms.mean(), 0) << result.algorithm;
    }
    for (occ_result const& result : study_occ(occ_algorithms(), {2}, 50, 7, [](double) {}))
        EXPECT_GT(result.calls.mean(), 2) << result.algorithm;
}

// Three begin together, and each writes at most once: one succeeds, and who has read before that gives up.
TEST(occ_study, counts_who_gives_up) {
    retry_policy const once = retry_policy().max_attempts(1);
    for (occ_result const& result : study_occ({{"once", once}}, {1, 3}, 50, 7, [](double) {})) {
        EXPECT_EQ(result.calls.mean(), result.clients);
        if (result.clients == 1) {
            EXPECT_EQ(result.gave_up.mean(), 0);
        } else {
            EXPECT_GT(result.gave_up.mean(), 1);
            EXPECT_LE(result.gave_up.sorted().back(), 2);
        }
    }
    for (occ_result const& result : study_occ(occ_algorithms(), {5}, 5, 7, [](double) {}))
        EXPECT_EQ(result.gave_up.mean(), 0) << result.algorithm;
}

TEST(occ_study, ends_where_clients_would_wait_for_ever) {
    retry_policy const for_ever =
        retry_policy().backoff(constant(duration::max())).jitter(no_jitter()).unlimited_attempts();
    auto const results = study_occ({{"for ever", for_ever}}, {5}, 5, 7, [](double) {});
    EXPECT_GT(results.front().gave_up.mean(), 0);
}

} // namespace
} // namespace asio_retry::lab
