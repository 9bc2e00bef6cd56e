// What an endpoint_set makes of servers in trouble, and servers that are asked in turn do not.
#include "endpoints_study.hpp"

#include "seeds.hpp"
#include "tool/sample.hpp"

namespace asio_retry::lab {
namespace {

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

} // namespace
} // namespace asio_retry::lab
