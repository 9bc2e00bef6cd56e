#include <asio_retry/traffic/fleet_budget.hpp>

#include "support/attempt_ends.hpp"
#include "support/elements.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::Optional;

constexpr fleet_budget_options one_by_one{.batch = 1};
constexpr auto greatest_count = std::numeric_limits<std::uint32_t>::max();

bool reserve(fleet_budget& budget, time_point now) {
    return budget.acquire(failure_kind::transient, now);
}

bool begins(fleet_budget& budget, std::uint64_t number = 2) {
    return budget.admit(number, time_point()).until == time_point();
}

void succeed(fleet_budget& budget, int times) {
    for (int i = 0; i < times; ++i)
        budget.on_end(success());
}

/// What it tells the store at `now`: one retry is reserved for it, and stays so.
double told(fleet_budget& budget, time_point now) {
    EXPECT_TRUE(reserve(budget, now));
    std::optional<fleet_request> const request = budget.poll(now);
    EXPECT_TRUE(request);
    return request.value_or(fleet_request()).earned;
}

TEST(fleet_budget, decision_26_a_first_attempt_costs_nothing) {
    fleet_budget budget;
    EXPECT_EQ(budget.admit(1, noon).until, noon);
    EXPECT_EQ(budget.poll(noon), std::nullopt);
    EXPECT_FALSE(budget.measures_time()) << "a success needs no clock";
}

TEST(fleet_budget, a_retry_is_reserved_and_then_takes_a_token_that_is_held) {
    fleet_budget budget(one_by_one);
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_THAT(budget.poll(noon), Optional(fleet_request{0, 1}));
    budget.on_granted(1, noon + 2ms);
    EXPECT_EQ(budget.held(), 1u);
    EXPECT_TRUE(begins(budget));
    EXPECT_EQ(budget.held(), 0u);
}

TEST(fleet_budget, a_retry_that_finds_no_token_is_refused_and_does_not_wait) {
    fleet_budget budget;
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(budget.poll(noon));
    admission const answer = budget.admit(2, noon);
    EXPECT_EQ(answer.until, time_point::max());
    EXPECT_EQ(answer.refusal, error::attempt_refused);
}

// In health without failures there is no traffic.
TEST(fleet_budget, asks_nothing_without_need) {
    fleet_budget budget;
    for (int second = 0; second < 3600; ++second) {
        EXPECT_EQ(budget.poll(noon + second * 1s), std::nullopt);
        succeed(budget, 10);
    }
    EXPECT_TRUE(reserve(budget, noon + 1h));
    budget.give_back(failure_kind::transient);
    EXPECT_EQ(budget.poll(noon + 1h), std::nullopt) << "it has been cancelled";
}

TEST(fleet_budget, asks_for_what_is_missing_and_a_batch_less_one) {
    fleet_budget budget;
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(reserve(budget, noon));
    EXPECT_THAT(budget.poll(noon), Optional(fleet_request{0, 3 - 0 + 5 - 1}));
    budget.on_granted(2, noon);
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_THAT(budget.poll(noon + 1s), Optional(fleet_request{0, 4 - 2 + 5 - 1}));
}

TEST(fleet_budget, asks_nothing_while_as_much_is_held_as_is_reserved) {
    fleet_budget budget;
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(budget.poll(noon));
    budget.on_granted(5, noon);
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(budget.poll(noon + 2s), std::nullopt);
        EXPECT_TRUE(reserve(budget, noon + 2s));
    }
    EXPECT_EQ(budget.poll(noon + 2s), std::nullopt);
    EXPECT_TRUE(reserve(budget, noon + 2s));
    EXPECT_TRUE(budget.poll(noon + 2s));
}

TEST(fleet_budget, asks_one_question_at_a_time_and_not_before_the_interval_is_over) {
    fleet_budget budget(one_by_one);
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(budget.poll(noon));
    EXPECT_EQ(budget.poll(noon + 1h), std::nullopt) << "one is under way";
    budget.on_granted(1, noon + 1h);
    EXPECT_EQ(budget.poll(noon + 1h + 1s - 1ns), std::nullopt);
    EXPECT_TRUE(budget.poll(noon + 1h + 1s));
}

TEST(fleet_budget, successes_earn_the_ratio_and_it_is_told_with_the_next_question) {
    for (double const ratio : {0.1, 0.2, 0.3, 1.0}) {
        fleet_budget budget({.ratio = ratio});
        EXPECT_EQ(budget.poll(noon), std::nullopt);
        succeed(budget, 30);
        EXPECT_EQ(told(budget, noon), 30 * ratio);
        budget.on_granted(0, noon);
        EXPECT_THAT(budget.poll(noon + 2s), Optional(fleet_request{0, 5})) << "once";
    }
}

TEST(fleet_budget, what_was_earned_fades_with_the_window) {
    fleet_budget budget({.window = 20s});
    EXPECT_EQ(budget.poll(noon), std::nullopt);
    succeed(budget, 1000);
    EXPECT_EQ(budget.poll(noon), std::nullopt);
    EXPECT_NEAR(told(budget, noon + 20s), 100 / std::exp(1.0), 1e-6);
}

// A steady client has what it earns in a window; nobody who was idle has a burst.
TEST(fleet_budget, what_was_earned_is_taken_as_spread_over_the_time_since_the_last_look) {
    fleet_budget budget;
    EXPECT_EQ(budget.poll(noon), std::nullopt);
    succeed(budget, 36'000); // 10 in each second
    EXPECT_NEAR(told(budget, noon + 1h), 10 * 0.1 * 10, 1e-6);
}

TEST(fleet_budget, what_succeeded_before_the_first_look_earns_nothing) {
    fleet_budget budget;
    succeed(budget, 1000);
    EXPECT_EQ(told(budget, noon), 0);
}

TEST(fleet_budget, failures_and_abandoned_attempts_earn_nothing) {
    fleet_budget budget;
    EXPECT_EQ(budget.poll(noon), std::nullopt);
    for (int i = 0; i < 100; ++i) {
        budget.on_end(failure(failure_kind::transient));
        budget.on_end(abandoned());
    }
    EXPECT_EQ(told(budget, noon), 0);
}

TEST(fleet_budget, an_empty_store_is_asked_after_twice_the_interval_and_so_on_up_to_the_greatest) {
    fleet_budget budget({.interval = 1s, .greatest_interval = 5s});
    time_point now = noon;
    EXPECT_TRUE(reserve(budget, now));
    for (duration const interval : {2s, 4s, 5s, 5s}) {
        EXPECT_TRUE(budget.poll(now));
        budget.on_granted(0, now);
        EXPECT_EQ(budget.poll(now + interval - 1ns), std::nullopt);
        now += interval;
    }
    EXPECT_TRUE(budget.poll(now));
    budget.on_granted(1, now);
    EXPECT_TRUE(reserve(budget, now));
    EXPECT_EQ(budget.poll(now + 1s - 1ns), std::nullopt);
    EXPECT_TRUE(budget.poll(now + 1s)) << "who gets something asks as soon as at first";
}

TEST(fleet_budget, while_the_store_is_empty_no_more_is_reserved_than_is_held) {
    fleet_budget budget;
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(budget.poll(noon));
    budget.on_granted(2, noon);
    EXPECT_TRUE(reserve(budget, noon + 1s));
    EXPECT_TRUE(reserve(budget, noon + 1s));
    EXPECT_TRUE(budget.poll(noon + 1s));
    EXPECT_TRUE(reserve(budget, noon + 1s)) << "nobody knows yet";
    budget.on_granted(0, noon + 1s);

    EXPECT_FALSE(reserve(budget, noon + 1s));
    for (int i = 0; i < 3; ++i)
        budget.give_back(failure_kind::transient);
    EXPECT_TRUE(reserve(budget, noon + 1s)) << "one of two is free";
    EXPECT_FALSE(reserve(budget, noon + 3s - 1ns));
    EXPECT_TRUE(reserve(budget, noon + 3s)) << "the interval is over";
}

TEST(fleet_budget, a_store_that_grants_less_is_not_empty) {
    fleet_budget budget;
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(budget.poll(noon));
    budget.on_granted(1, noon);
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(budget.poll(noon + 1s));
}

TEST(fleet_budget, tokens_that_nobody_has_reserved_go_back_to_what_was_earned_after_the_lease) {
    fleet_budget budget({.lease = 10s});
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(budget.poll(noon));
    budget.on_granted(5, noon);
    EXPECT_EQ(budget.poll(noon + 10s - 1ns), std::nullopt);
    EXPECT_EQ(budget.held(), 5u);
    EXPECT_EQ(budget.poll(noon + 10s), std::nullopt);
    EXPECT_EQ(budget.held(), 1u) << "that which is reserved";
    EXPECT_EQ(told(budget, noon + 10s), 4);
}

TEST(fleet_budget, they_fade_from_the_end_of_the_lease_on_whenever_that_is_seen) {
    for (bool const looks : {false, true}) {
        fleet_budget budget({.lease = 5s, .window = 10s});
        EXPECT_TRUE(reserve(budget, noon));
        EXPECT_TRUE(budget.poll(noon));
        budget.on_granted(5, noon);
        if (looks) {
            EXPECT_EQ(budget.poll(noon + 5s), std::nullopt);
        }
        EXPECT_NEAR(told(budget, noon + 15s), 4 / std::exp(1.0), 1e-6);
        EXPECT_EQ(budget.held(), 1u);
    }
}

TEST(fleet_budget, a_token_whose_retry_is_given_back_after_the_lease_goes_back_too) {
    fleet_budget budget({.lease = 5s, .window = 10s});
    for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(budget.poll(noon));
    budget.on_granted(5, noon);
    EXPECT_EQ(budget.poll(noon + 1h), std::nullopt);
    EXPECT_EQ(budget.held(), 5u);
    for (int i = 0; i < 3; ++i)
        budget.give_back(failure_kind::transient);
    EXPECT_EQ(budget.poll(noon + 1h), std::nullopt);
    EXPECT_EQ(budget.held(), 2u);
    EXPECT_EQ(told(budget, noon + 1h), 3);
}

// As with `wait_when_refused`, which keeps what has been reserved.
TEST(fleet_budget, a_retry_that_came_too_early_and_waits_needs_one_token) {
    fleet_budget budget(one_by_one);
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_FALSE(begins(budget));
    EXPECT_THAT(budget.poll(noon), Optional(fleet_request{0, 1}));
}

TEST(fleet_budget, without_the_store_a_process_lives_on_what_it_has_earned) {
    fleet_budget budget;
    EXPECT_EQ(budget.poll(noon), std::nullopt);
    succeed(budget, 27);
    EXPECT_DOUBLE_EQ(told(budget, noon), 2.7);
    budget.on_unavailable(noon);
    EXPECT_EQ(budget.held(), 2u) << "whole tokens";
    EXPECT_TRUE(begins(budget));

    EXPECT_TRUE(reserve(budget, noon)) << "and nobody is refused for it";
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_EQ(budget.poll(noon + 1s - 1ns), std::nullopt);
    succeed(budget, 3);
    std::optional<fleet_request> const again = budget.poll(noon + 1s);
    ASSERT_TRUE(again) << "after the interval it is asked again";
    EXPECT_NEAR(again->earned, 0.7 * std::exp(-0.1) + 0.3, 1e-8);
    EXPECT_EQ(again->wanted, 2u - 1 + 5 - 1);
    budget.on_granted(5, noon + 1s);
    EXPECT_EQ(budget.held(), 6u);
}

TEST(fleet_budget, what_it_granted_itself_is_used_or_goes_back_before_a_store_that_is_back_is_told) {
    fleet_budget budget({.lease = 10s});
    EXPECT_EQ(budget.poll(noon), std::nullopt);
    succeed(budget, 50);
    EXPECT_DOUBLE_EQ(told(budget, noon), 5);
    budget.on_unavailable(noon);
    EXPECT_TRUE(begins(budget));

    EXPECT_TRUE(reserve(budget, noon + 2s));
    EXPECT_EQ(budget.poll(noon + 2s), std::nullopt) << "what it holds is enough";
    EXPECT_TRUE(begins(budget));
    EXPECT_EQ(budget.held(), 3u);

    EXPECT_EQ(budget.poll(noon + 10s), std::nullopt) << "nor is it told without need";
    EXPECT_EQ(budget.held(), 0u);
    EXPECT_DOUBLE_EQ(told(budget, noon + 10s), 3);
}

TEST(fleet_budget, a_store_that_is_back_after_it_was_empty_begins_with_the_interval) {
    fleet_budget budget;
    EXPECT_TRUE(reserve(budget, noon));
    for (duration const at : {0s, 2s, 6s}) {
        EXPECT_TRUE(budget.poll(noon + at));
        budget.on_granted(0, noon + at);
    }
    EXPECT_TRUE(budget.poll(noon + 14s));
    budget.on_unavailable(noon + 14s);
    EXPECT_TRUE(reserve(budget, noon + 14s)) << "it was not empty at the last answer";
    EXPECT_TRUE(budget.poll(noon + 15s));
}

// A hedge begins as soon as it is decided, and so may a retry.
TEST(fleet_budget, a_retry_that_comes_before_its_token_is_need) {
    fleet_budget budget;
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(reserve(budget, noon));
        EXPECT_FALSE(begins(budget));
        budget.give_back(failure_kind::transient);
    }
    EXPECT_THAT(budget.poll(noon), Optional(fleet_request{0, 5})) << "of one";
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_FALSE(begins(budget));
    budget.give_back(failure_kind::transient);
    budget.on_granted(0, noon);
    EXPECT_EQ(budget.poll(noon + 1h), std::nullopt) << "it was there before the answer";
}

TEST(fleet_budget, an_attempt_that_did_not_begin_gives_its_token_back_and_keeps_its_place) {
    fleet_budget budget(one_by_one);
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(budget.poll(noon));
    budget.on_granted(1, noon);
    EXPECT_TRUE(begins(budget));
    budget.on_end(abandoned(2));
    EXPECT_EQ(budget.held(), 1u);
    EXPECT_EQ(budget.poll(noon + 1s), std::nullopt);
    EXPECT_TRUE(begins(budget)) << "it is asked for again";
    budget.on_end(abandoned(2, failure_kind::transient));
    EXPECT_EQ(budget.held(), 0u) << "it had begun: that is spent";
    budget.on_end(abandoned(1));
    EXPECT_EQ(budget.held(), 0u) << "a first one costs nothing";
    EXPECT_TRUE(reserve(budget, noon + 1s));
    EXPECT_THAT(budget.poll(noon + 1s), Optional(fleet_request{0, 1}));
}

// A ticker has no attempts: its ticks are paid for afterwards.
TEST(fleet_budget, who_reserves_only_is_charged_with_the_next_question) {
    fleet_budget budget(one_by_one);
    for (std::uint32_t i = 1; i <= 20; ++i) {
        time_point const now = noon + i * 1s;
        EXPECT_TRUE(reserve(budget, now));
        EXPECT_THAT(budget.poll(now), Optional(fleet_request{0, 1}));
        budget.on_granted(1, now);
    }
    EXPECT_EQ(budget.held(), 20u);
    EXPECT_TRUE(reserve(budget, noon + 21s));
    EXPECT_TRUE(budget.poll(noon + 21s));
    budget.on_granted(0, noon + 21s);
    EXPECT_FALSE(reserve(budget, noon + 21s));
}

TEST(fleet_budget, believes_no_answer_that_makes_no_sense) {
    fleet_budget budget;
    budget.on_granted(7, noon);
    budget.on_unavailable(noon);
    EXPECT_EQ(budget.held(), 0u) << "nobody has asked";
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(budget.poll(noon)) << "and it may ask at once";
    budget.on_granted(greatest_count, noon);
    EXPECT_EQ(budget.held(), 5u);
    budget.on_granted(5, noon);
    EXPECT_EQ(budget.held(), 5u) << "it has been answered";
    budget.give_back(failure_kind::transient);
    budget.give_back(failure_kind::transient);
    EXPECT_EQ(budget.poll(noon + 1s), std::nullopt) << "no reservation but none";
    EXPECT_EQ(budget.held(), 5u);
}

TEST(fleet_budget, time_that_runs_backwards_stands_still) {
    fleet_budget budget;
    EXPECT_EQ(budget.poll(noon), std::nullopt);
    succeed(budget, 100);
    EXPECT_EQ(budget.poll(noon - 1h), std::nullopt);
    EXPECT_EQ(told(budget, noon), 10);
}

TEST(fleet_budget, extreme_options_and_counts_saturate) {
    fleet_budget budget({.batch = greatest_count,
                         .interval = duration::max(),
                         .greatest_interval = duration::max(),
                         .lease = duration::max(),
                         .ratio = 1,
                         .window = 1ns,
                         .capacity = 1e300,
                         .per_second = 1e300});
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_TRUE(reserve(budget, noon));
    EXPECT_THAT(budget.poll(noon), Optional(fleet_request{0, greatest_count}));
    budget.on_granted(0, noon);
    EXPECT_FALSE(reserve(budget, time_point::max() - 1ns));
    EXPECT_TRUE(reserve(budget, time_point::max()));
    succeed(budget, 10);
    EXPECT_TRUE(budget.poll(time_point::max()));
}

TEST(fleet_budget, tells_the_script_four_numbers) {
    fleet_budget const budget({.capacity = 250.5, .per_second = 35});
    EXPECT_THAT(budget.arguments({2.75, 7}), elements("2.75", "7", "250.5", "35"));
    EXPECT_THAT(fleet_budget().arguments({}), elements("0", "0", "100", "0"));
    EXPECT_THAT(fleet_budget({.capacity = 1e300}).arguments({1e-9, greatest_count}),
                elements("1e-09", "4294967295", "1e+300", "0"));
}

// That it does what it says is seen with a real server: test/integration/redis.cpp.
TEST(fleet_budget, the_script_has_one_key_and_the_servers_time) {
    std::string const script(fleet_budget::script());
    EXPECT_THAT(script, testing::HasSubstr("'TIME'"));
    EXPECT_THAT(script, testing::HasSubstr("KEYS[1], 3600"));
    EXPECT_THAT(script, testing::Not(testing::HasSubstr("KEYS[2]")));
    EXPECT_THAT(script, testing::Not(testing::HasSubstr("ARGV[5]")));
}

TEST(fleet_budget, decision_04_refuses_nonsense) {
    EXPECT_THAT(calling([] { fleet_budget({.batch = 0}); }),
                refuses_option("fleet_budget.batch", "0", "must be positive"));
    EXPECT_THAT(calling([] { fleet_budget({.interval = 0s}); }),
                refuses_option("fleet_budget.interval", "0s", "must be positive"));
    EXPECT_THAT(calling([] { fleet_budget({.greatest_interval = 1s - 1ns}); }),
                refuses_option("fleet_budget.greatest_interval", "999999999ns",
                               "must not be less than the interval, which is 1s"));
    EXPECT_THAT(calling([] { fleet_budget({.lease = -1ns}); }),
                refuses_option("fleet_budget.lease", "-1ns", "must be positive"));
    for (double const bad : {0.0, -0.1, 1.1, nan, infinity})
        EXPECT_THAT(calling([&] { fleet_budget({.ratio = bad}); }), testing::Throws<std::invalid_argument>())
            << bad;
    EXPECT_THAT(calling([] { fleet_budget({.ratio = 1.5}); }),
                refuses_option("fleet_budget.ratio", "1.5", "must be in (0, 1]"));
    EXPECT_THAT(calling([] { fleet_budget({.window = 0s}); }),
                refuses_option("fleet_budget.window", "0s", "must be positive"));
    for (double const bad : {0.9, -1.0, nan, infinity})
        EXPECT_THAT(calling([&] { fleet_budget({.capacity = bad}); }), testing::Throws<std::invalid_argument>())
            << bad;
    EXPECT_THAT(calling([] { fleet_budget({.capacity = 0.5}); }),
                refuses_option("fleet_budget.capacity", "0.5", "must be finite and at least 1"));
    for (double const bad : {-1.0, nan, infinity})
        EXPECT_THAT(calling([&] { fleet_budget({.per_second = bad}); }),
                    testing::Throws<std::invalid_argument>())
            << bad;
    EXPECT_THAT(calling([] { fleet_budget({.per_second = -1}); }),
                refuses_option("fleet_budget.per_second", "-1", "must be finite and not negative"));
}

} // namespace
} // namespace asio_retry::test
