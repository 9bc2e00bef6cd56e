#include <asio_retry/traffic/cooldown.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(cooldown, decision_04_refuses_nonsense) {
    EXPECT_THAT(calling([] { cooldown({.greatest = 0s}); }),
                refuses_option("cooldown.greatest", "0s", "must be positive"));
    EXPECT_THAT(calling([] { cooldown({.greatest = -1s}); }),
                refuses_option("cooldown.greatest", "-1s", "must be positive"));
}

} // namespace
} // namespace asio_retry::test
