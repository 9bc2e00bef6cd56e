// Whether an overload ends with its cause: with budgets it does, and backoff with jitter does not end it.
#include "metastable_study.hpp"

#include "seeds.hpp"

#include <cmath>

namespace asio_retry::lab {
namespace {

TEST(metastable_study, decision_31_with_the_default_budget_it_ends_however_many_clients_there_are) {
    with_three_seeds([](std::uint64_t seed) {
        for (unsigned const clients : {1u, 7u, 70u, 700u}) {
            metastable_result const found = study_metastable({clients, default_budget}, seed);
            EXPECT_LE(found.back_after(), 30) << clients;
            EXPECT_LE(found.load(), 1.06) << clients;
        }
    });
}

TEST(metastable_study, decision_31_clients_of_a_request_in_ten_seconds_are_the_limit_of_budgets_of_their_own) {
    with_three_seeds([](std::uint64_t seed) {
        metastable_result const found = study_metastable({7000, default_budget}, seed);
        EXPECT_LE(found.back_after(), 45);
        EXPECT_GE(found.load(), 1.1) << "what they keep is most of what they have";
    });
}

void expect_no_end(metastable_result const& found) {
    EXPECT_TRUE(std::isnan(found.back_after()));
    EXPECT_LT(found.goodput_afterwards(), 0.05);
}

TEST(metastable_study, decision_31_without_a_budget_it_never_ends_with_or_without_jitter) {
    with_three_seeds([](std::uint64_t seed) {
        for (bool const jitter : {true, false}) {
            metastable_result const found = study_metastable({700, no_gate, jitter}, seed);
            expect_no_end(found);
            EXPECT_GE(found.load(), 4);
        }
    });
}

TEST(metastable_study, decision_31_a_bucket_of_a_fixed_size_in_each_of_many_clients_does_not_end_it) {
    with_three_seeds([](std::uint64_t seed) { expect_no_end(study_metastable({700, hundred_tokens}, seed)); });
}

TEST(metastable_study, without_retries_the_server_works_off_what_has_come) {
    metastable_result const found = study_metastable({1, no_gate, true, 1}, 1);
    EXPECT_GE(found.back_after(), 12)
        << "500 in each of ten seconds, at 300 in a second, but for the last 1000";
    EXPECT_LE(found.back_after(), 16);
    EXPECT_EQ(found.load(), 1);
}

} // namespace
} // namespace asio_retry::lab
