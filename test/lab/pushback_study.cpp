// Clients that are told at one moment when to come back.
#include "pushback_study.hpp"

#include "seeds.hpp"

namespace asio_retry::lab {
namespace {

TEST(pushback_study, decision_29_spread_and_backoff_serve_all_soon) {
    with_three_seeds([](std::uint64_t seed) {
        pushback_result const found = study_pushback(default_pushback(), seed);
        EXPECT_LE(found.attempts_per_client, 5);
        EXPECT_LE(found.peak_share, 0.03);
        EXPECT_LE(found.served_after, 52);
    });
}

TEST(pushback_study, decision_29_who_comes_back_to_the_letter_comes_back_with_all_others) {
    with_three_seeds([](std::uint64_t seed) {
        pushback_result const found = study_pushback(pushback_to_the_letter(), seed);
        EXPECT_GE(found.attempts_per_client, 40);
        EXPECT_EQ(found.peak_share, 1);
    });
}

} // namespace
} // namespace asio_retry::lab
