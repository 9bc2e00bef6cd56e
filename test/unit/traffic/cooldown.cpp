#include <asio_retry/traffic/cooldown.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

attempt_end told(pushback said, time_point now) {
    attempt_end end = failure(failure_kind::throttled, now);
    end.said = said;
    return end;
}

TEST(cooldown, nobody_begins_while_the_peer_has_asked_for_a_pause) {
    cooldown pause;
    EXPECT_TRUE(pause.measures_time());
    EXPECT_EQ(pause.until(), time_point::min());
    EXPECT_EQ(pause.admit(1, noon).until, noon);
    pause.on_end(told(pushback::after(5s), noon));
    EXPECT_EQ(pause.until(), noon + 5s);
    EXPECT_EQ(pause.admit(1, noon).until, noon + 5s);
    EXPECT_EQ(pause.admit(2, noon + 5s - 1ns).refusal, error::cooling_down);
    EXPECT_EQ(pause.admit(2, noon + 5s).until, noon + 5s) << "begin";
}

TEST(cooldown, the_latest_end_counts) {
    cooldown pause;
    pause.on_end(told(pushback::after(5s), noon));
    pause.on_end(told(pushback::after(1s), noon + 1s));
    EXPECT_EQ(pause.until(), noon + 5s);
    pause.on_end(told(pushback::after(5s), noon + 1s));
    EXPECT_EQ(pause.until(), noon + 6s);
}

TEST(cooldown, a_hostile_peer_gets_the_greatest_pause) {
    cooldown pause;
    pause.on_end(told(pushback::after(duration::max()), noon));
    EXPECT_EQ(pause.until(), noon + 60s);
    cooldown endless({.greatest = duration::max()});
    endless.on_end(told(pushback::after(duration::max()), noon));
    EXPECT_EQ(endless.until(), time_point::max());
}

TEST(cooldown, what_says_no_time_begins_no_pause) {
    cooldown pause;
    pause.on_end(told(pushback(), noon));
    pause.on_end(told(pushback::never(), noon));
    pause.on_end(told(pushback::after(0s), noon));
    attempt_end end = abandoned();
    end.said = pushback::after(5s);
    pause.on_end(end);
    end = success(noon);
    end.said = pushback::after(5s);
    pause.on_end(end);
    EXPECT_EQ(pause.until(), time_point::min());
}

/// When attempts that are refused together are to come back, in order and counted from noon.
std::vector<duration> returns_after(cooldown& pause, int count = 1000) {
    std::vector<duration> times;
    for (int i = 0; i < count; ++i)
        times.push_back(pause.admit(1, noon + 1ms).until - noon);
    std::ranges::sort(times);
    return times;
}

/// The same, in a cooldown that begins at noon.
std::vector<duration> returns_after(cooldown& pause, duration length, int count = 1000) {
    pause.on_end(told(pushback::after(length), noon));
    return returns_after(pause, count);
}

TEST(cooldown, decision_67_what_it_held_back_comes_back_spread) {
    for (duration const length : {1s, 5s, 60s}) {
        cooldown pause;
        auto const times = returns_after(pause, length);
        EXPECT_EQ(times.front(), length) << "the first one at once";
        EXPECT_GT(times.back(), length * 1.24);
        EXPECT_LT(times.back(), length * 1.25);
        double const even = 10ms / (length * 0.25) * 1000;
        for (std::size_t i = 0; i < times.size(); ++i) {
            auto const end = std::ranges::lower_bound(times, times[i] + 10ms);
            EXPECT_LE(end - times.begin() - static_cast<std::ptrdiff_t>(i), std::min(50.0, even + 3))
                << length / 1s;
        }
    }
}

TEST(cooldown, decision_67_few_come_back_spread_too) {
    cooldown pause;
    auto const times = returns_after(pause, 4s, 5);
    for (std::size_t i = 1; i < times.size(); ++i)
        EXPECT_GT(times[i] - times[i - 1], 100ms) << "of a second for five";
}

TEST(cooldown, decision_67_whoever_was_not_refused_begins_when_it_is_over) {
    cooldown pause;
    returns_after(pause, 5s);
    EXPECT_GT(pause.admit(1, noon + 5s - 1ns).until, noon + 5s - 1ns);
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(pause.admit(1, noon + 5s).until, noon + 5s);
}

TEST(cooldown, the_spread_is_a_share_of_the_latest_one) {
    cooldown pause({.spread = 1});
    EXPECT_GT(returns_after(pause, 5s).back(), 9990ms);
    pause.on_end(told(pushback::after(1s), noon + 1s));
    EXPECT_GT(returns_after(pause).back(), 9990ms) << "it ends later";
    pause.on_end(told(pushback::after(2s), noon + 4s));
    auto const times = returns_after(pause);
    EXPECT_GE(times.front(), 6s);
    EXPECT_LT(times.back(), 8s);
    cooldown together({.spread = 0});
    EXPECT_EQ(returns_after(together, 5s).back(), 5s);
    cooldown endless({.greatest = duration::max(), .spread = 1});
    EXPECT_EQ(returns_after(endless, duration::max()).back(), time_point::max() - noon);
    cooldown hostile({.spread = 1});
    EXPECT_LT(returns_after(hostile, 24h).back(), 120s);
}

TEST(cooldown, decision_04_refuses_nonsense) {
    EXPECT_THAT(calling([] { cooldown({.greatest = 0s}); }),
                refuses_option("cooldown.greatest", "0s", "must be positive"));
    EXPECT_THAT(calling([] { cooldown({.greatest = -1s}); }),
                refuses_option("cooldown.greatest", "-1s", "must be positive"));
    for (double const spread : {-0.1, 1.1, nan, infinity})
        EXPECT_THAT(calling([&] { cooldown({.spread = spread}); }), refuses("cooldown.spread"));
    EXPECT_THAT(calling([] { cooldown({.spread = 1.1}); }),
                refuses_option("cooldown.spread", "1.1", "must be in [0, 1]"));
}

} // namespace
} // namespace asio_retry::test
