#include <asio_retry/traffic/circuit_breaker.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

// Options that change while attempts run.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

void end_many(circuit_breaker& breaker, int failures, int successes, time_point now) {
    for (int i = 0; i < successes; ++i)
        breaker.on_end(success(now));
    for (int i = 0; i < failures; ++i)
        breaker.on_end(failure(failure_kind::transient, now));
}

bool begins(circuit_breaker& breaker, time_point now) {
    return breaker.admit(1, now).until <= now;
}

TEST(updated_breaker, keeps_what_ended_and_opens_by_the_new_rules) {
    circuit_breaker breaker({.min_attempts = 20});
    end_many(breaker, 19, 0, noon);
    breaker.update({.min_attempts = 22});
    EXPECT_EQ(breaker.failure_share(noon), 1);
    end_many(breaker, 2, 0, noon);
    EXPECT_EQ(breaker.state(noon), breaker_state::closed) << "21 of 22";
    breaker.update({.min_attempts = 2});
    EXPECT_EQ(breaker.state(noon), breaker_state::closed);
    end_many(breaker, 0, 1, noon);
    EXPECT_EQ(breaker.state(noon), breaker_state::open) << "at the next end, and one is enough";

    circuit_breaker in_row;
    end_many(in_row, 3, 0, noon);
    in_row.update({.consecutive = 4});
    end_many(in_row, 1, 0, noon + 1h);
    EXPECT_EQ(in_row.state(noon + 1h), breaker_state::open);
}

TEST(updated_breaker, opens_no_shorter_than_the_new_options_say) {
    circuit_breaker breaker({.consecutive = 1, .open_for = 1s, .growth = 1, .open_spread = 0});
    end_many(breaker, 1, 0, noon);
    breaker.update({.consecutive = 1, .open_for = 30s, .growth = 1, .open_spread = 0});
    EXPECT_EQ(breaker.open_until(noon), noon + 1s) << "as it has said";
    EXPECT_TRUE(begins(breaker, noon + 1s));
    end_many(breaker, 1, 0, noon + 2s);
    EXPECT_EQ(breaker.open_until(noon + 2s), noon + 32s);
}

TEST(updated_breaker, remembers_as_much_as_the_new_window_holds) {
    circuit_breaker breaker({.window = 10s});
    end_many(breaker, 1, 0, noon);
    end_many(breaker, 0, 1, noon + 5s);
    breaker.update({.window = 1min});
    EXPECT_EQ(breaker.failure_share(noon + 40s), 0.5) << "for longer from now on";
    breaker.update({.window = 10s});
    EXPECT_EQ(breaker.failure_share(noon + 5s), 0.5) << "both ended in the same slot of six seconds";
    EXPECT_EQ(breaker.failure_share(noon + 10s), 0);
    end_many(breaker, 1, 0, noon + 8s);
    breaker.update({.window = 3s});
    EXPECT_EQ(breaker.failure_share(noon + 8s), 1) << "the others are too old";
}

TEST(updated_breaker, remembers_as_many_as_the_new_number) {
    circuit_breaker breaker({.failure_rate = 1, .last = 8});
    end_many(breaker, 4, 0, noon);
    end_many(breaker, 3, 1, noon);
    EXPECT_EQ(breaker.failure_share(noon), 7 / 8.0);
    breaker.update({.failure_rate = 1, .last = 4});
    EXPECT_EQ(breaker.failure_share(noon), 0.75) << "the last four";
    breaker.update({.failure_rate = 1, .last = 10});
    EXPECT_EQ(breaker.failure_share(noon), 0.75) << "and they are all that it knows";
    end_many(breaker, 0, 4, noon);
    EXPECT_EQ(breaker.failure_share(noon), 3 / 8.0);
}

TEST(updated_breaker, forgets_where_a_number_replaces_a_time) {
    circuit_breaker breaker;
    end_many(breaker, 1, 0, noon);
    breaker.update({.last = 4});
    EXPECT_EQ(breaker.failure_share(noon), 0);
    end_many(breaker, 1, 0, noon);
    breaker.update({});
    EXPECT_EQ(breaker.failure_share(noon), 0);
}

TEST(updated_breaker, stays_open_until_the_time_that_it_named) {
    circuit_breaker breaker({.consecutive = 1, .open_for = 5s, .open_spread = 0, .probes = 1});
    end_many(breaker, 1, 0, noon);
    breaker.update(
        {.consecutive = 1, .open_for = 1s, .growth = 1, .open_cap = 2s, .open_spread = 0, .probes = 1});
    EXPECT_EQ(breaker.open_until(noon), noon + 5s);
    EXPECT_TRUE(begins(breaker, noon + 5s));
    end_many(breaker, 1, 0, noon + 5s);
    EXPECT_EQ(breaker.open_until(noon + 5s), noon + 7s) << "the new cap";
    EXPECT_TRUE(begins(breaker, noon + 7s));
    end_many(breaker, 0, 1, noon + 7s);
    end_many(breaker, 1, 0, noon + 8s);
    EXPECT_EQ(breaker.open_until(noon + 8s), noon + 9s) << "the new time of a new outage";
    breaker.reset();
    breaker.update({.consecutive = 1, .open_for = 30s, .open_spread = 0});
    end_many(breaker, 1, 0, noon + 8s);
    EXPECT_EQ(breaker.open_until(noon + 8s), noon + 38s);
}

TEST(updated_breaker, keeps_the_places_of_running_probes) {
    circuit_breaker breaker({.consecutive = 1, .probes = 2});
    end_many(breaker, 1, 0, noon);
    EXPECT_TRUE(begins(breaker, noon + 5s));
    EXPECT_TRUE(begins(breaker, noon + 6s));
    EXPECT_FALSE(begins(breaker, noon + 6s));
    breaker.update({.consecutive = 1, .probes = 4});
    EXPECT_TRUE(begins(breaker, noon + 7s));
    EXPECT_TRUE(begins(breaker, noon + 7s));
    EXPECT_FALSE(begins(breaker, noon + 7s));
    breaker.update({.consecutive = 1, .probes = 2});
    for (duration const began : {7s, 7s, 6s}) {
        EXPECT_FALSE(begins(breaker, noon + 8s));
        EXPECT_EQ(breaker.open_until(noon + 8s), noon + 65s) << "while two run, and one of those is the oldest";
        breaker.on_end(abandoned_since(noon + began));
    }
    EXPECT_TRUE(begins(breaker, noon + 8s)) << "one runs";
    breaker.on_end(success(noon + 9s, 1s));
    breaker.on_end(success(noon + 9s, 4s));
    EXPECT_EQ(breaker.state(noon + 9s), breaker_state::closed);
}

TEST(updated_breaker, closes_after_one_more_probe_where_enough_have_succeeded) {
    circuit_breaker breaker({.consecutive = 1, .probes = 3});
    end_many(breaker, 1, 0, noon);
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(begins(breaker, noon + 5s));
        breaker.on_end(success(noon + 5s));
    }
    breaker.update({.consecutive = 1, .probes = 1});
    EXPECT_EQ(breaker.state(noon + 5s), breaker_state::half_open);
    EXPECT_EQ(breaker.open_until(noon + 5s), noon + 5s);
    EXPECT_TRUE(begins(breaker, noon + 5s));
    EXPECT_FALSE(begins(breaker, noon + 5s));
    breaker.on_end(success(noon + 5s));
    EXPECT_EQ(breaker.state(noon + 5s), breaker_state::closed);
}

TEST(updated_breaker, stays_isolated) {
    circuit_breaker breaker;
    breaker.isolate();
    breaker.update({.consecutive = 1});
    EXPECT_EQ(breaker.state(noon), breaker_state::isolated);
    breaker.reset();
    end_many(breaker, 1, 0, noon);
    EXPECT_EQ(breaker.state(noon), breaker_state::open);
}

TEST(updated_breaker, decision_04_refuses_nonsense_and_changes_nothing) {
    int told = 0;
    circuit_breaker breaker({.consecutive = 2, .on_change = [&](auto...) { ++told; }});
    end_many(breaker, 1, 0, noon);
    EXPECT_THAT(
        calling([&] { breaker.update({.consecutive = 1, .open_cap = 1s}); }),
        refuses_option("circuit_breaker.open_cap", "1s", "must not be less than open_for, which is 5s"));
    EXPECT_THAT(calling([&] { breaker.update({.last = 1'000'001}); }), refuses("circuit_breaker.last"));
    EXPECT_THAT(calling([&] { breaker.update({.open_spread = 2}); }), refuses("circuit_breaker.open_spread"));
    EXPECT_EQ(breaker.failure_share(noon), 1);
    end_many(breaker, 1, 0, noon);
    EXPECT_EQ(breaker.state(noon), breaker_state::open) << "two in a row";
    EXPECT_EQ(told, 1);
}

// A listener's last owner may ask the breaker, as one that writes a log does.
struct asks_as_it_goes {
    explicit asks_as_it_goes(std::function<void()> f)
        : ask(std::move(f)) {}
    asks_as_it_goes(asks_as_it_goes const&) = delete;
    asks_as_it_goes& operator=(asks_as_it_goes const&) = delete;
    ~asks_as_it_goes() { ask(); }
    std::function<void()> ask;
};

TEST(updated_breaker, decision_67_tells_the_listener_that_it_has_now) {
    int asked = 0, first = 0, second = 0;
    circuit_breaker breaker;
    auto const owner = [&] {
        return std::make_shared<asks_as_it_goes>(
            [&] { asked += breaker.state(noon) == breaker_state::isolated; });
    };
    breaker.update({.on_change = [&, kept = owner()](auto...) {
        ++first;
        breaker.update({.on_change = [&](auto...) { ++second; }}); // from inside
        EXPECT_EQ(asked, 0) << "it still runs";
    }});
    breaker.isolate(noon);
    EXPECT_EQ(first, 1);
    EXPECT_EQ(asked, 1) << "when it has returned, and without a lock";
    breaker.reset(noon);
    EXPECT_EQ(second, 1);
    breaker.update({});
    breaker.isolate(noon);
    EXPECT_EQ(first + second, 2);
}

} // namespace
} // namespace asio_retry::test
