#include "schemes/scheme.hpp"
#include "support/elements.hpp"

#include <asio_retry/profiles.hpp>

namespace asio_retry::test {
namespace {

// Rows with n >= 32 show what a 32-bit shift makes of the ceilings.
TEST(scheme_A1, every_published_row_is_the_range_of_the_profile) {
    auto const rows = read_csv("scala_tbeb_grid.csv");
    std::size_t compared = 0, overflowed = 0;
    for (csv_row const& row : rows) {
        std::int64_t const n = whole(row, "n"), e = whole(row, "e");
        duration const greatest = std::chrono::milliseconds(whole(row, "t_ms"));
        retry_policy const policy = profiles::scala_timer(n, greatest);
        auto const failures = static_cast<std::uint64_t>(whole(row, "failure_no"));
        auto const range = range_of(policy, failures);
        EXPECT_EQ(range.least, 0s);
        EXPECT_EQ(range.greatest.count(), greatest.count() >> (n - e));
        if (n < 32) {
            EXPECT_EQ(range.greatest / 1ms, whole(row, "upper_ms"));
            EXPECT_EQ(fraction_at(policy, failures, number(row, "r")) / 1ms, whole(row, "interval_ms"));
        } else {
            overflowed += range.greatest / 1ms != whole(row, "upper_ms");
            EXPECT_GE(delay_at(policy, failures, number(row, "r")), 0s) << row.at("status");
        }
        ++compared;
    }
    EXPECT_EQ(compared, 60u);
    EXPECT_EQ(overflowed, 13u);
}

TEST(scheme_A1, stops_growing_after_10_failures_and_is_back_within_10_seconds) {
    retry_policy const policy = profiles::scala_timer();
    for (std::uint64_t failures = 1; failures <= 64; ++failures)
        EXPECT_EQ(range_of(policy, failures).greatest,
                  duration(19'531'250) * (1 << std::min<std::uint64_t>(failures - 1, 9)));
    EXPECT_EQ(range_of(policy, always).greatest, 10s);
}

TEST(scheme_A1, delays_are_uniform) {
    EXPECT_TRUE(equally_likely(draws_of(profiles::scala_timer(), 10, 100, 100'000)));
}

TEST(scheme_A2, any_base_with_and_without_truncation) {
    auto const longest = static_cast<long double>(duration::max().count());
    for (double const base : {1., 1.5, 2., 3., 10.})
        for (std::uint64_t failures = 1; failures <= 16; ++failures) {
            auto const policy = retry_policy().backoff(exponential(20ms, base)).jitter(full_jitter());
            auto const truncated = policy.backoff(exponential(20ms, base).cap(5s));
            auto const expected =
                2e7L * std::pow(static_cast<long double>(base), static_cast<long double>(failures - 1));
            EXPECT_EQ(range_of(policy, failures).least, 0s);
            EXPECT_EQ(range_of(policy, failures).greatest.count(), std::llround(std::min(expected, longest)));
            EXPECT_EQ(range_of(truncated, failures).greatest.count(), std::llround(std::min(expected, 5e9L)));
        }
}

TEST(scheme_A3, success_on_call_13_means_12_waits_and_12_reports) {
    std::vector<std::uint64_t> failures;
    std::vector<duration> delays;
    auto const policy = profiles::scala_timer().on_retry([&](retry_event const& e) {
        failures.push_back(e.attempt);
        delays.push_back(e.delay);
    });
    played const result = play(policy, 12);
    EXPECT_EQ(result.attempts, 13u);
    EXPECT_EQ(result.reason, stop_reason::succeeded);
    EXPECT_EQ(result.waits, delays);
    EXPECT_THAT(failures, elements(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    for (std::size_t i = 0; i != delays.size(); ++i)
        EXPECT_LE(delays[i], policy.settings().backoff.ceiling(failures[i]));
}

TEST(scheme_A3, any_failure_is_retried_for_ever) {
    EXPECT_EQ(play(profiles::scala_timer(), 100'000).attempts, 100'001u);
}

// What all laws of these tests are judged by notices one outcome in ten being a tenth too frequent.
TEST(law_control, notices_what_is_not_equally_likely) {
    EXPECT_FALSE(equally_likely({11'000, 9'889, 9'889, 9'889, 9'889, 9'889, 9'889, 9'889, 9'889, 9'888}));
    EXPECT_FALSE(equally_likely(std::vector<std::size_t>(1'000, 100))) << "nor what is too even for chance";
}

} // namespace
} // namespace asio_retry::test
