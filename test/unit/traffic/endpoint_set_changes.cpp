#include <asio_retry/traffic/endpoint_set.hpp>

#include "support/attempt_ends.hpp"
#include "support/elements.hpp"
#include "support/endpoint_operation.hpp"
#include "support/gate_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// What an endpoint set tells of the breakers of its endpoints.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// Two endpoints, whose breakers open at the first failure and close at the first success of a probe.
class set_that_tells : public testing::Test {
protected:
    static endpoint_options options() {
        return {.breaker = {.consecutive = 1, .open_for = 5s, .open_spread = 0, .probes = 1}};
    }

    std::function<void(int const&, breaker_state, breaker_state, time_point)> listener() {
        return [this](int endpoint, breaker_state from, breaker_state to, time_point now) {
            told.push_back(std::to_string(endpoint) + ": " + std::string(to_string(from)) + ", " +
                           std::string(to_string(to)) + " at " + std::to_string((now - noon) / 1s));
            if (also)
                also(endpoint, to, now);
        };
    }

    /// Attempts of one operation at all endpoints.
    void fail_all(time_point now) {
        endpoint_operation one(set, dice);
        while (one.begin(now))
            one.fail(now);
    }

    random dice{1};
    std::vector<std::string> told;
    std::function<void(int endpoint, breaker_state to, time_point now)> also;
    endpoint_set<int> set{{7}, options(), listener()};
};

TEST_F(set_that_tells, decision_67_which_endpoint_has_changed) {
    fail_all(noon);
    endpoint_operation probe(set, dice);
    EXPECT_FALSE(probe.begin(noon + 4s));
    EXPECT_EQ(probe.begin(noon + 5s), 7);
    probe.fail(noon + 6s, 1s);
    EXPECT_EQ(probe.begin(noon + 16s), 7);
    probe.succeed(noon + 17s, 1s);
    EXPECT_THAT(told, elements("7: closed, open at 0", "7: open, half_open at 5", "7: half_open, open at 6",
                               "7: open, half_open at 16", "7: half_open, closed at 17"));

    told.clear();
    set.assign({8, 7, 9});
    fail_all(noon + 20s);
    EXPECT_THAT(told, testing::UnorderedElementsAre("7: closed, open at 20", "8: closed, open at 20",
                                                    "9: closed, open at 20"));
}

TEST_F(set_that_tells, decision_67_without_its_locks) {
    also = [&](int endpoint, breaker_state to, time_point now) {
        set.for_each(
            [&](int each, endpoint_status const& status) {
                EXPECT_EQ(status.state, each == endpoint ? to : breaker_state::closed);
            },
            now);
        set.assign({endpoint, 100 + endpoint});
        endpoint_operation another(set, dice);
        EXPECT_EQ(another.begin(now), 100 + endpoint) << "the new one: the other has just opened, or is probed";
        if (to == breaker_state::closed)
            set.assign({1});
    };
    endpoint_operation one(set, dice);
    EXPECT_EQ(one.begin(noon), 7);
    one.fail(noon);
    EXPECT_EQ(one.begin(noon + 5s), 107) << "not tried yet";
    one.abandon(noon + 5s);
    for (int i = 0; i < 100 && told.size() == 1; ++i) // of two that may be asked
        endpoint_operation(set, dice).begin(noon + 6s);
    EXPECT_THAT(told, elements("7: closed, open at 0", "7: open, half_open at 6"));
}

TEST_F(set_that_tells, also_of_an_endpoint_that_it_no_longer_has) {
    endpoint_operation one(set, dice);
    EXPECT_EQ(one.begin(noon), 7);
    set.assign({8});
    one.fail(noon);
    EXPECT_THAT(told, elements("7: closed, open at 0"));
}

TEST_F(set_that_tells, decision_67_whoever_throws_and_goes_on) {
    also = [](int, breaker_state, time_point) { throw std::runtime_error("in on_change"); };
    fail_all(noon);
    endpoint_operation probe(set, dice);
    EXPECT_EQ(probe.begin(noon + 5s), 7);
    probe.succeed(noon + 5s);
    EXPECT_EQ(told.size(), 3u);
    EXPECT_EQ(statuses(set, noon + 5s)[7].state, breaker_state::closed);
    EXPECT_EQ(statuses(set, noon + 5s)[7].in_flight, 0u);
}

TEST_F(set_that_tells, first_whoever_listens_to_all_breakers) {
    endpoint_options both = options();
    both.breaker.on_change = [&](breaker_state, breaker_state to, time_point) {
        told.push_back("a breaker is " + std::string(to_string(to)));
    };
    auto const open = [&](endpoint_set<int>& one) {
        endpoint_operation failing(one, dice);
        failing.begin(noon);
        failing.fail(noon);
    };
    endpoint_set<int> with_both({3}, both, listener());
    open(with_both);
    EXPECT_THAT(told, elements("a breaker is open", "3: closed, open at 0"));
    endpoint_set<int> with_one({3}, both);
    open(with_one);
    EXPECT_EQ(told.back(), "a breaker is open");
    EXPECT_EQ(told.size(), 3u);
}

// The operations go on, with the endpoints that they have.
TEST_F(set_that_tells, may_be_destroyed_before_its_attempts) {
    auto own = std::make_unique<endpoint_set<int>>(std::vector<int>{5}, options(), listener());
    endpoint_operation one(*own, dice);
    EXPECT_EQ(one.begin(noon), 5);
    own.reset();
    one.fail(noon);
    EXPECT_THAT(told, elements("5: closed, open at 0"));
}

} // namespace
} // namespace asio_retry::test
