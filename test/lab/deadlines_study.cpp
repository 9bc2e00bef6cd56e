// What services in a row do for callers that have gone.
#include "deadlines_study.hpp"

#include "seeds.hpp"

#include <chrono>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

double share_after_gone(deadlines_result const& result) {
    return result.sum(&deadlines_second::work_after_gone) / result.sum(&deadlines_second::work);
}

double share_that_succeeds(deadlines_result const& result) {
    return result.sum(&deadlines_second::succeeded) / result.sum(&deadlines_second::offered);
}

TEST(deadlines_study, decision_65_with_a_margin_no_service_works_for_a_caller_that_has_gone) {
    with_three_seeds([](std::uint64_t seed) {
        deadlines_result const found = study_deadlines({deadlines_told::to_all, 5ms}, seed);
        EXPECT_EQ(found.sum(&deadlines_second::work_after_gone), 0);
        EXPECT_EQ(found.back_after(), 0);
        EXPECT_GE(share_that_succeeds(found), 0.83);
    });
}

TEST(deadlines_study, decision_65_without_a_margin_the_way_of_the_message_is_too_long) {
    with_three_seeds([](std::uint64_t seed) {
        deadlines_result const found = study_deadlines({deadlines_told::to_all, {}}, seed);
        EXPECT_GE(share_after_gone(found), 0.05);
        EXPECT_LE(share_after_gone(found), 0.09);
        EXPECT_EQ(found.back_after(), 0);
    });
}

TEST(deadlines_study, without_deadlines_the_services_work_on_for_callers_that_have_gone) {
    with_three_seeds([](std::uint64_t seed) {
        deadlines_result const found = study_deadlines({deadlines_told::to_none, {}}, seed);
        EXPECT_GE(found.sum(&deadlines_second::work_after_gone), 20);
        EXPECT_GE(found.back_after(), 12);
        EXPECT_LE(share_that_succeeds(found), 0.65);
    });
}

TEST(deadlines_study, a_deadline_that_is_not_passed_on_changes_little) {
    with_three_seeds([](std::uint64_t seed) {
        deadlines_result const found = study_deadlines({deadlines_told::to_first, 5ms}, seed);
        EXPECT_GE(found.sum(&deadlines_second::work_after_gone), 20);
        EXPECT_GE(found.back_after(), 12);
    });
}

TEST(deadlines_study, work_is_never_more_than_three_services_can_do) {
    with_three_seeds([](std::uint64_t seed) {
        for (deadlines_told const told : {deadlines_told::to_none, deadlines_told::to_all}) {
            deadlines_result const found = study_deadlines({told, 5ms}, seed);
            double const work = found.sum(&deadlines_second::work);
            EXPECT_LE(work, 3 * deadlines_seconds);
            EXPECT_LE(found.useful_work + found.sum(&deadlines_second::work_after_gone), work);
            EXPECT_GT(found.useful_work, 0);
        }
    });
}

} // namespace
} // namespace asio_retry::lab
