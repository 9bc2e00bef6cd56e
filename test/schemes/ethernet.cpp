#include "schemes/scheme.hpp"

#include <asio_retry/profiles.hpp>

namespace asio_retry::test {
namespace {

// A table of slots, and of microseconds with one or two digits: all exact.
TEST(scheme_C4_C5, every_published_row) {
    retry_policy const policy = profiles::ethernet();
    constexpr duration slot = 51'200ns;
    std::int64_t sum_of_greatest = 0;
    double sum_of_means = 0;
    std::size_t compared = 0;
    for (csv_row const& row : read_csv("ethernet_beb_table.csv")) {
        auto const [least, greatest] = range_of(policy, static_cast<std::uint64_t>(whole(row, "collision_no")));
        std::int64_t const r = greatest / slot;
        double const mean = static_cast<double>(least / slot + r) / 2;
        EXPECT_EQ(greatest % slot, 0ns);
        EXPECT_EQ(least / slot, whole(row, "r_min"));
        EXPECT_EQ(r, whole(row, "r_max"));
        EXPECT_EQ(r + 1, std::int64_t(1) << whole(row, "k"));
        EXPECT_EQ(mean, number(row, "mean_slots"));
        EXPECT_EQ(static_cast<double>(r * (r + 2)) / 12, number(row, "var_slots"));
        EXPECT_EQ(greatest.count(), std::llround(1000 * number(row, "max_delay_us")));
        EXPECT_EQ(std::llround(mean * 51'200), std::llround(1000 * number(row, "mean_delay_us")));
        EXPECT_EQ(sum_of_greatest += r, whole(row, "cum_max_slots"));
        EXPECT_EQ(sum_of_means += mean, number(row, "cum_mean_slots"));
        ++compared;
    }
    EXPECT_EQ(compared, 16u);
}

TEST(scheme_C4, gives_up_after_16_attempts_and_so_15_waits) {
    played const result = play(profiles::ethernet(), always);
    EXPECT_EQ(result.attempts, 16u);
    EXPECT_EQ(result.waits.size(), 15u);
    EXPECT_EQ(result.reason, stop_reason::attempts);
    for (duration const wait : result.waits)
        EXPECT_EQ(wait % 51'200ns, 0ns) << "whole slots";
}

TEST(scheme_C4, sixteen_retransmissions_are_16_waits) {
    EXPECT_EQ(play(profiles::ethernet(51'200ns, 17), always).waits.size(), 16u);
}

TEST(scheme_C4, the_slot_is_a_parameter) {
    EXPECT_EQ(range_of(profiles::ethernet(5'120ns), 10).greatest, 1023 * 5'120ns);
    EXPECT_THROW((void)profiles::ethernet(0ns), std::invalid_argument);
}

TEST(scheme_C4, every_number_of_slots_is_equally_likely) {
    EXPECT_TRUE(equally_likely(draws_of(profiles::ethernet(), 3, 8, 80'000)));
    EXPECT_TRUE(equally_likely(draws_of(profiles::ethernet(), 12, 1024, 102'400)));
}

// The variance of a mean is that of the law divided by the number of draws.
TEST(scheme_C5, the_mean_number_of_slots_is_half_the_greatest) {
    constexpr int draws = 100'000;
    for (std::uint64_t failures : {1u, 2u, 5u, 10u, 16u}) {
        retry_policy const policy = profiles::ethernet();
        double const outcomes = std::pow(2, std::min<double>(static_cast<double>(failures), 10));
        random source(failures);
        double sum = 0;
        for (int i = 0; i != draws; ++i)
            sum += static_cast<double>(policy.settings().jitter.draw(step_of(policy, failures), source) /
                                       51'200ns);
        EXPECT_NEAR(sum / draws, (outcomes - 1) / 2, 6 * std::sqrt((outcomes * outcomes - 1) / 12 / draws));
    }
}

} // namespace
} // namespace asio_retry::test
