#include <asio_retry/traffic/window_budget.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"
#include "support/recording_gate.hpp"
#include "support/refuses.hpp"
#include "support/traces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

TEST(golden, decision_28_window_budget_is_that_of_finagle) {
    play_traces<window_budget>(
        "finagle_budget_traces.csv", 1506,
        [](csv_row const& row) {
            return window_budget_options{.ratio = std::stod(row.at("ratio")),
                                         .ttl = std::chrono::seconds(std::stoi(row.at("ttl_s"))),
                                         .min_per_second =
                                             static_cast<std::uint32_t>(std::stoul(row.at("min_per_second")))};
        },
        [](window_budget& budget, csv_row const& row) {
            time_point const now = noon + std::chrono::milliseconds(std::stoll(row.at("time_ms")));
            if (row.at("event") == "deposit") {
                EXPECT_EQ(budget.admit(1, now).until, now);
            } else if (row.at("event") == "withdraw") {
                EXPECT_EQ(grants_retry(budget, now), row.at("granted") == "true");
            }
            EXPECT_EQ(budget.balance(now), std::stoll(row.at("balance")));
        });
}

TEST(window_budget, has_a_floor_and_a_fifth_of_the_requests) {
    window_budget budget;
    EXPECT_TRUE(budget.measures_time());
    EXPECT_EQ(budget.balance(noon), 100);
    for (int i = 0; i < 50; ++i)
        (void)budget.admit(1, noon);
    EXPECT_EQ(budget.balance(noon), 110);
    for (int i = 0; i < 110; ++i)
        EXPECT_TRUE(grants_retry(budget, noon));
    EXPECT_FALSE(grants_retry(budget, noon));
}

// Finagle's whole numbers would grant 4504 for a ratio of 1.5, and 1000 a request above a ratio of 500.
TEST(window_budget, decision_84_is_exact_above_one_retry_per_request) {
    for (auto const& [ratio, expected] : std::vector<std::pair<double, std::int64_t>>{
             {1.5, 4500}, {3, 9000}, {1.001, 3003}, {7.25, 21'750}, {600, 1'800'000}, {1000, 3'000'000}}) {
        window_budget budget({.ratio = ratio, .ttl = 10s, .min_per_second = 0});
        for (int i = 0; i < 3000; ++i)
            (void)budget.admit(1, noon);
        EXPECT_EQ(budget.balance(noon), expected) << ratio;
        EXPECT_TRUE(grants_retry(budget, noon));
        EXPECT_EQ(budget.balance(noon), expected - 1) << ratio;
        budget.give_back(failure_kind::transient);
        EXPECT_EQ(budget.balance(noon), expected) << ratio;
        EXPECT_EQ(budget.balance(noon + 20s), 0) << ratio;
    }
    window_budget floor({.ratio = 2.5, .ttl = 10s, .min_per_second = 10});
    EXPECT_EQ(floor.balance(noon), 100);
}

// A retry costs trunc(1000 / 0.3) = 3333, and a request earns 1000.
TEST(window_budget, rounds_what_a_retry_costs_down) {
    window_budget budget({.ratio = 0.3, .ttl = 10s, .min_per_second = 0});
    for (int i = 0; i < 10; ++i)
        (void)budget.admit(1, noon);
    EXPECT_EQ(budget.balance(noon), 3);
}

TEST(window_budget, forgets_after_its_ttl) {
    window_budget budget({.ratio = 1, .ttl = 10s, .min_per_second = 0});
    (void)budget.admit(1, noon);
    EXPECT_EQ(budget.balance(noon + 9999ms), 1);
    EXPECT_EQ(budget.balance(noon + 20s), 0);
    (void)budget.admit(1, noon + 20s);
    EXPECT_EQ(budget.balance(noon + 10h), 0);
    EXPECT_EQ(budget.balance(noon - 10h), 0) << "time that runs backwards stands still";
}

TEST(window_budget, decision_26_gives_back_and_charges_no_first_attempt) {
    window_budget budget({.ratio = 1, .ttl = 10s, .min_per_second = 0});
    EXPECT_EQ(budget.admit(1, noon).until, noon) << "although nothing is there";
    EXPECT_TRUE(grants_retry(budget, noon));
    EXPECT_EQ(budget.admit(2, noon).until, noon);
    EXPECT_EQ(budget.balance(noon), 0) << "a retry earns nothing";
    budget.give_back(failure_kind::transient);
    EXPECT_EQ(budget.balance(noon), 1);
}

TEST(window_budget, gives_back_nothing_that_counts_no_more) {
    for (int const cancelled : {0, 50, 100}) { // of as many retries as the floor allows
        window_budget budget({.ratio = 0});
        for (int i = 0; i != 100; ++i)
            EXPECT_TRUE(grants_retry(budget, noon));
        for (int second = 1; second != 10; ++second)
            EXPECT_EQ(budget.balance(noon + second * 1s), 0);
        for (int i = 0; i != cancelled; ++i)
            budget.give_back(failure_kind::transient);
        EXPECT_EQ(budget.balance(noon + 9500ms), cancelled);
        EXPECT_EQ(budget.balance(noon + 10s), 100);
        budget.give_back(failure_kind::transient);
        EXPECT_EQ(budget.balance(noon + 10s), 100);
    }
}

TEST(window_budget, gives_back_the_oldest_retry) {
    window_budget budget({.ratio = 0, .min_per_second = 1});
    for (int second = 0; second != 10; ++second)
        EXPECT_TRUE(grants_retry(budget, noon + second * 1s));
    budget.give_back(failure_kind::transient);
    EXPECT_EQ(budget.balance(noon + 9s), 1);
    EXPECT_EQ(budget.balance(noon + 10s), 1);
    EXPECT_EQ(budget.balance(noon + 11s), 2);
}

TEST(window_budget, counts_for_up_to_twice_its_ttl_what_is_looked_at_seldom) {
    window_budget budget({.ratio = 1, .ttl = 10s, .min_per_second = 0});
    (void)budget.admit(1, noon);
    for (duration t = 1999ms; t < 19s; t += 1999ms)
        EXPECT_EQ(budget.balance(noon + t), t < 18s ? 1 : 0) << t.count();
}

TEST(window_budget, counts_a_request_once_if_it_is_asked_after_a_gate_that_refuses) {
    for (bool const is_asked_last : {false, true}) {
        auto const budget = std::make_shared<window_budget>();
        auto const refusing = std::make_shared<recording_gate>();
        refusing->refusals.assign(9, 1s);
        auto const both = is_asked_last ? all_gates({refusing, budget}) : all_gates({budget, refusing});
        for (int i = 0; i != 10; ++i)
            (void)both->admit(1, noon);
        EXPECT_EQ(budget->balance(noon), is_asked_last ? 100 : 102);
    }
}

TEST(window_budget, holds_what_cannot_be_counted) {
    constexpr auto greatest = std::numeric_limits<std::uint32_t>::max();
    window_budget budget({.ratio = 1e-300, .ttl = 60s, .min_per_second = greatest});
    EXPECT_GT(budget.balance(noon), 1'000'000'000);
    EXPECT_TRUE(grants_retry(budget, noon));
}

TEST(window_budget, decision_04_refuses_nonsense) {
    EXPECT_THAT(calling([] { window_budget({.ratio = -1}); }),
                refuses_option("window_budget.ratio", "-1", "must be in [0, 1000]"));
    EXPECT_THAT(calling([] { window_budget({.ratio = 1001}); }),
                refuses_option("window_budget.ratio", "1001", "must be in [0, 1000]"));
    EXPECT_THAT(calling([] { window_budget({.ratio = std::numeric_limits<double>::quiet_NaN()}); }),
                refuses_option("window_budget.ratio", "nan", "must be in [0, 1000]"));
    EXPECT_THAT(calling([] { window_budget({.ttl = 0s}); }),
                refuses_option("window_budget.ttl", "0s", "must be from 1s to 60s"));
    EXPECT_THAT(calling([] { window_budget({.ttl = 61s}); }),
                refuses_option("window_budget.ttl", "61s", "must be from 1s to 60s"));
    EXPECT_THAT(calling([] { window_budget({.ttl = std::chrono::seconds::max()}); }),
                refuses_option("window_budget.ttl", "9223372036854775807s", "must be from 1s to 60s"));
}

} // namespace
} // namespace asio_retry::test
