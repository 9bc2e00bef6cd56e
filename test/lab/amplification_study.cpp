// What layers of services make of a failure that no retry mends.
#include "amplification_study.hpp"

#include "seeds.hpp"

namespace asio_retry::lab {
namespace {

double load_of(unsigned layers, unsigned attempts, gate_kind const& gate, std::uint64_t seed) {
    return study_amplification({layers, attempts, gate}, seed).back();
}

TEST(amplification_study, decision_32_layers_without_a_budget_multiply) {
    with_three_seeds([](std::uint64_t seed) {
        EXPECT_EQ(load_of(3, 4, no_gate, seed), 64);
        EXPECT_EQ(load_of(5, 3, no_gate, seed), 243);
    });
}

TEST(amplification_study, decision_32_a_budget_in_each_layer_adds_a_few_retries_in_all) {
    with_three_seeds([](std::uint64_t seed) {
        EXPECT_LE(load_of(3, 4, default_budget, seed), 1.05);
        EXPECT_LE(load_of(5, 3, default_budget, seed), 1.05);
    });
}

TEST(amplification_study, decision_32_budgets_that_earn_by_request_multiply_too) {
    with_three_seeds([](std::uint64_t seed) {
        EXPECT_LE(load_of(3, 4, budget_by_request, seed), 1.40);
        EXPECT_LE(load_of(5, 3, budget_by_request, seed), 1.70);
        EXPECT_GE(load_of(3, 4, budget_by_request, seed), 1.25);
    });
}

TEST(amplification_study, each_layer_makes_its_attempts_for_each_of_the_one_above) {
    std::vector<double> const expected{3, 9, 27};
    EXPECT_EQ(study_amplification({3, 3, no_gate}, 1), expected);
}

} // namespace
} // namespace asio_retry::lab
