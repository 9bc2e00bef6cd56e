#include <asio_retry/traffic/endpoint_set.hpp>

#include "support/attempt_ends.hpp"
#include "support/endpoint_operation.hpp"
#include "support/gate_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>

// What the wish of one server means to an endpoint set.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class endpoint_rest : public testing::Test {
protected:
    static attempt_end wished(duration delay, time_point now) {
        attempt_end end = failure(failure_kind::throttled, now);
        end.said = pushback::after(delay);
        return end;
    }

    /// An attempt at this endpoint ends so.
    void end_at(int endpoint, attempt_end const& end) {
        for (int i = 0; i < 10'000; ++i) {
            endpoint_operation one(set, dice);
            if (one.begin(end.now) == endpoint)
                return one.end(end, 0);
        }
        FAIL() << endpoint << " is not asked";
    }

    /// Who is asked at this time.
    std::set<int> asked(time_point now) {
        std::set<int> all;
        for (int i = 0; i < 1000; ++i)
            if (auto const at = endpoint_operation(set, dice).begin(now))
                all.insert(*at);
        return all;
    }

    endpoint_set<int> set{{1, 2, 3},
                          {.breaker = {.consecutive = 2, .open_spread = 0},
                           .greatest_ejected = 0.5,
                           .remembered = duration::zero()}};
    random dice{1};
};

TEST_F(endpoint_rest, decision_79_an_endpoint_gets_nothing_for_as_long_as_it_wants) {
    end_at(1, wished(30s, noon));
    EXPECT_EQ(statuses(set, noon)[1].resting_until, noon + 30s);
    EXPECT_EQ(statuses(set, noon)[1].ejected_until, time_point::min()) << "it is not ejected";
    EXPECT_EQ(statuses(set, noon)[1].state, breaker_state::closed);
    EXPECT_EQ(statuses(set, noon)[2].resting_until, time_point::min());
    EXPECT_EQ(asked(noon), (std::set{2, 3}));
    EXPECT_EQ(asked(noon + 30s - 1ns), (std::set{2, 3}));
    EXPECT_EQ(asked(noon + 30s), (std::set{1, 2, 3}));
    EXPECT_EQ(statuses(set, noon + 30s)[1].resting_until, time_point::min());
}

TEST_F(endpoint_rest, decision_79_the_latest_of_several_wishes_counts) {
    endpoint_operation first(set, dice), second(set, dice), third(set, dice);
    endpoint_operation* const all[] = {&first, &second, &third};
    set.assign({1});
    for (endpoint_operation* each : all)
        ASSERT_EQ(each->begin(noon), 1);
    first.end(wished(5s, noon), 0);
    second.end(wished(30s, noon), 0);
    third.end(wished(5s, noon + 1s), 0);
    EXPECT_EQ(statuses(set, noon)[1].resting_until, noon + 30s);
    EXPECT_EQ(asked(noon + 30s - 1ns), std::set<int>());
    EXPECT_EQ(asked(noon + 30s), std::set{1});
}

TEST_F(endpoint_rest, decision_79_greatest_ejected_is_no_limit_of_it) {
    end_at(1, wished(30s, noon));
    end_at(2, wished(20s, noon));
    EXPECT_EQ(asked(noon), std::set{3});
    end_at(3, wished(10s, noon));
    endpoint_operation one(set, dice);
    EXPECT_EQ(one.begin(noon), std::nullopt);
    EXPECT_EQ(one.answer.refusal, error::cooling_down);
    EXPECT_EQ(one.answer.until, noon + 10s) << "the earliest";
    EXPECT_EQ(asked(noon + 10s), std::set{3});
    EXPECT_EQ(asked(noon + 20s), (std::set{2, 3}));
}

TEST_F(endpoint_rest, decision_79_who_comes_before_the_time_gets_the_one_that_rests_the_shortest) {
    for (int i : {1, 2, 3})
        end_at(i, wished(i * 10s, noon));
    endpoint_operation one(set, dice);
    EXPECT_EQ(one.begin(noon), std::nullopt);
    EXPECT_EQ(one.begin(noon + 1s), 1);
    one.end(wished(1min, noon + 1s), 0);
    EXPECT_EQ(one.choice.wish(pushback::after(1min), noon + 1s), pushback::after(19s));
    EXPECT_EQ(one.begin(noon + 2s), 2) << "as after a refusal";
    one.succeed(noon + 2s);
    EXPECT_EQ(statuses(set, noon + 2s)[2].resting_until, noon + 20s) << "its server has taken nothing back";
    EXPECT_EQ(endpoint_operation(set, dice).begin(noon + 2s), std::nullopt);
}

// So the limit of a server's wish never adds up the rests of several attempts.
TEST_F(endpoint_rest, decision_79_each_attempt_is_put_off_since_a_time_of_its_own) {
    set.assign({1});
    end_at(1, wished(6s, noon));
    endpoint_operation one(set, dice);
    EXPECT_EQ(one.begin(noon), std::nullopt);
    EXPECT_EQ(one.choice.put_off_since(noon + 6s), noon);
    ASSERT_EQ(one.begin(noon + 6s), 1);
    EXPECT_EQ(one.choice.put_off_since(noon + 7s), noon + 7s) << "it runs";
    one.end(wished(5s, noon + 7s), 0);
    EXPECT_EQ(one.choice.wish(pushback::after(5s), noon + 7s), pushback::after(5s));
    EXPECT_EQ(one.choice.put_off_since(noon + 12s), noon + 7s);
}

TEST_F(endpoint_rest, decision_79_a_wish_says_nothing_of_another_endpoint) {
    endpoint_operation one(set, dice);
    int const first = one.begin(noon).value();
    one.end(wished(30s, noon), 0);
    EXPECT_FALSE(one.choice.wish(pushback::after(30s), noon));
    EXPECT_EQ(one.choice.wish(pushback::after(0s), noon), pushback::after(0s));
    EXPECT_NE(one.begin(noon).value(), first);
}

TEST_F(endpoint_rest, decision_79_only_a_failure_is_a_wish) {
    attempt_end end = success(noon);
    end.said = pushback::after(30s);
    end_at(1, end);
    end = abandoned_since(noon);
    end.said = pushback::after(30s);
    end_at(2, end);
    end = failure(failure_kind::throttled, noon);
    end.said = pushback::never();
    end_at(3, end);
    EXPECT_EQ(asked(noon), (std::set{1, 2, 3}));
}

TEST_F(endpoint_rest, decision_79_a_breaker_and_a_wish_hold_until_the_later_of_both) {
    for (duration const wish : {2s, 30s}) {
        set.assign({4});
        set.assign({1, 2, 3});
        endpoint_operation one(set, dice), other(set, dice);
        set.assign({1});
        ASSERT_EQ(one.begin(noon), 1);
        ASSERT_EQ(other.begin(noon), 1);
        one.fail(noon);
        attempt_end second = wished(wish, noon);
        second.kind = failure_kind::transient;
        other.end(second, 0);
        EXPECT_EQ(statuses(set, noon)[1].ejected_until, noon + 5s);
        EXPECT_EQ(statuses(set, noon)[1].resting_until, noon + wish);
        time_point const back = noon + std::max<duration>(wish, 5s);
        EXPECT_EQ(asked(back - 1ns), std::set<int>());
        EXPECT_EQ(asked(back), std::set{1});
    }
}

TEST_F(endpoint_rest, decision_79_a_slow_one_that_rests_is_no_longer_out_as_slow) {
    endpoint_operation late(set, dice); // runs at all of them
    int number[4] = {};
    for (int i : {1, 2, 3})
        number[late.begin(noon).value()] = i;
    for (int i : {1, 2, 3})
        for (int n = 0; n < 27; ++n)
            end_at(i, success(noon, i == 3 ? 100ms : 10ms));
    ASSERT_EQ(statuses(set, noon)[3].ejected_until, noon + 5s);
    late.end(wished(2s, noon), static_cast<std::uint64_t>(number[3]));
    EXPECT_EQ(statuses(set, noon)[3].ejected_until, time_point::min());
    EXPECT_EQ(asked(noon + 2s - 1ns), (std::set{1, 2}));
    EXPECT_EQ(asked(noon + 2s), (std::set{1, 2, 3}));
}

TEST_F(endpoint_rest, decision_79_those_that_rest_count_as_out_for_slowness) {
    for (int i : {1, 2, 3})
        for (int n = 0; n < 27; ++n)
            end_at(i, success(noon, i == 3 ? 100ms : 10ms));
    end_at(1, wished(2s, noon));
    EXPECT_EQ(asked(noon), (std::set{2, 3})) << "two of three may not be out";
}

TEST_F(endpoint_rest, decision_79_assigning_keeps_the_rest) {
    end_at(1, wished(30s, noon));
    set.assign({1, 4});
    EXPECT_EQ(asked(noon), std::set{4});
    EXPECT_EQ(asked(noon + 30s), (std::set{1, 4}));
}

} // namespace
} // namespace asio_retry::test
