#include "schemes/scheme.hpp"

#include <asio_retry/profiles.hpp>

#include <sstream>

namespace asio_retry::test {
namespace {

TEST(scheme_B1_to_B4, every_published_row_lies_where_its_draw_puts_it) {
    std::size_t compared = 0;
    for (csv_row const& row : read_csv("aws_formulas_grid.csv")) {
        duration const base = from_ms(number(row, "base")), cap = from_ms(number(row, "cap"));
        duration const previous = from_ms(number(row, "decorr_prev"));
        auto const failures = static_cast<std::uint64_t>(whole(row, "attempt")) + 1;
        double const u = number(row, "u");
        auto const at_u = [&](retry_policy const& policy) {
            return fraction_at(policy, failures, u, previous);
        };
        EXPECT_EQ(at_u(profiles::aws_exponential(base, cap)), from_ms(number(row, "exponential")));
        EXPECT_EQ(at_u(profiles::aws_full_jitter(base, cap)), from_ms(number(row, "full")));
        EXPECT_EQ(at_u(profiles::aws_equal_jitter(base, cap)), from_ms(number(row, "equal")));

        double const six_digits = 1e6 * number(row, "decorr") * 1e-5;
        EXPECT_NEAR(static_cast<double>(at_u(profiles::aws_decorrelated(base, cap)).count()),
                    1e6 * number(row, "decorr"), six_digits);
        auto const in_range = range_of(profiles::aws_decorrelated_in_range(base, cap), failures, previous);
        EXPECT_EQ(in_range.least, base);
        EXPECT_EQ(in_range.greatest, std::min(cap, 3 * previous));
        EXPECT_LE(at_u(profiles::aws_decorrelated_in_range(base, cap)), cap);
        ++compared;
    }
    EXPECT_EQ(compared, 60u);
}

TEST(scheme_B1_to_B4, base_and_cap_of_the_study_are_the_defaults) {
    for (retry_policy const& policy :
         {profiles::aws_exponential(), profiles::aws_full_jitter(), profiles::aws_equal_jitter()}) {
        EXPECT_EQ(range_of(policy, 1).greatest, 5ms);
        EXPECT_EQ(range_of(policy, 9).greatest, 1280ms);
        EXPECT_EQ(range_of(policy, 10).greatest, 2s);
        EXPECT_EQ(policy.settings().max_attempts, std::nullopt);
    }
    EXPECT_EQ(range_of(profiles::aws_decorrelated(), 1).greatest, 15ms);
    EXPECT_EQ(profiles::aws_decorrelated().settings().jitter.cap(), 2s);
}

TEST(scheme_B2_B3, delays_are_uniform) {
    EXPECT_TRUE(equally_likely(draws_of(profiles::aws_full_jitter(), 20, 100, 100'000)));
    EXPECT_TRUE(equally_likely(draws_of(profiles::aws_equal_jitter(), 20, 100, 100'000)));
    EXPECT_TRUE(equally_likely(draws_of(profiles::aws_decorrelated_in_range(), 20, 100, 100'000)));
}

// From the cap on, [5 ms, 6 s] is drawn from, and 4 s of it become the cap.
TEST(scheme_B4, capping_the_value_gives_the_cap_two_times_in_three) {
    constexpr int draws = 100'000;
    double const p = 4000. / 5995;
    EXPECT_NEAR(part_at(profiles::aws_decorrelated(), 20, 2s, draws, 2s), p, six_sigma(p, draws));
    EXPECT_LE(part_at(profiles::aws_decorrelated_in_range(), 20, 2s, draws, 2s), 1. / draws);
}

TEST(scheme_B4, the_delay_before_is_the_capped_one) {
    for (duration const wait : play(profiles::aws_decorrelated(), 1'000).waits) {
        EXPECT_GE(wait, 5ms);
        EXPECT_LE(wait, 2s);
    }
}

TEST(scheme_B4, a_cap_below_the_base_is_refused_in_both_forms) {
    EXPECT_THROW((void)profiles::aws_decorrelated(2ms, 1ms), std::invalid_argument);
    EXPECT_THROW((void)profiles::aws_decorrelated_in_range(2ms, 1ms), std::invalid_argument);
}

// The sample draws whole milliseconds, waits after the last failure too and hides the error.
TEST(scheme_B5, every_published_trace_but_for_its_last_wait) {
    std::size_t compared = 0, given_up = 0;
    for (csv_row const& row : read_csv("java_equal_jitter_traces.csv")) {
        std::int64_t const tries = whole(row, "max_retry"), fail_first = whole(row, "fail_first");
        double const u = number(row, "u");
        retry_policy const policy = profiles::java_equal_jitter(tries);
        played const result = play(policy, static_cast<std::uint64_t>(fail_first));
        EXPECT_EQ(result.attempts, static_cast<std::uint64_t>(whole(row, "calls")));

        std::vector<std::int64_t> published;
        std::istringstream sleeps(row.at("sleeps_ms"));
        for (std::int64_t ms = 0; sleeps >> ms;)
            published.push_back(ms);
        bool const fails = fail_first >= tries;
        EXPECT_EQ(result.reason, fails ? stop_reason::attempts : stop_reason::succeeded);
        EXPECT_EQ(result.replacement, error_code()) << "the last error comes out as it was";
        ASSERT_EQ(result.waits.size(), published.size() - fails);
        for (std::size_t i = 0; i != published.size(); ++i) {
            EXPECT_EQ(fraction_at(policy, i + 1, u) / 1ms, published[i]);
            if (i < result.waits.size()) {
                EXPECT_GE(result.waits[i], range_of(policy, i + 1).least);
                EXPECT_LE(result.waits[i], range_of(policy, i + 1).greatest);
            }
        }
        ++compared;
        given_up += fails;
    }
    EXPECT_EQ(compared, 36u);
    EXPECT_EQ(given_up, 15u);
}

} // namespace
} // namespace asio_retry::test
