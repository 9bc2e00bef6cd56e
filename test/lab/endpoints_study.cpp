// What an endpoint_set makes of servers in trouble, and servers that are asked in turn do not.
#include "endpoints_study.hpp"

#include "seeds.hpp"
#include "tool/sample.hpp"

#include <chrono>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

double p99(endpoints_result const& result) {
    return tool::quantile(result.ms, 0.99);
}

TEST(endpoints_study, a_server_that_hangs_costs_probes) {
    with_three_seeds([](std::uint64_t seed) {
        endpoints_result const in_turn = study_endpoints(trouble::one_hangs, false, seed),
                               chosen = study_endpoints(trouble::one_hangs, true, seed);
        EXPECT_NEAR(in_turn.in_trouble, 0.125, 0.01) << "the control";
        EXPECT_LE(chosen.in_trouble, 0.001);
        EXPECT_GE(p99(in_turn), 100);
        EXPECT_LE(p99(chosen), 10);
        EXPECT_EQ(chosen.failed, 0);
    });
}

TEST(endpoints_study, a_slow_server_is_ejected) {
    with_three_seeds([](std::uint64_t seed) {
        endpoints_result const in_turn = study_endpoints(trouble::one_is_slow, false, seed),
                               chosen = study_endpoints(trouble::one_is_slow, true, seed);
        EXPECT_NEAR(in_turn.in_trouble, 0.125, 0.01) << "the control";
        EXPECT_LE(chosen.in_trouble, 0.02);
        EXPECT_LE(p99(chosen), p99(in_turn) / 2);
    });
}

TEST(endpoints_study, the_half_that_lives_takes_all) {
    with_three_seeds([](std::uint64_t seed) {
        endpoints_result const in_turn = study_endpoints(trouble::half_hang, false, seed),
                               chosen = study_endpoints(trouble::half_hang, true, seed);
        EXPECT_GE(in_turn.failed, 50) << "the control";
        EXPECT_EQ(chosen.failed, 0);
        EXPECT_LE(chosen.in_trouble, 0.005);
    });
}

TEST(endpoints_study, servers_that_are_all_slow_share_the_load_as_before) {
    with_three_seeds([](std::uint64_t seed) {
        endpoints_result const in_turn = study_endpoints(trouble::all_are_slow, false, seed),
                               chosen = study_endpoints(trouble::all_are_slow, true, seed);
        EXPECT_EQ(chosen.failed, 0);
        EXPECT_LE(p99(chosen), 1.05 * p99(in_turn));
    });
}

/// It is asked once every five seconds, and by what has begun before the answer.
TEST(endpoints_study, decision_79_one_that_wants_rest_rests_and_nobody_waits) {
    with_three_seeds([](std::uint64_t seed) {
        endpoints_result const in_turn = study_endpoints(trouble::one_wants_rest, false, seed),
                               chosen = study_endpoints(trouble::one_wants_rest, true, seed);
        EXPECT_GE(p99(in_turn), 5000) << "the control";
        EXPECT_LE(p99(chosen), 10);
        EXPECT_LE(chosen.in_trouble, 0.001);
        EXPECT_EQ(chosen.failed, 0);
    });
}

TEST(endpoints_study, decision_80_one_that_refuses_at_once_gets_a_sixteenth_of_its_share) {
    with_three_seeds([](std::uint64_t seed) {
        endpoints_result const in_turn = study_endpoints(trouble::one_refuses, false, seed),
                               chosen = study_endpoints(trouble::one_refuses, true, seed);
        EXPECT_NEAR(in_turn.in_trouble, 0.125, 0.02) << "the control";
        EXPECT_LE(chosen.in_trouble, 0.125 / 16 + 0.002);
        EXPECT_GE(chosen.in_trouble, 0.125 / 16 / 2) << "nobody would hear that it is well again";
        EXPECT_EQ(chosen.failed, 0);
    });
}

TEST(endpoints_study, decision_81_one_that_flaps_costs_no_more_than_one_that_stays) {
    with_three_seeds([](std::uint64_t seed) {
        endpoints_result const stays = study_endpoints(trouble::one_hangs, true, seed),
                               forgotten = study_endpoints(trouble::one_flaps, true, seed, 0s),
                               known = study_endpoints(trouble::one_flaps, true, seed);
        EXPECT_GE(forgotten.in_trouble, 0.002) << "the control: it begins anew each time";
        EXPECT_LE(known.in_trouble, stays.in_trouble + 0.001);
        EXPECT_EQ(known.failed, 0);
    });
}

} // namespace
} // namespace asio_retry::lab
