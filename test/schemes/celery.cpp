#include "schemes/scheme.hpp"

#include <asio_retry/profiles.hpp>

namespace asio_retry::test {
namespace {

using std::chrono::seconds;
using testing::Each;

std::int64_t in_seconds(duration d) {
    EXPECT_EQ(d % 1s, 0s);
    return d / 1s;
}

// Negative factors are refused.
TEST(scheme_C1_C2, every_published_row) {
    std::size_t negative = 0, compared = 0;
    for (csv_row const& row : read_csv("celery_grid.csv")) {
        seconds const factor(whole(row, "factor")), maximum(whole(row, "maximum"));
        auto const failures = static_cast<std::uint64_t>(whole(row, "retries")) + 1;
        if (factor < 0s) {
            EXPECT_TRUE(is_refused([&] { return profiles::celery(factor, maximum); }));
            EXPECT_TRUE(is_refused([&] { return profiles::celery_4_2(factor, maximum); }));
            EXPECT_EQ(row.at("no_jitter"), "0");
            ++negative;
            continue;
        }
        auto const old_form = profiles::celery_4_2(factor, maximum);
        auto const without_jitter = old_form.jitter(no_jitter().cap(maximum));
        auto const [least, greatest] = range_of(old_form, failures);
        EXPECT_EQ(in_seconds(delay_at(without_jitter, failures, 0)), whole(row, "no_jitter"));
        EXPECT_EQ(in_seconds(std::min<duration>(maximum, least)), whole(row, "old_jit_min"));
        EXPECT_EQ(std::min<std::int64_t>(maximum.count(), in_seconds(greatest) / 2), whole(row, "old_jit_mid"));
        EXPECT_EQ(in_seconds(std::min<duration>(maximum, greatest)), whole(row, "old_jit_max"));
        EXPECT_EQ(in_seconds(delay_at(old_form, failures, 0)), whole(row, "old_jit_min"));
        EXPECT_EQ(in_seconds(delay_at(old_form, failures, 1 - 0x1p-53)), whole(row, "old_jit_max"));
        auto const new_form = profiles::celery(factor, maximum);
        auto const capped = range_of(new_form, failures);
        EXPECT_EQ(in_seconds(delay_at(new_form.jitter(no_jitter()), failures, 0)), whole(row, "no_jitter"));
        EXPECT_EQ(in_seconds(capped.least), whole(row, "new_jit_min"));
        EXPECT_EQ(in_seconds(capped.greatest) / 2, whole(row, "new_jit_mid"));
        EXPECT_EQ(in_seconds(capped.greatest), whole(row, "new_jit_max"));
        ++compared;
    }
    EXPECT_EQ(negative, 20u);
    EXPECT_EQ(compared, 40u);
}

// After the 11th failure c is 1024 s: the older form is at its maximum of 600 s in 425 of 1025 draws.
TEST(scheme_C1, jitter_before_the_cap_piles_up_at_the_maximum) {
    constexpr int draws = 100'000;
    double const p = 425. / 1025;
    EXPECT_NEAR(part_at(profiles::celery_4_2(), 11, 600s, draws), p, six_sigma(p, draws));
    double const one_of_601 = 1. / 601;
    EXPECT_NEAR(part_at(profiles::celery(), 11, 600s, draws), one_of_601, six_sigma(one_of_601, draws));
}

TEST(scheme_C2, whole_seconds_are_equally_likely) {
    EXPECT_TRUE(equally_likely(draws_of(profiles::celery(), 4, 9, 90'000)));
    EXPECT_TRUE(equally_likely(draws_of(profiles::celery(), 20, 601, 100'000)));
}

TEST(scheme_C3, three_retries_are_four_runs_and_the_last_error_comes_back_as_it_was) {
    for (retry_policy const& policy : {profiles::celery(), profiles::celery_4_2(), profiles::celery_fixed()}) {
        played const result = play(policy, always);
        EXPECT_EQ(result.attempts, 4u);
        EXPECT_EQ(result.waits.size(), 3u);
        EXPECT_EQ(result.reason, stop_reason::attempts);
        EXPECT_EQ(result.replacement, error_code());
    }
}

TEST(scheme_C3, backoff_off_is_a_fixed_delay_of_180_seconds) {
    EXPECT_THAT(play(profiles::celery_fixed(), always).waits, Each(duration(180s)));
}

TEST(scheme_C3, options_are_arguments) {
    EXPECT_EQ(play(profiles::celery(1s, 600s, 0), always).attempts, 1u) << "max_retries";
    EXPECT_EQ(range_of(profiles::celery(5s), 3).greatest, 20s) << "retry_backoff";
    EXPECT_EQ(range_of(profiles::celery(5s, 15s), 3).greatest, 15s) << "retry_backoff_max";
    EXPECT_EQ(play(profiles::celery().jitter(no_jitter()), always).waits, (std::vector<duration>{1s, 2s, 4s}))
        << "retry_jitter";
    EXPECT_EQ(play(profiles::celery_fixed(300s, 1), always).waits, std::vector<duration>{300s})
        << "default_retry_delay, countdown";
    EXPECT_THROW((void)profiles::celery(1s, 600s, -1), std::invalid_argument);
}

} // namespace
} // namespace asio_retry::test
