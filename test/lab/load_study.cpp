// What retries add to the load of a peer, and to the success of a client, when attempts fail at random.
#include "load_study.hpp"

#include "seeds.hpp"

namespace asio_retry::lab {
namespace {

TEST(load_study, decision_28_the_default_budget_adds_nothing_to_a_dead_peer) {
    with_three_seeds([](std::uint64_t seed) { EXPECT_LE(study_load(1, default_budget, seed).load, 1.01); });
}

TEST(load_study, without_a_budget_a_dead_peer_gets_every_attempt) {
    with_three_seeds([](std::uint64_t seed) { EXPECT_EQ(study_load(1, no_gate, seed).load, 4); });
}

TEST(load_study, decision_28_the_default_budget_loses_little_where_retries_work) {
    with_three_seeds([](std::uint64_t seed) {
        EXPECT_GE(study_load(0.1, default_budget, seed).success, 0.98);
        EXPECT_GE(study_load(0.05, default_budget, seed).success, 0.999);
    });
}

TEST(load_study, decision_28_the_default_budget_never_adds_more_than_a_tenth) {
    for (int percent = 0; percent <= 100; percent += 10)
        EXPECT_LE(study_load(percent / 100.0, default_budget, 1).load, 1.1) << percent;
}

} // namespace
} // namespace asio_retry::lab
