// Clients that fail together: how close together they come back.
#include "stampede_study.hpp"

#include "seeds.hpp"

namespace asio_retry::lab {
namespace {

TEST(stampede_study, full_jitter_spreads_clients_that_failed_together) {
    with_three_seeds(
        [](std::uint64_t seed) { EXPECT_LE(study_stampede(full_jitter(), seed).peak_share(), 0.03); });
}

TEST(stampede_study, a_fifth_more_or_less_spreads_them_less) {
    with_three_seeds([](std::uint64_t seed) {
        double const peak = study_stampede(proportional_jitter(0.2), seed).peak_share();
        EXPECT_LE(peak, 0.10);
        EXPECT_GT(peak, 0.03);
    });
}

TEST(stampede_study, without_jitter_all_come_at_once) {
    with_three_seeds([](std::uint64_t seed) { EXPECT_EQ(study_stampede(no_jitter(), seed).peak_share(), 1); });
}

} // namespace
} // namespace asio_retry::lab
