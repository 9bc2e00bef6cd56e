// What a throttle sends to a server that refuses, and when it trusts it again.
#include "throttle_study.hpp"

#include "seeds.hpp"

#include <chrono>
#include <cmath>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

TEST(throttle_study, sends_about_twice_what_is_accepted) {
    with_three_seeds([](std::uint64_t seed) {
        double const found = study_throttle_overload({}, seed);
        EXPECT_LE(found, 2.1);
        EXPECT_GE(found, 1.9);
    });
}

TEST(throttle_study, trusts_a_server_again_soon_after_an_outage) {
    with_three_seeds([](std::uint64_t seed) {
        throttle_outage const found = study_throttle_outage({}, seed);
        EXPECT_LE(found.back_after(), 45);
        EXPECT_NEAR(found.sent_in_outage(), 0.1, 0.005) << "and sends a dead one a tenth";
    });
}

TEST(throttle_study, a_window_of_two_minutes_takes_minutes) {
    with_three_seeds([](std::uint64_t seed) {
        EXPECT_GT(study_throttle_outage({.window = 120s, .max_rejection = 0.9}, seed).back_after(), 150);
    });
}

TEST(throttle_study, who_refuses_nearly_all_learns_nothing) {
    double const back = study_throttle_outage({.window = 120s, .max_rejection = 0.999}, 1).back_after();
    EXPECT_TRUE(std::isnan(back)) << back;
}

} // namespace
} // namespace asio_retry::lab
