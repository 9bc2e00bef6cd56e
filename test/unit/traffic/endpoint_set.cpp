#include <asio_retry/traffic/endpoint_set.hpp>

#include "support/attempt_ends.hpp"
#include "support/elements.hpp"
#include "support/endpoint_operation.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

endpoint_options const eager{.breaker = {.consecutive = 3, .open_spread = 0, .probes = 2}};
endpoint_options const forgetful{.breaker = eager.breaker, .remembered = 0s};

/// One attempt of an operation of its own at this endpoint, or none if it is drawn never.
bool ask(endpoint_set<int>& set, random& dice, int endpoint,
         std::function<void(endpoint_operation&)> const& end, time_point now) {
    for (int i = 0; i < 10'000; ++i) {
        endpoint_operation one(set, dice);
        if (one.begin(now) == endpoint) {
            end(one);
            return true;
        }
    }
    return false;
}

/// Successes of an endpoint; fewer if it is no longer asked.
int succeed_at(endpoint_set<int>& set, random& dice, int endpoint, int times, duration took,
               time_point now = noon) {
    int made = 0;
    while (made < times &&
           ask(set, dice, endpoint, [&](endpoint_operation& one) { one.succeed(now, took); }, now))
        ++made;
    return made;
}

int fail_at(endpoint_set<int>& set, random& dice, int endpoint, int times, time_point now = noon) {
    int made = 0;
    while (made < times && ask(set, dice, endpoint, [&](endpoint_operation& one) { one.fail(now); }, now))
        ++made;
    return made;
}

std::set<int> ejected(endpoint_set<int> const& set, time_point now) {
    std::set<int> out;
    for (auto const& [endpoint, status] : statuses(set, now))
        if (status.ejected_until > now)
            out.insert(endpoint);
    return out;
}

TEST(endpoint_set, decision_64_asks_untried_ones_first_and_then_the_one_tried_longest_ago) {
    endpoint_set<int> set(first_endpoints(5));
    random dice(1);
    for (int round = 0; round < 100; ++round) {
        endpoint_operation one(set, dice);
        std::vector<int> tried;
        for (int i = 0; i < 17; ++i) {
            tried.push_back(one.begin(noon).value());
            one.end(failure(failure_kind::permanent, noon), 0);
            ASSERT_EQ(tried.back(), tried[tried.size() - (i < 5 ? 1 : 6)]);
        }
        EXPECT_EQ(std::set<int>(tried.begin(), tried.begin() + 5).size(), 5u);
    }
}

TEST(endpoint_set, decision_64_of_two_it_asks_the_one_with_fewer_in_flight) {
    endpoint_set<int> set({10, 20});
    random dice(1);
    endpoint_operation first(set, dice);
    int const busy = first.begin(noon).value();
    for (int i = 0; i < 100; ++i) {
        endpoint_operation one(set, dice);
        EXPECT_NE(one.begin(noon), busy);
        EXPECT_EQ(statuses(set, noon)[busy].in_flight, 1u);
    }
    first.succeed(noon);
    EXPECT_EQ(statuses(set, noon)[busy].in_flight, 0u);
    std::set<int> seen;
    for (int i = 0; i < 100; ++i) {
        endpoint_operation one(set, dice);
        seen.insert(one.begin(noon).value());
    }
    EXPECT_EQ(seen.size(), 2u);
}

TEST(endpoint_set, decision_64_at_a_tie_it_asks_the_clearly_faster_one_and_the_other_now_and_then) {
    struct latencies {
        duration first, second;
        double least, greatest; // share of the second
    };
    for (auto const& [first, second, least, greatest] :
         {latencies{10ms, 10ms, 0.45, 0.55}, latencies{10ms, 12ms, 0.45, 0.55},
          latencies{10ms, 17ms, 0.02, 0.05}, latencies{17ms, 10ms, 0.95, 0.98}}) {
        endpoint_set<int> set({1, 2});
        random dice(1);
        EXPECT_EQ(succeed_at(set, dice, 1, 15, first), 15);
        EXPECT_EQ(succeed_at(set, dice, 2, 15, second), 15);
        int asked = 0;
        for (int i = 0; i < 10'000; ++i)
            asked += endpoint_operation(set, dice).begin(noon) == 2;
        EXPECT_THAT(asked / 10'000.0, testing::AllOf(testing::Ge(least), testing::Le(greatest)))
            << first.count() << " " << second.count();
    }
}

TEST(endpoint_set, latency_is_the_median_of_the_last_successes) {
    endpoint_set<int> set({1});
    random dice(1);
    succeed_at(set, dice, 1, 7, 10ms);
    fail_at(set, dice, 1, 1);
    EXPECT_EQ(statuses(set, noon)[1].latency, 0s) << "of eight at least";
    succeed_at(set, dice, 1, 1, 10ms);
    EXPECT_GE(statuses(set, noon)[1].latency, 10ms);
    EXPECT_LE(statuses(set, noon)[1].latency, 11'250us);
    succeed_at(set, dice, 1, 7, 20ms);
    EXPECT_LE(statuses(set, noon)[1].latency, 11'250us);
    succeed_at(set, dice, 1, 1, 20ms);
    EXPECT_GE(statuses(set, noon)[1].latency, 20ms);
}

TEST(endpoint_set, decision_64_a_slow_one_is_ejected_and_asked_again_as_if_it_were_new) {
    endpoint_set<int> set(first_endpoints(4));
    random dice(1);
    for (int fast : {0, 1, 2})
        succeed_at(set, dice, fast, 15, 10ms);
    EXPECT_EQ(succeed_at(set, dice, 3, 100, 100ms), 27) << "eight until it is known, and the last is the 20th";
    EXPECT_THAT(ejected(set, noon), elements(3));
    EXPECT_EQ(statuses(set, noon)[3].ejected_until, noon + 5s);
    EXPECT_EQ(statuses(set, noon)[3].state, breaker_state::closed);
    EXPECT_GE(statuses(set, noon)[3].latency, 100ms);

    EXPECT_EQ(succeed_at(set, dice, 3, 1, 100ms, noon + 5s - 1ns), 0);
    EXPECT_EQ(succeed_at(set, dice, 3, 7, 100ms, noon + 5s), 7);
    EXPECT_EQ(statuses(set, noon + 5s)[3].latency, 0s);
    EXPECT_THAT(ejected(set, noon + 5s), testing::IsEmpty());
    EXPECT_EQ(succeed_at(set, dice, 3, 100, 100ms, noon + 6s), 20) << "and it is ejected again";
}

TEST(endpoint_set, decision_64_one_that_is_not_so_slow_stays) {
    endpoint_set<int> set(first_endpoints(3), {.slow_factor = 4});
    random dice(1);
    succeed_at(set, dice, 0, 15, 10ms);
    succeed_at(set, dice, 1, 15, 10ms);
    EXPECT_EQ(succeed_at(set, dice, 2, 200, 30ms), 200);
    EXPECT_EQ(succeed_at(set, dice, 2, 200, 50ms), 27);
}

TEST(endpoint_set, decision_64_slow_successes_count_in_a_row) {
    endpoint_set<int> set(first_endpoints(3), {.slow_least = 40});
    random dice(1);
    succeed_at(set, dice, 0, 15, 10ms);
    succeed_at(set, dice, 1, 15, 10ms);
    succeed_at(set, dice, 2, 15, 10ms);
    EXPECT_EQ(succeed_at(set, dice, 2, 20, 100ms), 20) << "the last 13 of them with a slow median";
    EXPECT_EQ(succeed_at(set, dice, 2, 8, 10ms), 8) << "and seven of these";
    EXPECT_EQ(succeed_at(set, dice, 2, 100, 100ms), 47);
}

TEST(endpoint_set, decision_64_if_all_become_slow_nobody_is_ejected) {
    endpoint_set<int> set(first_endpoints(4), {.greatest_ejected = 1});
    random dice(1);
    for (duration took : {10ms, 1000ms, 10ms, 1000ms})
        for (int i = 0; i < 4000; ++i) {
            endpoint_operation one(set, dice);
            ASSERT_TRUE(one.begin(noon));
            one.succeed(noon, took);
            ASSERT_THAT(ejected(set, noon), testing::IsEmpty()) << i;
        }
}

TEST(endpoint_set, decision_64_no_more_are_ejected_than_their_greatest_share) {
    endpoint_set<int> set(first_endpoints(7), {.breaker = eager.breaker, .greatest_ejected = 0.3});
    random dice(1);
    for (int i = 0; i < 4; ++i)
        succeed_at(set, dice, i, 15, 10ms);
    EXPECT_EQ(succeed_at(set, dice, 4, 100, 100ms, noon), 27);
    EXPECT_EQ(succeed_at(set, dice, 5, 100, 100ms, noon + 1s), 27);
    EXPECT_EQ(succeed_at(set, dice, 6, 100, 100ms, noon + 1s), 100) << "two of seven are out";
    EXPECT_THAT(ejected(set, noon + 1s), elements(4, 5));

    EXPECT_EQ(fail_at(set, dice, 0, 10, noon + 1s), 3);
    EXPECT_THAT(ejected(set, noon + 1s), elements(0, 5)) << "the earliest one is back";
    EXPECT_EQ(statuses(set, noon + 1s)[4].latency, 0s);
    EXPECT_EQ(fail_at(set, dice, 1, 10, noon + 1s), 3);
    EXPECT_EQ(fail_at(set, dice, 2, 10, noon + 1s), 3) << "a breaker opens in any case";
    EXPECT_THAT(ejected(set, noon + 1s), elements(0, 1, 2));
}

TEST(endpoint_set, decision_64_one_is_always_asked_however_slow) {
    endpoint_set<int> set({1, 2}, {.breaker = eager.breaker, .greatest_ejected = 1});
    random dice(1);
    succeed_at(set, dice, 1, 15, 10ms);
    EXPECT_EQ(succeed_at(set, dice, 2, 100, 100ms), 27);
    EXPECT_EQ(fail_at(set, dice, 1, 3), 3);
    EXPECT_THAT(ejected(set, noon), elements(1));
    EXPECT_EQ(succeed_at(set, dice, 2, 10, 100ms), 10);
    endpoint_set<int> single({1}, {.greatest_ejected = 1});
    EXPECT_EQ(succeed_at(single, dice, 1, 100, 1h), 100);
}

TEST(endpoint_set, a_share_counts_whole_endpoints_as_people_do) {
    endpoint_set<int> set(first_endpoints(50), {.greatest_ejected = 0.58}); // 0.58 * 50 < 29
    random dice(1);
    for (int i = 0; i < 20; ++i)
        succeed_at(set, dice, i, 8, 10ms);
    for (int i = 20; i < 50; ++i)
        succeed_at(set, dice, i, 27, 100ms);
    EXPECT_EQ(ejected(set, noon).size(), 29u);
}

TEST(endpoint_set, decision_64_a_dead_one_is_asked_by_probes_alone) {
    endpoint_set<int> set({1, 2, 3}, eager);
    random dice(1);
    EXPECT_EQ(fail_at(set, dice, 2, 10), 3);
    EXPECT_EQ(statuses(set, noon)[2].state, breaker_state::open);
    EXPECT_EQ(statuses(set, noon)[2].rate, 1);
    EXPECT_EQ(statuses(set, noon)[2].ejected_until, noon + 5s);
    EXPECT_EQ(fail_at(set, dice, 2, 10, noon + 5s - 1ns), 0);
    EXPECT_EQ(fail_at(set, dice, 2, 10, noon + 5s), 1) << "a failed probe opens it again";
    EXPECT_EQ(statuses(set, noon + 5s)[2].ejected_until, noon + 15s);

    // Two probes run, and have all places.
    std::vector<std::unique_ptr<endpoint_operation>> probes;
    endpoint_operation others[2] = {{set, dice}, {set, dice}};
    for (endpoint_operation& each : others)
        ASSERT_NE(each.begin(noon + 14s), 2);
    while (probes.size() < 2) {
        auto one = std::make_unique<endpoint_operation>(set, dice);
        if (one->begin(noon + 15s) == 2)
            probes.push_back(std::move(one));
    }
    EXPECT_EQ(statuses(set, noon + 15s)[2].state, breaker_state::half_open);
    EXPECT_EQ(statuses(set, noon + 15s)[2].ejected_until, noon + 75s) << "when a hung probe loses its place";
    EXPECT_EQ(fail_at(set, dice, 2, 1, noon + 16s), 0);
    probes.front()->abandon(noon + 15s);
    EXPECT_EQ(statuses(set, noon + 16s)[2].ejected_until, time_point::min()) << "at once";
    EXPECT_EQ(succeed_at(set, dice, 2, 1, 0s, noon + 16s), 1);
    EXPECT_EQ(succeed_at(set, dice, 2, 1, 0s, noon + 16s), 0) << "the other one runs, this one has succeeded";
    probes.back()->succeed(noon + 17s, 2s);
    EXPECT_EQ(statuses(set, noon + 17s)[2].state, breaker_state::closed);
    EXPECT_EQ(succeed_at(set, dice, 2, 10, 0s, noon + 17s), 10);
}

// Where another one beat it twenty times in a row, though it began earlier.
TEST(endpoint_set, decision_64_one_that_hedges_beat_is_ejected_as_slow) {
    endpoint_set<int> set({1, 2, 3}, eager);
    random dice(1);
    auto const lose_at_2 = [&](int times) {
        attempt_end end = abandoned_since(noon);
        end.is_beaten = true;
        while (times > 0) {
            endpoint_operation one(set, dice);
            if (one.begin(noon) != 2)
                continue; // abandoned, which says nothing
            one.end(end, 0);
            --times;
        }
    };
    lose_at_2(19);
    EXPECT_EQ(statuses(set, noon)[2].ejected_until, time_point::min());
    EXPECT_EQ(succeed_at(set, dice, 2, 1, 1ms), 1);
    lose_at_2(19);
    EXPECT_EQ(statuses(set, noon)[2].ejected_until, time_point::min()) << "its success counts";
    lose_at_2(1);
    EXPECT_EQ(statuses(set, noon)[2].ejected_until, noon + 5s);
    EXPECT_EQ(statuses(set, noon)[2].state, breaker_state::closed);
}

TEST(endpoint_set, decision_64_one_that_has_come_back_has_to_lose_as_often_again) {
    endpoint_set<int> set({1, 2, 3}, eager);
    random dice(1);
    time_point now = noon;
    for (int cycle = 0; cycle != 4; ++cycle) {
        int lost = 0;
        while (statuses(set, now)[2].ejected_until == time_point::min()) {
            endpoint_operation one(set, dice);
            if (one.begin(now) != 2)
                continue;
            attempt_end end = abandoned_since(now);
            end.is_beaten = true;
            one.end(end, 0);
            ++lost;
        }
        EXPECT_EQ(lost, 20) << "cycle " << cycle;
        now = statuses(set, now)[2].ejected_until;
    }
}

TEST(endpoint_set, decision_64_one_that_stays_slow_is_ejected_for_longer_each_time) {
    endpoint_set<int> set({1, 2, 3}, eager);
    random dice(1);
    time_point now = noon;
    auto const eject = [&](duration took) {
        for (int i = 0; i < 1000 && statuses(set, now)[2].ejected_until == time_point::min(); ++i)
            for (int which : {1, 2, 3})
                succeed_at(set, dice, which, 1, which == 2 ? took : duration(1ms), now);
        return statuses(set, now)[2].ejected_until;
    };
    for (duration const length : {5s, 10s, 20s, 40s, 60s, 60s}) {
        EXPECT_EQ(eject(10ms), now + length);
        now += length;
    }
    for (int i = 0; i < 30; ++i)
        for (int which : {1, 2, 3})
            succeed_at(set, dice, which, 1, 1ms, now);
    EXPECT_EQ(eject(10ms), now + 5s) << "it was as fast as the others";
}

// The first has been slow before and is out for longer.
TEST(endpoint_set, decision_64_slow_ones_return_each_at_its_own_time) {
    endpoint_set<int> set({1, 2, 3, 4}, eager);
    random dice(1);
    auto const eject = [&](int which, time_point now) {
        for (int i = 0; i < 1000 && ejected(set, now).count(which) == 0; ++i)
            for (int each : {1, 2, 3, 4})
                if (ejected(set, now).count(each) == 0)
                    succeed_at(set, dice, each, 1, each == which ? 100ms : 1ms, now);
        return statuses(set, now)[which].ejected_until;
    };
    EXPECT_EQ(eject(1, noon), noon + 5s);
    EXPECT_EQ(eject(1, noon + 5s), noon + 15s);
    EXPECT_EQ(eject(2, noon + 6s), noon + 11s);
    EXPECT_EQ(succeed_at(set, dice, 2, 1, 1ms, noon + 11s - 1ns), 0);
    EXPECT_EQ(succeed_at(set, dice, 2, 1, 1ms, noon + 11s), 1);
    EXPECT_EQ(succeed_at(set, dice, 1, 1, 1ms, noon + 15s - 1ns), 0);
    EXPECT_EQ(succeed_at(set, dice, 1, 1, 1ms, noon + 15s), 1);
}

TEST(endpoint_set, decision_64_if_all_are_dead_it_refuses_at_once_until_the_first_may_be_asked) {
    endpoint_set<int> set({1, 2, 3}, eager);
    random dice(1);
    for (int i : {3, 1, 2})
        EXPECT_EQ(fail_at(set, dice, i, 10, noon + i * 1s), 3);
    endpoint_operation one(set, dice);
    EXPECT_FALSE(one.begin(noon + 4s));
    EXPECT_EQ(one.answer.until, noon + 6s);
    EXPECT_EQ(one.answer.refusal, error::circuit_open);
    EXPECT_EQ(one.begin(noon + 6s), 1);
    EXPECT_EQ(statuses(set, noon + 6s)[1].in_flight, 1u);
    one.succeed(noon + 6s);
    EXPECT_EQ(succeed_at(set, dice, 1, 1, 0s, noon + 6s), 1);
    EXPECT_EQ(statuses(set, noon + 6s)[1].state, breaker_state::closed) << "and back within open_for";
    for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(endpoint_operation(set, dice).begin(noon + 6s));
}

TEST(endpoint_set, a_refused_operation_tries_again_with_the_same_number) {
    endpoint_set<int> set({1}, eager);
    random dice(1);
    fail_at(set, dice, 1, 3);
    endpoint_operation one(set, dice);
    EXPECT_FALSE(one.begin(noon));
    EXPECT_FALSE(one.begin(noon + 1s));
    EXPECT_EQ(one.begin(noon + 5s), 1);
    EXPECT_EQ(one.number, 1u);
    one.abandon(noon + 5s); // it never began
    one.number = 0;
    EXPECT_EQ(one.begin(noon + 5s), 1);
    one.succeed(noon + 5s);
    EXPECT_EQ(statuses(set, noon)[1].in_flight, 0u);
}

TEST(endpoint_set, many_return_a_few_at_a_time) {
    endpoint_set<int> set(first_endpoints(100), eager);
    random dice(1);
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(fail_at(set, dice, i, 3), 3);
    for (int i = 1; i <= 30; ++i) {
        endpoint_operation one(set, dice);
        ASSERT_TRUE(one.begin(noon + 5s));
        one.succeed(noon + 5s);
    }
    std::set<int> asked;
    for (int i = 0; i < 10'000; ++i)
        asked.insert(endpoint_operation(set, dice).begin(noon + 5s).value());
    EXPECT_EQ(asked.size(), 100u);
}

TEST(endpoint_set, a_later_attempt_that_runs_at_the_same_endpoint_is_another_one) {
    endpoint_set<int> set({1, 2});
    random dice(1);
    endpoint_operation hedge(set, dice);
    for (int i = 0; i < 16; ++i)
        ASSERT_TRUE(hedge.begin(noon));
    for (std::uint64_t i = 3; i <= 16; ++i)
        EXPECT_EQ(hedge.at(i), hedge.at(i - 2));
    EXPECT_EQ(statuses(set, noon)[1].in_flight, 8u);
    for (std::uint64_t i : {16u, 1u, 7u})
        hedge.succeed(noon, 0s, i);
    hedge.succeed(noon, 0s, 7); // which does not run
    EXPECT_EQ(statuses(set, noon)[1].in_flight + statuses(set, noon)[2].in_flight, 13u);
}

TEST(endpoint_set, a_copy_of_a_choice_has_tried_nothing) {
    endpoint_set<int> set(first_endpoints(3));
    random dice(1);
    endpoint_operation one(set, dice);
    one.begin(noon);
    {
        detail::endpoint_choice copy(one.choice);
        copy.draw_from(dice);
        attempt_end end = success(noon);
        end.number = 1;
        copy.on_end(end);
        EXPECT_EQ(copy.choose(1, noon).until, noon);
        EXPECT_EQ(statuses(set, noon)[one.at(1)].in_flight, 1u);
    }
    one.succeed(noon);
    for (auto const& [endpoint, status] : statuses(set, noon))
        EXPECT_EQ(status.in_flight, 0u) << endpoint;
}

TEST(endpoint_set, what_runs_when_its_operation_is_destroyed_is_abandoned) {
    endpoint_set<int> set({1}, eager);
    random dice(1);
    fail_at(set, dice, 1, 3);
    {
        endpoint_operation one(set, dice);
        EXPECT_TRUE(one.begin(noon + 5s));
        EXPECT_TRUE(one.begin(noon + 6s));
        EXPECT_FALSE(one.begin(noon + 6s)) << "both places";
    }
    EXPECT_EQ(statuses(set, noon + 6s)[1].in_flight, 0u);
    EXPECT_EQ(statuses(set, noon + 6s)[1].state, breaker_state::half_open);
    EXPECT_EQ(succeed_at(set, dice, 1, 2, 0s, noon + 6s), 2);
    EXPECT_EQ(statuses(set, noon + 6s)[1].state, breaker_state::closed);
}

TEST(endpoint_set, remembers_the_last_64_that_an_operation_has_tried) {
    endpoint_set<int> set(first_endpoints(100));
    random dice(1);
    endpoint_operation one(set, dice);
    std::vector<int> tried;
    for (int i = 0; i < 1000; ++i) {
        int const next = one.begin(noon).value();
        one.end(failure(failure_kind::permanent, noon), 0);
        auto const from = tried.size() < 64 ? tried.begin() : tried.end() - 64;
        ASSERT_THAT(std::vector<int>(from, tried.end()), testing::Not(testing::Contains(next))) << i;
        tried.push_back(next);
    }
}

TEST(endpoint_set, is_repeatable) {
    auto const play = [] {
        endpoint_set<int> set(first_endpoints(10));
        random dice(7);
        std::vector<int> asked;
        for (int i = 0; i < 100; ++i) {
            endpoint_operation one(set, dice);
            asked.push_back(one.begin(noon).value());
            if (i % 3)
                one.succeed(noon, i * 1ms);
        }
        return asked;
    };
    EXPECT_EQ(play(), play());
}

TEST(endpoint_set, shows_endpoints_in_the_order_in_which_they_were_given) {
    endpoint_set<int> set({3, 1, 2}, eager);
    random dice(1);
    fail_at(set, dice, 3, 3);
    std::vector<int> seen;
    set.for_each(
        [&](int endpoint, endpoint_status const& status) {
            seen.push_back(endpoint);
            EXPECT_EQ(status.state, endpoint == 3 ? breaker_state::open : breaker_state::closed);
            set.assign({8, 9}); // it may use the set
        },
        noon);
    EXPECT_THAT(seen, elements(3, 1, 2));
    seen.clear();
    set.for_each([&](int endpoint, endpoint_status const&) { seen.push_back(endpoint); });
    EXPECT_THAT(seen, elements(8, 9));
}

TEST(endpoint_set, assigning_keeps_what_is_known_of_those_that_stay) {
    endpoint_set<int> set(first_endpoints(8), eager);
    random dice(1);
    for (int i : {0, 1, 2, 3, 5, 6, 7})
        succeed_at(set, dice, i, 15, 10ms);
    EXPECT_EQ(succeed_at(set, dice, 4, 100, 100ms), 27);
    EXPECT_EQ(fail_at(set, dice, 6, 10), 3);
    endpoint_operation running(set, dice);
    int const busy = running.begin(noon).value();

    set.assign({9, 7, 6, 5, 4, 3, 2, 1, 0});
    EXPECT_THAT(ejected(set, noon), elements(4, 6));
    EXPECT_EQ(statuses(set, noon)[busy].in_flight, 1u);
    EXPECT_NE(statuses(set, noon)[3].latency, 0s);
    EXPECT_EQ(statuses(set, noon)[9].latency, 0s);
    EXPECT_EQ(succeed_at(set, dice, 4, 1, 0s), 0);
    EXPECT_EQ(fail_at(set, dice, 6, 1), 0);
    EXPECT_EQ(succeed_at(set, dice, 9, 1, 0s), 1);
    EXPECT_EQ(succeed_at(set, dice, 4, 1, 0s, noon + 5s), 1);
    EXPECT_EQ(fail_at(set, dice, 6, 1, noon + 5s), 1);
    running.succeed(noon, 10ms);
    EXPECT_EQ(statuses(set, noon)[busy].in_flight, 0u);
    set.assign({-1, 3});
    EXPECT_TRUE(statuses(set, noon).contains(-1)) << "a new one is no other one";
}

TEST(endpoint_set, assigning_fewer_brings_back_slow_ones_beyond_the_share) {
    endpoint_set<int> set(first_endpoints(8), eager);
    random dice(1);
    for (int i = 0; i < 4; ++i)
        succeed_at(set, dice, i, 15, 10ms);
    for (int i : {7, 4, 6, 5})
        EXPECT_EQ(succeed_at(set, dice, i, 100, 100ms, noon + i * 1ms), 27);
    EXPECT_EQ(ejected(set, noon).size(), 4u);
    set.assign({4, 5, 6, 7});
    EXPECT_THAT(ejected(set, noon), elements(6, 7)) << "the earliest ones are back";
    set.assign({6});
    EXPECT_THAT(ejected(set, noon), testing::IsEmpty());
    EXPECT_EQ(succeed_at(set, dice, 6, 10, 100ms), 10);
}

TEST(endpoint_set, decision_81_an_endpoint_that_comes_back_within_a_minute_is_known) {
    for (duration const away : {duration(0s), duration(1min) - 1ns, duration(1min)}) {
        endpoint_set<int> set(first_endpoints(8), eager);
        random dice(1);
        time_point const back = noon + away;
        bool const is_known = away < 1min;
        for (int i : {0, 1, 2, 3, 5, 6, 7})
            succeed_at(set, dice, i, 15, 10ms);
        EXPECT_EQ(fail_at(set, dice, 6, 10), 3);
        endpoint_operation running(set, dice);
        int const busy = running.begin(noon).value();
        set.assign({20, 21}, noon);
        set.assign({20, 22}, noon);
        set.assign(first_endpoints(8), back);
        EXPECT_EQ(statuses(set, back)[busy].in_flight, is_known ? 1u : 0u);
        EXPECT_EQ(statuses(set, back)[3].latency != 0s, is_known);
        EXPECT_EQ(statuses(set, back)[6].state == breaker_state::closed, !is_known);
        EXPECT_EQ(statuses(set, noon)[6].ejected_until, is_known ? noon + 5s : time_point::min());
    }
}

TEST(endpoint_set, decision_81_what_runs_at_an_endpoint_that_is_away_counts) {
    endpoint_set<int> set({1}, eager);
    random dice(1);
    endpoint_operation all[] = {{set, dice}, {set, dice}, {set, dice}};
    for (endpoint_operation& each : all)
        ASSERT_EQ(each.begin(noon), 1);
    set.assign({2}, noon);
    attempt_end wished = failure(failure_kind::transient, noon);
    wished.said = pushback::after(30s);
    for (endpoint_operation& each : all)
        each.end(wished, 0);
    set.assign({1, 2}, noon + 1s);
    EXPECT_EQ(statuses(set, noon + 1s)[1].ejected_until, noon + 5s);
    EXPECT_EQ(statuses(set, noon + 1s)[1].resting_until, noon + 30s);
    EXPECT_EQ(succeed_at(set, dice, 1, 1, 0s, noon + 30s - 1ns), 0);
    EXPECT_EQ(succeed_at(set, dice, 1, 1, 0s, noon + 30s), 1);
}

TEST(endpoint_set, decision_81_the_latest_choice_is_a_time_too) {
    endpoint_set<int> set({1, 2}, eager);
    random dice(1);
    EXPECT_EQ(fail_at(set, dice, 1, 3), 3);
    auto const leave_and_return_at = [&](time_point when) {
        set.assign({2}, (time_point::min)());
        endpoint_operation(set, dice).begin(when);
        set.assign({1, 2}, (time_point::min)());
        return statuses(set, noon)[1].state;
    };
    EXPECT_EQ(leave_and_return_at(noon + 1s), breaker_state::open);
    EXPECT_EQ(leave_and_return_at(noon + 61s), breaker_state::closed);
}

TEST(endpoint_set, decision_81_a_forgotten_endpoint_dies_with_the_next_list) {
    endpoint_set<std::shared_ptr<int>> set({std::make_shared<int>(1)}, {.remembered = 10s});
    std::weak_ptr<int> endpoint;
    set.for_each([&](std::shared_ptr<int> const& each, endpoint_status const&) { endpoint = each; });
    auto const other = std::make_shared<int>(2);
    set.assign({other}, noon);
    set.assign({other}, noon + 10s - 1ns);
    EXPECT_FALSE(endpoint.expired());
    set.assign({other}, noon + 10s);
    EXPECT_TRUE(endpoint.expired());
}

TEST(endpoint_set, attempts_outlive_their_endpoint_in_the_set) {
    endpoint_set<std::shared_ptr<int>> set({std::make_shared<int>(1)}, forgetful);
    std::weak_ptr<int> endpoint;
    set.for_each([&](std::shared_ptr<int> const& each, endpoint_status const&) { endpoint = each; });
    random dice(1);
    {
        detail::endpoint_choice one(detail::endpoint_access::table(set));
        one.draw_from(dice);
        EXPECT_EQ(one.choose(1, noon).until, noon);
        set.assign({std::make_shared<int>(2)});
        EXPECT_EQ(detail::endpoint_access::value<std::shared_ptr<int>>(*one.at(1)), endpoint.lock());
        for (std::uint64_t i = 1; i < 10; ++i) { // it fails, and nobody minds
            attempt_end end = failure(failure_kind::transient, noon);
            end.number = i;
            one.on_end(end);
            EXPECT_EQ(one.choose(i + 1, noon).until, noon);
            attempt_end success_of_other = success(noon);
            success_of_other.number = i + 1;
            one.on_end(success_of_other);
        }
        EXPECT_FALSE(endpoint.expired()) << "it has been tried";
    }
    EXPECT_TRUE(endpoint.expired());
    set.for_each([](std::shared_ptr<int> const& each, endpoint_status const& status) {
        EXPECT_EQ(*each, 2);
        EXPECT_EQ(status.rate, 0);
    });
}

// One that logs its end, say, with how many there are.
TEST(endpoint_set, an_endpoint_that_goes_may_use_the_set) {
    struct last_words {
        int name;
        std::shared_ptr<std::function<void()>> say;
        bool operator==(last_words const& other) const { return name == other.name; }
    };
    int seen = 0;
    std::unique_ptr<endpoint_set<last_words>> set;
    set = std::make_unique<endpoint_set<last_words>>(
        std::vector<last_words>{{1, std::shared_ptr<std::function<void()>>(
                                        new std::function<void()>([] {}),
                                        [&](auto* call) {
                                            delete call;
                                            set->for_each([&](last_words const& each, endpoint_status const&) {
                                                seen = each.name;
                                            });
                                            set->assign({{3, nullptr}});
                                        })}},
        forgetful);
    set->assign({{2, nullptr}});
    EXPECT_EQ(seen, 2);
}

struct only_equal {
    int number;
    friend bool operator==(only_equal, only_equal) = default;
};
struct only_less {
    int number;
    friend bool operator<(only_less a, only_less b) { return a.number < b.number; }
};

template <typename Endpoint>
std::vector<Endpoint> endpoints(std::vector<int> const& numbers) {
    std::vector<Endpoint> all;
    for (int number : numbers)
        all.push_back(Endpoint{number});
    return all;
}

template <typename Endpoint>
void refuses_duplicates() {
    auto const make = [](std::vector<int> const& numbers) {
        return [=] { endpoint_set<Endpoint> set(endpoints<Endpoint>(numbers)); };
    };
    EXPECT_THAT(calling(make({1, 2, 1})),
                refuses_option("endpoint_set.endpoints[2]", "endpoints[0]", "must not be there twice"));
    EXPECT_THAT(calling(make({5, 4, 3, 3, 4, 5})),
                refuses_option("endpoint_set.endpoints[3]", "endpoints[2]", "must not be there twice"));
    EXPECT_THAT(calling(make({5, 5, 5})),
                refuses_option("endpoint_set.endpoints[1]", "endpoints[0]", "must not be there twice"));
    endpoint_set<Endpoint> set(endpoints<Endpoint>({3, 1, 2}));
    EXPECT_THAT(calling([&] { set.assign(endpoints<Endpoint>({7, 7})); }),
                refuses_option("endpoint_set.endpoints[1]", "endpoints[0]", "must not be there twice"));
    EXPECT_THAT(calling([&] { set.assign({}); }),
                refuses_option("endpoint_set.endpoints", "empty", "must have an endpoint"));
    std::vector<int> seen;
    set.for_each([&](Endpoint const& each, endpoint_status const&) { seen.push_back(each.number); });
    EXPECT_THAT(seen, elements(3, 1, 2)) << "it is unchanged";
}

TEST(endpoint_set, decision_04_refuses_duplicates_and_an_empty_list) {
    refuses_duplicates<only_equal>();
    refuses_duplicates<only_less>();
    EXPECT_THAT(calling([] { endpoint_set<int> set({}); }),
                refuses_option("endpoint_set.endpoints", "empty", "must have an endpoint"));
    EXPECT_THAT(calling([] { endpoint_set<int> set({}, {.slow_least = 0}); }),
                refuses_option("endpoint_set.slow_least", "0", "must be positive"));
}

TEST(endpoint_set, decision_04_refuses_nonsense) {
    auto const with = [](endpoint_options const& options) {
        return [=] { endpoint_set<int> set({1, 2}, options); };
    };
    for (double share : {-0.1, 1.1, nan, infinity, -infinity})
        EXPECT_THAT(calling(with({.greatest_ejected = share})), refuses("endpoint_set.greatest_ejected"));
    for (double factor : {1.0, 0.0, -4.0, nan, infinity, -infinity})
        EXPECT_THAT(calling(with({.slow_factor = factor})), refuses("endpoint_set.slow_factor"));
    EXPECT_THAT(calling(with({.greatest_ejected = 1.5})),
                refuses_option("endpoint_set.greatest_ejected", "1.5", "must be in [0, 1]"));
    EXPECT_THAT(calling(with({.slow_factor = 1})),
                refuses_option("endpoint_set.slow_factor", "1", "must be finite and more than 1"));
    EXPECT_THAT(calling(with({.slow_least = 0})),
                refuses_option("endpoint_set.slow_least", "0", "must be positive"));
    EXPECT_THAT(calling(with({.remembered = -1ns})),
                refuses_option("endpoint_set.remembered", "-1ns", "must not be negative"));
    EXPECT_THAT(calling(with({.breaker = {.probes = 0}})), refuses("circuit_breaker.probes"));
    endpoint_set<int> const allowed({1, 2},
                                    {.greatest_ejected = 1, .slow_factor = 1e300, .slow_least = 0xffffffff});
    endpoint_set<int> const least({1, 2}, {.greatest_ejected = 0, .slow_factor = 1.001, .slow_least = 1});
}

TEST(endpoint_set, times_beyond_the_clock_are_refused_for_good) {
    endpoint_set<int> set(
        {1, 2}, {.breaker = {.consecutive = 1, .open_for = duration::max(), .open_cap = duration::max()}});
    random dice(1);
    fail_at(set, dice, 1, 1);
    fail_at(set, dice, 2, 1);
    endpoint_operation one(set, dice);
    EXPECT_FALSE(one.begin(noon + 1h));
    EXPECT_EQ(one.answer.until, time_point::max());
}

} // namespace
} // namespace asio_retry::test
