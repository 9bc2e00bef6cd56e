// What one budget for thousands of processes lets through, and what budgets of their own do.
#include "fleet_study.hpp"

#include "seeds.hpp"

namespace asio_retry::lab {
namespace {

using kind = fleet_setting::kind;

TEST(fleet_study, one_budget_holds_the_load_of_an_outage_and_asks_little_in_health) {
    with_three_seeds([](std::uint64_t seed) {
        fleet_result const found = study_fleet({7000, 0.1, kind::shared}, seed);
        EXPECT_LE(found.first_load(), 1.25);
        EXPECT_LE(found.last_load(), 1.08);
        EXPECT_LE(found.questions_in_health(), 0.015);
        EXPECT_GE(found.granted_in_health(), 0.95);
    });
}

TEST(fleet_study, decision_28_ten_tokens_each_triple_the_load) {
    with_three_seeds([](std::uint64_t seed) {
        EXPECT_GE(study_fleet({7000, 0.1, kind::own_tokens}, seed).first_load(), 2.5);
    });
}

// What they keep is most of what they have.
TEST(fleet_study, decision_31_budgets_of_their_own_let_through_more_at_first) {
    with_three_seeds([](std::uint64_t seed) {
        EXPECT_GE(study_fleet({7000, 0.1, kind::own_budget}, seed).first_load(), 1.4);
    });
}

TEST(fleet_study, a_store_that_goes_down_with_the_peer_makes_it_no_worse) {
    with_three_seeds([](std::uint64_t seed) {
        fleet_result const found = study_fleet({7000, 0.1, kind::shared_killed}, seed);
        EXPECT_LE(found.first_load(), 1.08);
        EXPECT_LE(found.last_load(), 1.08);
    });
}

} // namespace
} // namespace asio_retry::lab
