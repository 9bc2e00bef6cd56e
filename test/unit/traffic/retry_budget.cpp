#include <asio_retry/traffic/retry_budget.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"
#include "support/traces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

void succeed(retry_gate& gate, int times) {
    for (int i = 0; i < times; ++i)
        gate.on_end(success());
}

// A reference in Python: floating point, one thread.
TEST(golden, decision_28_retry_budget_is_its_reference) {
    play_traces<retry_budget>(
        "retry_budget_traces.csv", 605,
        [](csv_row const& row) {
            return retry_budget_options{.ratio = std::stod(row.at("ratio")),
                                        .window = std::chrono::seconds(std::stoi(row.at("window_s"))),
                                        .keep = std::stod(row.at("keep")),
                                        .initial = std::stod(row.at("initial"))};
        },
        [](retry_budget& budget, csv_row const& row) {
            time_point const now(duration(std::stoll(row.at("time_ns"))));
            if (row.at("event") == "success") {
                succeed(budget, std::stoi(row.at("count")));
                return;
            }
            if (row.at("event") == "acquire") {
                EXPECT_EQ(grants_retry(budget, now), row.at("granted") == "true");
            }
            EXPECT_NEAR(budget.balance(now), std::stod(row.at("balance")), 1e-7);
        });
}

TEST(retry_budget, decision_26_charges_no_first_attempt) {
    retry_budget budget({.initial = 0});
    EXPECT_EQ(budget.admit(1, noon).until, noon);
    EXPECT_EQ(budget.balance(noon), 0);
    EXPECT_FALSE(budget.measures_time()) << "a success needs no clock";
}

// Ten successes earn a retry; a client that has just begun has one.
TEST(retry_budget, earns_a_tenth_of_what_succeeds) {
    retry_budget budget;
    EXPECT_EQ(budget.balance(noon), 1);
    EXPECT_TRUE(grants_retry(budget, noon));
    EXPECT_FALSE(grants_retry(budget, noon));
    succeed(budget, 9);
    EXPECT_FALSE(grants_retry(budget, noon));
    succeed(budget, 1);
    EXPECT_TRUE(grants_retry(budget, noon));
    EXPECT_FALSE(grants_retry(budget, noon));
}

// A tenth is no binary fraction, and still ten of them are one, however many are added at once.
TEST(retry_budget, decimal_ratios_add_up_exactly) {
    for (double const ratio : {0.1, 0.2, 0.3, 0.6, 0.7, 0.9, 0.01, 0.001})
        for (int const at_once : {1, 3, 7}) {
            retry_budget budget({.ratio = ratio, .keep = 1e4, .initial = 0});
            for (int i = 0; i < 1000; ++i) {
                succeed(budget, at_once);
                (void)budget.balance(noon);
            }
            int granted = 0;
            while (granted < 10'000 && grants_retry(budget, noon))
                ++granted;
            EXPECT_EQ(granted, std::lround(1000 * at_once * ratio)) << ratio << " for " << at_once;
        }
}

TEST(retry_budget, what_fails_or_is_abandoned_earns_nothing) {
    retry_budget budget({.initial = 0});
    for (auto const kind : {failure_kind::permanent, failure_kind::transient, failure_kind::timeout,
                            failure_kind::throttled, failure_kind::overloaded})
        for (int i = 0; i < 20; ++i)
            budget.on_end(failure(kind));
    for (int i = 0; i < 20; ++i)
        budget.on_end(abandoned());
    EXPECT_EQ(budget.balance(noon), 0);
}

TEST(retry_budget, what_is_above_keep_fades_and_the_rest_stays) {
    retry_budget budget({.window = 10s, .keep = 2, .initial = 12});
    EXPECT_EQ(budget.balance(noon), 12) << "time begins with the first look";
    EXPECT_NEAR(budget.balance(noon + 10s), 2 + 10 / std::exp(1), 1e-8);
    EXPECT_NEAR(budget.balance(noon + 30s), 2 + 10 / std::exp(3), 1e-8);
    EXPECT_EQ(budget.balance(noon + 24h), 2);
    EXPECT_EQ(budget.balance(time_point::max()), 2);
}

// However often it is looked at: what fades in between is not lost in rounding.
TEST(retry_budget, fades_although_it_is_looked_at_all_the_time) {
    retry_budget budget({.window = 1h, .keep = 0, .initial = 3});
    time_point now = noon;
    for (int i = 0; i < 1'000'000; ++i)
        (void)budget.balance(now += 100us);
    EXPECT_NEAR(budget.balance(now), 3 * std::exp(-100.0 / 3600), 2e-3);
    EXPECT_LE(budget.balance(now), 3 * std::exp(-100.0 / 3600)) << "rounded down: never a retry more";
}

TEST(retry_budget, time_that_runs_backwards_stands_still) {
    retry_budget budget({.keep = 0, .initial = 5});
    double const before = budget.balance(noon);
    EXPECT_EQ(budget.balance(noon - 1h), before);
    EXPECT_EQ(budget.balance(noon), before);
    EXPECT_LT(budget.balance(noon + 1s), before);
}

// The bound that makes it safe: what a dead peer gets from a fleet is what the fleet's own traffic has earned.
TEST(retry_budget, spends_at_most_what_ten_seconds_of_traffic_earned) {
    retry_budget budget;
    time_point now = noon;
    for (int i = 0; i < 100'000; ++i, now += 1ms) {
        succeed(budget, 1);
        if (i % 100 == 0)
            (void)budget.balance(now);
    }
    int granted = 0;
    while (granted < 10'000 && grants_retry(budget, now))
        ++granted;
    EXPECT_NEAR(granted, 1000, 5) << "1000 requests/s * 0.1 * 10 s";
}

// Nobody knows in how long it was earned: perhaps in weeks, and a fleet's burst would be what those earned.
// 1 + ratio * window / outage + keep * clients / requests times the load, and hardly less.
TEST(decision_31, a_retry_budget_bounds_what_an_outage_adds) {
    for (duration const outage : {duration(500ms), duration(1s), duration(3s), duration(10s), duration(40s)}) {
        retry_budget budget;
        time_point now = noon;
        for (int i = 0; i != 6000; ++i, now += 10ms) {
            succeed(budget, 1);
            (void)budget.balance(now);
        }
        int requests = 0, retries = 0;
        for (time_point const end = now + outage; now < end; now += 10ms, ++requests)
            for (int i = 0; i != 4; ++i)
                retries += grants_retry(budget, now);
        double const seconds = std::chrono::duration<double>(outage).count();
        double const added = 0.1 * 10 / seconds + 1.0 / requests;
        EXPECT_LE(retries, added * requests) << seconds;
        EXPECT_GE(retries, 0.9 * added * requests) << seconds;
    }
}

TEST(retry_budget, decision_31_a_budget_that_was_never_asked_pays_for_no_burst) {
    for (double const initial : {0, 1, 5}) {
        retry_budget budget({.keep = 2, .initial = initial});
        succeed(budget, 1'000'000);
        EXPECT_EQ(budget.balance(noon), std::max(initial, 2.0));
        succeed(budget, 1000);
        EXPECT_NEAR(budget.balance(noon + 1s), std::max(initial, 2.0) + 100, 10) << "and earns from then on";
    }
    retry_budget few({.keep = 2, .initial = 0});
    succeed(few, 15);
    EXPECT_EQ(few.balance(noon), 1.5);
}

TEST(retry_budget, decision_26_what_is_given_back_can_be_spent_again) {
    retry_budget budget({.initial = 3});
    EXPECT_TRUE(grants_retry(budget, noon));
    budget.give_back(failure_kind::transient);
    EXPECT_EQ(budget.balance(noon), 3);
}

TEST(retry_budget, grants_one_more_per_interval_where_too_little_is_left) {
    retry_budget budget({.initial = 2, .per_second = 4});
    EXPECT_TRUE(grants_retry(budget, noon));
    EXPECT_TRUE(grants_retry(budget, noon));
    EXPECT_TRUE(grants_retry(budget, noon)) << "the first of these";
    EXPECT_FALSE(grants_retry(budget, noon + 249ms));
    EXPECT_TRUE(grants_retry(budget, noon + 250ms));
    EXPECT_FALSE(grants_retry(budget, noon + 250ms));
    EXPECT_TRUE(grants_retry(budget, noon + 10s)) << "but what was not used is not saved up";
    EXPECT_FALSE(grants_retry(budget, noon + 10s));
    EXPECT_EQ(budget.balance(noon + 10s), 0);
}

// Behind a gate that is closed each retry is given back.
TEST(retry_budget, decision_26_keeps_no_retry_of_the_rate_that_is_given_back) {
    retry_budget budget({.initial = 0, .per_second = 4});
    for (time_point now = noon; now != noon + 100s; now += 250ms) {
        ASSERT_TRUE(grants_retry(budget, now));
        budget.give_back(failure_kind::transient);
        ASSERT_TRUE(grants_retry(budget, now)) << "it may begin at once";
        budget.give_back(failure_kind::transient);
    }
    EXPECT_EQ(budget.balance(noon + 100s), 0);
    EXPECT_TRUE(grants_retry(budget, noon + 100s));
    EXPECT_FALSE(grants_retry(budget, noon + 100s));
    budget.on_end(success_of_retry(2, failure_kind::timeout));
    EXPECT_FALSE(grants_retry(budget, noon + 100s)) << "that one was made";
}

TEST(retry_budget, decision_26_gives_back_balance_after_a_retry_of_the_rate_was_made) {
    retry_budget budget({.ratio = 1, .initial = 0, .per_second = 4});
    EXPECT_TRUE(grants_retry(budget, noon));
    budget.on_end(success_of_retry(2, failure_kind::timeout));
    EXPECT_TRUE(grants_retry(budget, noon)) << "which the success has earned";
    budget.give_back(failure_kind::timeout);
    EXPECT_EQ(budget.balance(noon), 1);
}

TEST(retry_budget, a_rate_may_be_so_small_that_there_is_one) {
    retry_budget budget({.initial = 0, .per_second = 1e-300});
    EXPECT_TRUE(grants_retry(budget, noon));
    EXPECT_FALSE(grants_retry(budget, noon + 24h * 365 * 200));
}

TEST(retry_budget, may_earn_by_request) {
    retry_budget budget({.ratio = 0.5, .initial = 0, .earn_by_request = true});
    budget.on_end(failure(failure_kind::timeout));
    budget.on_end(success());
    EXPECT_EQ(budget.balance(noon), 1);
    budget.on_end(success_of_retry(2, failure_kind::timeout));
    budget.on_end(abandoned());
    EXPECT_EQ(budget.balance(noon), 1);
}

TEST(retry_budget, is_shared_by_all_that_hold_it) {
    auto const budget = std::make_shared<retry_budget>(retry_budget_options{.initial = 2});
    std::shared_ptr<retry_gate> const of_retry = budget, of_reconnecting_client = budget;
    EXPECT_TRUE(of_retry->acquire(failure_kind::transient, noon));
    EXPECT_TRUE(of_reconnecting_client->acquire(failure_kind::timeout, noon));
    EXPECT_FALSE(of_retry->acquire(failure_kind::transient, noon));
}

TEST(retry_budget, holds_what_cannot_be_counted) {
    retry_budget budget({.ratio = 1, .keep = 1e300, .initial = 1e300});
    EXPECT_EQ(budget.balance(noon), 4e9);
    succeed(budget, 10);
    EXPECT_EQ(budget.balance(noon + 1s), 4e9);
    EXPECT_TRUE(grants_retry(budget, noon + 1s));
}

TEST(retry_budget, decision_04_refuses_nonsense) {
    EXPECT_THAT(calling([] { retry_budget({.ratio = 0}); }),
                refuses_option("retry_budget.ratio", "0", "must be in (0, 1]"));
    EXPECT_THAT(calling([] { retry_budget({.ratio = 1.5}); }),
                refuses_option("retry_budget.ratio", "1.5", "must be in (0, 1]"));
    EXPECT_THAT(calling([] { retry_budget({.ratio = -0.1}); }),
                refuses_option("retry_budget.ratio", "-0.1", "must be in (0, 1]"));
    EXPECT_THAT(calling([] { retry_budget({.ratio = nan}); }),
                refuses_option("retry_budget.ratio", "nan", "must be in (0, 1]"));
    EXPECT_THAT(calling([] { retry_budget({.window = 0s}); }),
                refuses_option("retry_budget.window", "0s", "must be positive"));
    EXPECT_THAT(calling([] { retry_budget({.window = -1ns}); }),
                refuses_option("retry_budget.window", "-1ns", "must be positive"));
    std::string const rule = "must be finite and not negative";
    EXPECT_THAT(calling([] { retry_budget({.keep = -1}); }), refuses_option("retry_budget.keep", "-1", rule));
    EXPECT_THAT(calling([] { retry_budget({.keep = infinity}); }),
                refuses_option("retry_budget.keep", "inf", rule));
    EXPECT_THAT(calling([] { retry_budget({.initial = nan}); }),
                refuses_option("retry_budget.initial", "nan", rule));
    EXPECT_THAT(calling([] { retry_budget({.per_second = -2}); }),
                refuses_option("retry_budget.per_second", "-2", rule));
    EXPECT_NO_THROW(retry_budget({.ratio = 1, .window = 1ns, .keep = 0, .initial = 0}));
}

} // namespace
} // namespace asio_retry::test
