// A batch of stations with truncated binary backoff needs what is known of it.
#include "ethernet_study.hpp"

#include "seeds.hpp"

#include <cmath>

namespace asio_retry::lab {
namespace {

TEST(ethernet_study, a_batch_needs_n_log_n_slots_and_log_n_attempts) {
    with_three_seeds([](std::uint64_t seed) {
        for (unsigned power = 6; power <= 12; ++power) {
            unsigned const n = 1u << power;
            ethernet_result const found = study_ethernet(n, ethernet_trials(n), seed);
            double const slots = found.slots.mean() / (double(n) * power);
            EXPECT_GE(slots, 1.4) << n;
            EXPECT_LE(slots, 1.9) << n;
            EXPECT_NEAR(found.attempts_per_station.mean(), power + 1.95, 0.1) << n;
        }
    });
}

TEST(ethernet_study, who_is_alone_sends_at_once) {
    ethernet_result const found = study_ethernet(1, 3, 1);
    EXPECT_EQ(found.slots.mean(), 1);
    EXPECT_EQ(found.attempts_per_station.mean(), 1);
}

} // namespace
} // namespace asio_retry::lab
