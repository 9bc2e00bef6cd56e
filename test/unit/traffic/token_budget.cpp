#include <asio_retry/traffic/token_budget.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"
#include "support/traces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

bool retry(token_budget& budget, failure_kind kind = failure_kind::transient) {
    return budget.acquire(kind, noon);
}

/// An attempt fails, and asks to be retried.
bool fail(token_budget& budget, failure_kind kind = failure_kind::transient) {
    budget.on_end(failure(kind));
    return retry(budget, kind);
}

TEST(golden, decision_28_grpc_tokens_are_those_of_grpc_js) {
    play_traces<token_budget>(
        "grpc_throttle_traces.csv", 840,
        [](csv_row const& row) {
            return grpc_tokens(std::stod(row.at("max_tokens")), std::stod(row.at("token_ratio")));
        },
        [](token_budget& budget, csv_row const& row) {
            if (row.at("event") == "success") {
                budget.on_end(success());
                EXPECT_EQ(retry(budget), row.at("retry_allowed") == "true");
            } else {
                EXPECT_EQ(fail(budget), row.at("retry_allowed") == "true");
            }
            EXPECT_NEAR(budget.balance(), std::stod(row.at("balance")), 1e-6);
        });
}

TEST(golden, decision_28_aws_tokens_are_those_of_botocore) {
    static std::map<std::string, failure_kind> const kinds = {{"none", failure_kind::none},
                                                              {"transient", failure_kind::transient},
                                                              {"timeout", failure_kind::timeout},
                                                              {"throttled", failure_kind::throttled}};
    play_traces<token_budget>(
        "aws_quota_traces.csv", 922,
        [](csv_row const& row) { return row.at("mode") == "2016" ? aws_tokens_2016() : aws_tokens(); },
        [](token_budget& budget, csv_row const& row) {
            failure_kind const kind = kinds.at(row.at("kind"));
            if (row.at("event") == "success") {
                budget.on_end(success_of_retry(std::stoul(row.at("number")), kind));
            } else if (row.at("event") == "acquire") {
                EXPECT_EQ(retry(budget, kind), row.at("granted") == "True");
            }
            EXPECT_EQ(budget.balance(), std::stod(row.at("balance")));
        });
}

// With the numbers of gRPC's own example.
TEST(decision_28, grpc_10_and_a_tenth_allow_four_retries_where_all_fails) {
    token_budget budget(grpc_tokens(10, 0.1));
    int retries = 0;
    for (int i = 0; i < 100; ++i)
        retries += fail(budget);
    EXPECT_EQ(retries, 4);
    EXPECT_EQ(budget.balance(), 0);
}

TEST(decision_28, grpc_10_and_a_tenth_need_51_successes_to_come_back) {
    token_budget budget(grpc_tokens(10, 0.1));
    for (int i = 0; i < 10; ++i)
        fail(budget);
    int successes = 0;
    while (!retry(budget)) {
        budget.on_end(success());
        ++successes;
    }
    EXPECT_EQ(successes, 51);
}

TEST(decision_28, grpc_counts_thousandths_and_no_less) {
    EXPECT_EQ(grpc_tokens(10, 0.5466).per_success, 0.546);
    for (int thousandths = 1; thousandths < 3000; ++thousandths)
        EXPECT_EQ(grpc_tokens(10, thousandths / 1000.0).per_success, thousandths / 1000.0);
}

TEST(token_budget, of_grpc_takes_nothing_for_a_permanent_failure_or_an_abandoned_attempt) {
    token_budget budget(grpc_tokens(10, 0.1));
    budget.on_end(failure(failure_kind::permanent));
    budget.on_end(abandoned());
    EXPECT_EQ(budget.balance(), 10);
    budget.give_back(failure_kind::transient);
    EXPECT_EQ(budget.balance(), 10);
}

// As A6 says: a service that says no counts, whatever the status is.
TEST(decision_28, grpc_takes_one_where_the_service_forbids_to_retry) {
    token_budget budget(grpc_tokens(10, 0.1));
    attempt_end end = failure(failure_kind::permanent);
    end.said = pushback::never();
    budget.on_end(end);
    EXPECT_EQ(budget.balance(), 9);
    end.said = pushback::after(1s);
    budget.on_end(end);
    EXPECT_EQ(budget.balance(), 9);
}

TEST(token_budget, has_no_less_than_a_millionth) {
    EXPECT_NO_THROW(token_budget({.capacity = 1e-6}));
    EXPECT_THAT(calling([] { token_budget({.capacity = 1e-7}); }),
                refuses_option("token_budget.capacity", "1e-07", "must be at least a millionth"));
}

TEST(token_budget, by_default_has_ten_tokens_and_gets_a_tenth_back) {
    token_budget budget;
    EXPECT_EQ(budget.admit(1, noon).until, noon);
    EXPECT_FALSE(budget.measures_time());
    for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(retry(budget));
    EXPECT_FALSE(retry(budget));
    for (int i = 0; i < 9; ++i)
        budget.on_end(success());
    EXPECT_FALSE(retry(budget));
    budget.on_end(success());
    EXPECT_TRUE(retry(budget));
}

TEST(token_budget, costs_what_the_kind_of_failure_costs) {
    token_budget budget({.capacity = 100, .cost = 2, .timeout_cost = 10, .throttled_cost = 3});
    auto const cost = [&](failure_kind kind) {
        double const before = budget.balance();
        EXPECT_TRUE(retry(budget, kind));
        double const taken = before - budget.balance();
        budget.give_back(kind);
        EXPECT_EQ(budget.balance(), before);
        return taken;
    };
    EXPECT_EQ(cost(failure_kind::transient), 2);
    EXPECT_EQ(cost(failure_kind::overloaded), 2);
    EXPECT_EQ(cost(failure_kind::timeout), 10);
    EXPECT_EQ(cost(failure_kind::throttled), 3);
}

TEST(token_budget, refunds_the_last_retry_of_what_succeeds) {
    token_budget budget({.capacity = 100, .per_success = 1, .cost = 5, .timeout_cost = 10, .refund = true});
    EXPECT_TRUE(retry(budget, failure_kind::timeout));
    EXPECT_TRUE(retry(budget, failure_kind::transient));
    EXPECT_EQ(budget.balance(), 85);
    budget.on_end(success_of_retry(3, failure_kind::transient));
    EXPECT_EQ(budget.balance(), 90);
    budget.on_end(success());
    EXPECT_EQ(budget.balance(), 91);
}

TEST(token_budget, stays_between_nothing_and_its_capacity) {
    token_budget budget({.capacity = 2, .per_success = 1.5, .per_failure = 1.5});
    budget.on_end(success());
    EXPECT_EQ(budget.balance(), 2);
    budget.on_end(failure(failure_kind::transient));
    EXPECT_EQ(budget.balance(), 0.5);
    budget.on_end(failure(failure_kind::transient));
    EXPECT_EQ(budget.balance(), 0);
    budget.on_end(success());
    EXPECT_EQ(budget.balance(), 1.5);
    budget.give_back(failure_kind::transient);
    EXPECT_EQ(budget.balance(), 2);
}

TEST(token_budget, may_begin_with_less_than_its_capacity) {
    EXPECT_EQ(token_budget({.capacity = 10, .initial = 0}).balance(), 0);
    EXPECT_EQ(token_budget({.capacity = 10, .initial = 10}).balance(), 10);
    EXPECT_EQ(token_budget({.capacity = 10}).balance(), 10);
}

TEST(token_budget, needs_more_than_its_threshold) {
    token_budget budget({.capacity = 10, .initial = 5, .per_success = 0.001, .threshold = 5});
    EXPECT_FALSE(retry(budget));
    budget.on_end(success());
    EXPECT_TRUE(retry(budget));
    EXPECT_TRUE(retry(budget)) << "which takes nothing";
    budget.give_back(failure_kind::transient);
    EXPECT_NEAR(budget.balance(), 5.001, 1e-9) << "and gives nothing back";
}

TEST(hedge_share, of_100_successes_at_most_five_are_hedged) {
    auto const budget = hedge_share(0.05);
    EXPECT_FALSE(retry(*budget)) << "nothing is earned yet";
    int hedges = 0;
    for (int successes = 1; successes <= 10'000; ++successes) {
        budget->on_end(success());
        hedges += retry(*budget);
        EXPECT_EQ(hedges, successes / 20);
    }
    EXPECT_EQ(hedges, 500);
}

TEST(hedge_share, keeps_a_few_unused_hedges) {
    for (int const burst : {10, 1, 3}) {
        auto const budget = burst == 10 ? hedge_share(0.05) : hedge_share(0.05, burst);
        for (int i = 0; i != 1'000'000; ++i)
            budget->on_end(success());
        int hedges = 0;
        while (retry(*budget))
            ++hedges;
        EXPECT_EQ(hedges, burst);
    }
}

TEST(hedge_share, failures_and_attempts_that_lost_earn_nothing) {
    auto const budget = hedge_share(1, 1);
    budget->on_end(failure(failure_kind::transient));
    budget->on_end(failure(failure_kind::permanent));
    budget->on_end(abandoned());
    EXPECT_EQ(budget->balance(), 0);
    budget->on_end(success());
    EXPECT_EQ(budget->balance(), 1);
    EXPECT_TRUE(retry(*budget));
    budget->give_back(failure_kind::transient);
    EXPECT_EQ(budget->balance(), 1);
}

// A share is never rounded up, and a decimal fraction is what it says.
TEST(hedge_share, counts_whole_millionths) {
    for (int millionths = 1; millionths <= 1'000'000; millionths += 7) {
        auto const budget = hedge_share(millionths / 1e6);
        budget->on_end(success());
        ASSERT_EQ(budget->balance(), millionths / 1e6);
    }
    auto const third = hedge_share(1 / 3.0);
    int hedges = 0;
    for (int i = 0; i != 3'000'000; ++i) {
        third->on_end(success());
        hedges += retry(*third);
    }
    EXPECT_EQ(hedges, 999'999);
}

TEST(token_budget, decision_04_refuses_nonsense) {
    std::string const rule = "must be finite and not negative";
    EXPECT_THAT(calling([] { token_budget({.capacity = 0}); }),
                refuses_option("token_budget.capacity", "0", "must be positive"));
    EXPECT_THAT(calling([] { token_budget({.capacity = -1}); }),
                refuses_option("token_budget.capacity", "-1", rule));
    EXPECT_THAT(calling([] { token_budget({.capacity = infinity}); }),
                refuses_option("token_budget.capacity", "inf", rule));
    EXPECT_THAT(
        calling([] { token_budget({.initial = 10.5}); }),
        refuses_option("token_budget.initial", "10.5", "must not be more than the capacity, which is 10"));
    EXPECT_THAT(calling([] { token_budget({.initial = nan}); }),
                refuses_option("token_budget.initial", "nan", rule));
    EXPECT_THAT(calling([] { token_budget({.per_success = -1}); }),
                refuses_option("token_budget.per_success", "-1", rule));
    EXPECT_THAT(calling([] { token_budget({.per_failure = nan}); }),
                refuses_option("token_budget.per_failure", "nan", rule));
    EXPECT_THAT(calling([] { token_budget({.threshold = -1}); }),
                refuses_option("token_budget.threshold", "-1", rule));
    EXPECT_THAT(calling([] { token_budget({.cost = infinity}); }),
                refuses_option("token_budget.cost", "inf", rule));
    EXPECT_THAT(calling([] { token_budget({.timeout_cost = -1}); }),
                refuses_option("token_budget.timeout_cost", "-1", rule));
    EXPECT_THAT(calling([] { token_budget({.throttled_cost = nan}); }),
                refuses_option("token_budget.throttled_cost", "nan", rule));
    EXPECT_THAT(calling([] { (void)grpc_tokens(0, 0.1); }),
                refuses_option("grpc_tokens.max_tokens", "0", "must be in (0, 1000]"));
    EXPECT_THAT(calling([] { (void)grpc_tokens(1001, 0.1); }),
                refuses_option("grpc_tokens.max_tokens", "1001", "must be in (0, 1000]"));
    EXPECT_THAT(calling([] { (void)grpc_tokens(nan, 0.1); }),
                refuses_option("grpc_tokens.max_tokens", "nan", "must be in (0, 1000]"));
    EXPECT_THAT(calling([] { (void)grpc_tokens(10, 0); }),
                refuses_option("grpc_tokens.token_ratio", "0", "must be finite and at least 0.001"));
    EXPECT_THAT(calling([] { (void)grpc_tokens(10, infinity); }),
                refuses_option("grpc_tokens.token_ratio", "inf", "must be finite and at least 0.001"));
}

} // namespace
} // namespace asio_retry::test
