// The contention study: the means of every algorithm and number of clients are those that were published.
#include "occ_study.hpp"

#include "support/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace asio_retry::tool {
namespace {

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
    auto const results = study_occ({GetParam()}, trials, 7, [](double) {});
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

} // namespace
} // namespace asio_retry::tool
