#include <asio_retry/traffic/circuit_breaker.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

// What a breaker tells of its changes.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct told_change {
    breaker_state from, to;
    time_point now;
    friend bool operator==(told_change const&, told_change const&) = default;
};

/// Opens at the first failure, for five seconds, and closes at the first success of a probe.
class breaker_that_tells : public testing::Test {
protected:
    static constexpr auto closed = breaker_state::closed;
    static constexpr auto opened = breaker_state::open;
    static constexpr auto half_open = breaker_state::half_open;
    static constexpr auto isolated = breaker_state::isolated;

    circuit_breaker_options options() {
        return {.consecutive = 1, .open_for = 5s, .open_spread = 0, .probes = 1, .on_change = listener()};
    }

    std::function<void(breaker_state, breaker_state, time_point)> listener() {
        return [this](breaker_state from, breaker_state to, time_point now) {
            told.push_back({from, to, now});
            if (also)
                also(to, now);
        };
    }

    void fail_at(time_point now) { breaker.on_end(failure(failure_kind::transient, now)); }

    std::vector<told_change> told;
    std::function<void(breaker_state to, time_point now)> also;
    circuit_breaker breaker{options()};
};

TEST_F(breaker_that_tells, decision_67_each_change_of_its_state) {
    fail_at(noon);
    EXPECT_THAT(told, ElementsAre(told_change{closed, opened, noon}));
    EXPECT_EQ(breaker.state(noon + 6s), half_open);
    EXPECT_EQ(told.size(), 1u) << "to ask changes nothing";
    EXPECT_EQ(breaker.admit(1, noon + 7s).until, noon + 7s);
    fail_at(noon + 8s);
    EXPECT_EQ(breaker.admit(1, noon + 18s).until, noon + 18s);
    breaker.on_end(success(noon + 19s));
    breaker.isolate(noon + 20s);
    breaker.reset(noon + 21s);
    EXPECT_THAT(
        told, ElementsAre(told_change{closed, opened, noon}, told_change{opened, half_open, noon + 7s},
                          told_change{half_open, opened, noon + 8s}, told_change{opened, half_open, noon + 18s},
                          told_change{half_open, closed, noon + 19s}, told_change{closed, isolated, noon + 20s},
                          told_change{isolated, closed, noon + 21s}));
}

TEST_F(breaker_that_tells, nothing_where_the_state_stays) {
    breaker.reset(noon);
    EXPECT_EQ(breaker.admit(1, noon).until, noon);
    breaker.on_end(success(noon));
    breaker.on_end(abandoned_since(noon));
    EXPECT_THAT(told, IsEmpty());
    fail_at(noon);
    fail_at(noon);
    EXPECT_GT(breaker.admit(1, noon + 1s).until, noon + 1s);
    EXPECT_EQ(breaker.admit(1, noon + 5s).until, noon + 5s);
    EXPECT_GT(breaker.admit(1, noon + 5s).until, noon + 5s) << "a probe runs";
    breaker.on_end(abandoned_since(noon + 5s));
    EXPECT_EQ(told.size(), 2u);
    breaker.isolate(noon + 6s);
    breaker.isolate(noon + 7s);
    EXPECT_EQ(told.size(), 3u);
}

TEST_F(breaker_that_tells, no_time_where_nobody_gave_one) {
    breaker.isolate();
    breaker.reset();
    EXPECT_THAT(told, ElementsAre(told_change{closed, isolated, time_point()},
                                  told_change{isolated, closed, time_point()}));
}

TEST_F(breaker_that_tells, decision_67_without_its_lock) {
    also = [&](breaker_state to, time_point now) {
        EXPECT_EQ(breaker.state(now), to);
        EXPECT_GE(breaker.open_until(now), now);
        EXPECT_GE(breaker.failure_share(now), 0);
        breaker.update(options());
        if (to == opened)
            breaker.isolate(now + 1s);
        else if (to == isolated)
            breaker.reset(now + 1s);
        else if (breaker.admit(1, now).until <= now)
            breaker.on_end(abandoned_since(now));
    };
    fail_at(noon);
    EXPECT_THAT(told, ElementsAre(told_change{closed, opened, noon}, told_change{opened, isolated, noon + 1s},
                                  told_change{isolated, closed, noon + 2s}))
        << "in the order of the changes";
    EXPECT_EQ(breaker.state(noon + 2s), closed);
}

TEST_F(breaker_that_tells, decision_67_whoever_throws_and_goes_on) {
    also = [](breaker_state, time_point) { throw std::runtime_error("in on_change"); };
    fail_at(noon);
    EXPECT_EQ(breaker.state(noon), opened);
    EXPECT_EQ(breaker.admit(1, noon + 5s).until, noon + 5s);
    breaker.on_end(success(noon + 5s));
    breaker.isolate(noon + 6s);
    breaker.reset(noon + 7s);
    EXPECT_EQ(told.size(), 5u);
    EXPECT_EQ(breaker.state(noon + 7s), closed);
}

TEST_F(breaker_that_tells, decision_67_what_state_says_before_and_after) {
    std::mt19937_64 dice(1);
    std::vector<time_point> running;
    breaker_state known = closed;
    time_point now = noon;
    auto const is_known_as = [&](breaker_state state) {
        return state == known || (state == half_open && known == opened); // until a probe begins
    };
    std::size_t changes = 0;
    for (int step = 0; step < 100'000; ++step, told.clear()) {
        now += duration(dice() % 1'000'000'000);
        ASSERT_TRUE(is_known_as(breaker.state(now))) << "before step " << step;
        auto const which = dice() % 100;
        if (which == 0) {
            breaker.isolate(now);
        } else if (which < 3) {
            breaker.reset(now);
        } else if (running.empty() || which < 50) {
            if (breaker.admit(1, now).until <= now)
                running.push_back(now);
        } else {
            std::swap(running[dice() % running.size()], running.back());
            breaker.on_end(dice() % 4 == 0   ? abandoned_since(running.back())
                           : dice() % 2 == 0 ? failure(failure_kind::timeout, now, now - running.back())
                                             : success(now, now - running.back()));
            running.pop_back();
        }
        ASSERT_LE(told.size(), 1u) << step;
        for (told_change const& one : told) {
            ASSERT_EQ(one.from, known) << step;
            ASSERT_NE(one.to, known) << step;
            ASSERT_EQ(one.now, now) << step;
            known = one.to;
            ++changes;
        }
        ASSERT_TRUE(is_known_as(breaker.state(now))) << "after step " << step;
    }
    EXPECT_GT(changes, 5'000u);
}

} // namespace
} // namespace asio_retry::test
