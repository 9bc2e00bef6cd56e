#include <asio_retry/traffic/circuit_breaker.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"
#include "support/traces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

bool admits(circuit_breaker& breaker, time_point now) {
    return breaker.admit(1, now).until <= now;
}

void fail(circuit_breaker& breaker, int times, time_point now, duration took = {}) {
    for (int i = 0; i < times; ++i)
        breaker.on_end(failure(failure_kind::transient, now, took));
}

void succeed(circuit_breaker& breaker, int times, time_point now, duration took = {}) {
    for (int i = 0; i < times; ++i)
        breaker.on_end(success(now, took));
}

/// Opened at noon.
void open(circuit_breaker& breaker) {
    fail(breaker, 20, noon);
    ASSERT_EQ(breaker.state(noon), breaker_state::open);
}

// resilience4j's window of the last calls; its slow calls are longer than a second.
TEST(golden, the_window_of_the_last_attempts_is_that_of_resilience4j) {
    play_traces<circuit_breaker>(
        "breaker_count_window.csv", 1669,
        [](csv_row const& row) {
            return circuit_breaker_options{.failure_rate = std::stod(row.at("failure_rate")),
                                           .min_attempts =
                                               static_cast<std::uint32_t>(std::stoul(row.at("min_attempts"))),
                                           .last = static_cast<std::uint32_t>(std::stoul(row.at("last"))),
                                           .slow_rate = std::stod(row.at("slow_rate")),
                                           .slow = 1s};
        },
        [](circuit_breaker& breaker, csv_row const& row) {
            duration const took = row.at("slow") == "true" ? 1s + 1ns : 1s;
            time_point const now = noon + std::chrono::seconds(std::stoi(row.at("step")));
            breaker.on_end(row.at("failed") == "true" ? failure(failure_kind::transient, now, took)
                                                      : success(now, took));
            ASSERT_EQ(breaker.state(now),
                      row.at("open") == "true" ? breaker_state::open : breaker_state::closed);
        });
}

TEST(circuit_breaker, opens_at_half_of_twenty) {
    circuit_breaker breaker({.open_spread = 0});
    EXPECT_TRUE(breaker.measures_time());
    succeed(breaker, 10, noon);
    fail(breaker, 9, noon);
    EXPECT_EQ(breaker.state(noon), breaker_state::closed) << "nineteen";
    EXPECT_TRUE(admits(breaker, noon));
    fail(breaker, 1, noon);
    EXPECT_EQ(breaker.state(noon), breaker_state::open);
    admission const refused = breaker.admit(1, noon + 1s);
    EXPECT_EQ(refused.until, noon + 5s) << "it says when to come back";
    EXPECT_EQ(refused.refusal, error::circuit_open);
}

TEST(circuit_breaker, may_open_at_a_success_that_completes_the_number) {
    circuit_breaker breaker;
    fail(breaker, 19, noon);
    succeed(breaker, 1, noon);
    EXPECT_EQ(breaker.state(noon), breaker_state::open);
}

/// Nineteen failures, of which it remembers none ten seconds later.
void expect_forgotten(time_point then, duration until_more) {
    circuit_breaker breaker;
    fail(breaker, 19, then);
    fail(breaker, 1, then + 10s);
    EXPECT_EQ(breaker.state(then + 10s), breaker_state::closed);
    fail(breaker, 19, then + until_more);
    EXPECT_EQ(breaker.state(then + until_more), breaker_state::open);
}

TEST(circuit_breaker, forgets_what_is_older_than_its_window) {
    expect_forgotten(noon, 19s);
}

TEST(circuit_breaker, answers_are_no_failures_and_abandoned_attempts_are_nothing) {
    circuit_breaker breaker;
    for (int i = 0; i < 100; ++i) {
        breaker.on_end(failure(failure_kind::permanent, noon));
        breaker.on_end(failure(failure_kind::throttled, noon));
        breaker.on_end(abandoned());
    }
    EXPECT_EQ(breaker.state(noon), breaker_state::closed);
    fail(breaker, 199, noon);
    EXPECT_EQ(breaker.state(noon), breaker_state::closed);
    breaker.on_end(failure(failure_kind::overloaded, noon));
    EXPECT_EQ(breaker.state(noon), breaker_state::open);

    circuit_breaker timeouts;
    for (int i = 0; i < 20; ++i)
        timeouts.on_end(failure(failure_kind::timeout, noon));
    EXPECT_EQ(timeouts.state(noon), breaker_state::open);
}

TEST(circuit_breaker, may_open_after_failures_in_a_row) {
    circuit_breaker breaker({.failure_rate = 1, .consecutive = 5});
    fail(breaker, 4, noon);
    breaker.on_end(failure(failure_kind::throttled, noon));
    fail(breaker, 4, noon + 1h);
    EXPECT_EQ(breaker.state(noon + 1h), breaker_state::closed);
    fail(breaker, 1, noon + 2h);
    EXPECT_EQ(breaker.state(noon + 2h), breaker_state::open);
}

TEST(circuit_breaker, may_open_because_attempts_are_slow) {
    circuit_breaker breaker({.min_attempts = 4, .slow_rate = 0.5, .slow = 2s});
    succeed(breaker, 2, noon, 2s);
    succeed(breaker, 1, noon, 2s + 1ns);
    succeed(breaker, 2, noon, 1s);
    EXPECT_EQ(breaker.state(noon), breaker_state::closed);
    succeed(breaker, 4, noon, 3s);
    EXPECT_EQ(breaker.state(noon), breaker_state::open);
}

TEST(circuit_breaker, half_open_lets_three_begin_and_closes_when_all_succeed) {
    circuit_breaker breaker({.open_spread = 0});
    open(breaker);
    time_point const half = noon + 5s;
    EXPECT_EQ(breaker.state(half - 1ns), breaker_state::open);
    EXPECT_EQ(breaker.state(half), breaker_state::half_open);
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(admits(breaker, half));
    admission const fourth = breaker.admit(1, half);
    EXPECT_EQ(fourth.until, time_point::max());
    EXPECT_EQ(fourth.refusal, error::circuit_open);
    succeed(breaker, 2, half + 1s, 1s);
    EXPECT_FALSE(admits(breaker, half + 1s)) << "succeeded ones count too";
    EXPECT_EQ(breaker.state(half + 1s), breaker_state::half_open);
    succeed(breaker, 1, half + 1s, 1s);
    EXPECT_EQ(breaker.state(half + 1s), breaker_state::closed);
    fail(breaker, 19, half + 1s);
    EXPECT_EQ(breaker.state(half + 1s), breaker_state::closed) << "what was is forgotten";
}

TEST(circuit_breaker, a_probe_that_gets_an_answer_has_succeeded) {
    circuit_breaker breaker({.probes = 2});
    open(breaker);
    EXPECT_TRUE(admits(breaker, noon + 5s));
    EXPECT_TRUE(admits(breaker, noon + 5s));
    breaker.on_end(failure(failure_kind::permanent, noon + 5s));
    breaker.on_end(failure(failure_kind::throttled, noon + 5s));
    EXPECT_EQ(breaker.state(noon + 5s), breaker_state::closed);
}

TEST(circuit_breaker, one_failed_probe_opens_it_for_longer) {
    circuit_breaker breaker({.open_for = 5s, .growth = 3, .open_cap = 60s, .open_spread = 0});
    open(breaker);
    time_point now = noon;
    for (duration const length : {5s, 15s, 45s, 60s, 60s}) {
        EXPECT_EQ(breaker.admit(1, now).until, now + length);
        now += length;
        EXPECT_TRUE(admits(breaker, now));
        fail(breaker, 1, now);
        EXPECT_EQ(breaker.state(now), breaker_state::open);
    }
    now += 60s;
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(admits(breaker, now));
        succeed(breaker, 1, now);
    }
    EXPECT_EQ(breaker.state(now), breaker_state::closed);
    fail(breaker, 20, now);
    EXPECT_EQ(breaker.admit(1, now).until, now + 5s) << "a new outage begins anew";
}

TEST(circuit_breaker, an_abandoned_probe_frees_its_place) {
    circuit_breaker breaker({.probes = 1});
    open(breaker);
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(admits(breaker, noon + 5s));
        EXPECT_FALSE(admits(breaker, noon + 5s));
        breaker.on_end(abandoned_since(noon + 5s));
    }
    EXPECT_TRUE(admits(breaker, noon + 5s));
    succeed(breaker, 1, noon + 6s, 1s);
    EXPECT_EQ(breaker.state(noon + 6s), breaker_state::closed);
}

// A thousand callers that hung since before the outage may go away while it is half-open.
TEST(circuit_breaker, an_attempt_from_before_that_is_abandoned_frees_no_probes_place) {
    circuit_breaker breaker({.probes = 1});
    EXPECT_TRUE(admits(breaker, noon - 1s));
    open(breaker);
    EXPECT_TRUE(admits(breaker, noon + 5s));
    breaker.on_end(abandoned_since(noon - 1s));
    EXPECT_FALSE(admits(breaker, noon + 6s));
    breaker.on_end(abandoned_since(noon + 5s));
    EXPECT_TRUE(admits(breaker, noon + 6s));
}

TEST(circuit_breaker, an_abandoned_probe_frees_its_own_place) {
    circuit_breaker breaker({.open_cap = 60s, .probes = 2});
    open(breaker);
    EXPECT_TRUE(admits(breaker, noon + 5s));
    EXPECT_TRUE(admits(breaker, noon + 15s));
    breaker.on_end(abandoned_since(noon + 15s));
    EXPECT_TRUE(admits(breaker, noon + 20s));
    EXPECT_FALSE(admits(breaker, noon + 65s - 1ns));
    EXPECT_TRUE(admits(breaker, noon + 65s)) << "the first has hung for so long";
}

TEST(circuit_breaker, a_hung_probe_loses_its_place_after_the_cap) {
    circuit_breaker breaker({.open_cap = 60s, .probes = 2});
    open(breaker);
    time_point const half = noon + 5s;
    EXPECT_TRUE(admits(breaker, half));
    EXPECT_TRUE(admits(breaker, half + 10s));
    succeed(breaker, 1, half + 11s, 1s);
    EXPECT_FALSE(admits(breaker, half + 60s - 1ns));
    EXPECT_TRUE(admits(breaker, half + 60s));
    EXPECT_FALSE(admits(breaker, half + 60s));
    succeed(breaker, 1, half + 61s, 1s);
    EXPECT_EQ(breaker.state(half + 61s), breaker_state::closed);
}

// What hung ends after all: it takes no place from those that were let in meanwhile, and still says something.
TEST(circuit_breaker, the_late_end_of_a_hung_probe_frees_no_other_ones_place) {
    circuit_breaker breaker({.probes = 2});
    open(breaker);
    time_point const half = noon + 5s;
    EXPECT_TRUE(admits(breaker, half));
    EXPECT_TRUE(admits(breaker, half));
    EXPECT_TRUE(admits(breaker, half + 60s));
    EXPECT_TRUE(admits(breaker, half + 60s));
    succeed(breaker, 1, half + 61s, 61s);
    EXPECT_FALSE(admits(breaker, half + 61s));
    succeed(breaker, 1, half + 62s, 2s);
    EXPECT_EQ(breaker.state(half + 62s), breaker_state::closed);

    circuit_breaker again({.probes = 2});
    open(again);
    EXPECT_TRUE(admits(again, half));
    fail(again, 1, half + 90s, 90s);
    EXPECT_EQ(again.state(half + 90s), breaker_state::open);
}

TEST(circuit_breaker, a_late_result_from_before_says_nothing) {
    circuit_breaker breaker({.open_spread = 0});
    open(breaker);
    fail(breaker, 100, noon + 2s, 3s);
    EXPECT_EQ(breaker.admit(1, noon + 2s).until, noon + 5s) << "while it is open";
    time_point const half = noon + 5s;
    EXPECT_TRUE(admits(breaker, half));
    fail(breaker, 1, half + 1s, 2s);
    succeed(breaker, 10, half + 1s, 2s);
    EXPECT_EQ(breaker.state(half + 1s), breaker_state::half_open);
    succeed(breaker, 1, half + 1s, 1s);
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(admits(breaker, half + 2s));
        succeed(breaker, 1, half + 2s);
    }
    EXPECT_EQ(breaker.state(half + 2s), breaker_state::closed);
    fail(breaker, 100, half + 30s, 60s);
    EXPECT_EQ(breaker.state(half + 30s), breaker_state::closed) << "also when it has closed";
    fail(breaker, 20, half + 30s, 1s);
    EXPECT_EQ(breaker.state(half + 30s), breaker_state::open);
}

TEST(circuit_breaker, is_isolated_until_it_is_reset) {
    circuit_breaker breaker;
    breaker.isolate();
    EXPECT_EQ(breaker.state(noon), breaker_state::isolated);
    succeed(breaker, 100, noon);
    fail(breaker, 100, noon);
    admission const refused = breaker.admit(1, noon + 24h);
    EXPECT_EQ(refused.until, time_point::max());
    EXPECT_EQ(refused.refusal, error::circuit_open);
    breaker.on_end(abandoned());
    breaker.reset();
    EXPECT_EQ(breaker.state(noon), breaker_state::closed);
    EXPECT_TRUE(admits(breaker, noon));
    open(breaker);
    breaker.reset();
    EXPECT_TRUE(admits(breaker, noon));
}

// Threads read their clocks before they come here.
TEST(circuit_breaker, times_of_threads_may_be_out_of_order) {
    circuit_breaker breaker({.open_spread = 0, .probes = 2});
    open(breaker);
    time_point const half = noon + 5s;
    EXPECT_TRUE(admits(breaker, half + 2ns));
    EXPECT_EQ(breaker.admit(1, half - 1ns).until, half);
    EXPECT_TRUE(admits(breaker, half + 1ns));
    succeed(breaker, 1, half + 1s, 1s - 1ns);
    succeed(breaker, 1, half + 1s, 1s - 2ns);
    EXPECT_EQ(breaker.state(half + 1s), breaker_state::closed);
}

TEST(circuit_breaker, fewer_last_attempts_than_least_attempts_are_enough) {
    circuit_breaker breaker({.min_attempts = 20, .last = 4});
    fail(breaker, 3, noon);
    EXPECT_EQ(breaker.state(noon), breaker_state::closed);
    fail(breaker, 1, noon);
    EXPECT_EQ(breaker.state(noon), breaker_state::open);
}

TEST(circuit_breaker, times_before_the_epoch_are_times) {
    expect_forgotten(time_point(-1h), 10s);
}

TEST(circuit_breaker, decision_04_refuses_nonsense) {
    using options = circuit_breaker_options;
    auto const refuses = [](options const& o, std::string const& field, std::string const& value,
                            std::string const& rule) {
        EXPECT_THAT(calling([&] { circuit_breaker{o}; }),
                    refuses_option("circuit_breaker." + field, value, rule));
    };
    refuses({.failure_rate = 0}, "failure_rate", "0", "must be in (0, 1]");
    refuses({.failure_rate = 1.1}, "failure_rate", "1.1", "must be in (0, 1]");
    refuses({.failure_rate = nan}, "failure_rate", "nan", "must be in (0, 1]");
    refuses({.min_attempts = 0}, "min_attempts", "0", "must be positive");
    refuses({.window = 0s}, "window", "0s", "must be positive");
    refuses({.last = 1'000'001}, "last", "1000001", "must be at most 1000000");
    refuses({.slow_rate = 1.5}, "slow_rate", "1.5", "must be in [0, 1]");
    refuses({.slow_rate = nan}, "slow_rate", "nan", "must be in [0, 1]");
    refuses({.slow = -1ns}, "slow", "-1ns", "must not be negative");
    refuses({.open_for = 0s}, "open_for", "0s", "must be positive");
    refuses({.growth = 0.5}, "growth", "0.5", "must be finite and at least 1");
    refuses({.growth = nan}, "growth", "nan", "must be finite and at least 1");
    refuses({.open_for = 10ns, .open_cap = 9ns}, "open_cap", "9ns",
            "must not be less than open_for, which is 10ns");
    refuses({.open_spread = 1}, "open_spread", "1", "must be in [0, 1)");
    refuses({.open_spread = -0.1}, "open_spread", "-0.1", "must be in [0, 1)");
    refuses({.open_spread = nan}, "open_spread", "nan", "must be in [0, 1)");
    refuses({.probes = 0}, "probes", "0", "must be from 1 to 1000");
    refuses({.probes = 1001}, "probes", "1001", "must be from 1 to 1000");
}

TEST(circuit_breaker, says_until_when_it_is_open) {
    circuit_breaker breaker({.open_cap = 30s, .open_spread = 0, .probes = 2});
    EXPECT_EQ(breaker.open_until(noon), noon);
    open(breaker);
    EXPECT_EQ(breaker.open_until(noon), noon + 5s);
    EXPECT_EQ(breaker.open_until(noon + 5s - 1ns), noon + 5s);
    EXPECT_EQ(breaker.open_until(noon + 6s), noon + 6s) << "a probe may begin";
    EXPECT_EQ(breaker.state(noon + 6s), breaker_state::half_open);

    EXPECT_TRUE(admits(breaker, noon + 6s));
    EXPECT_EQ(breaker.open_until(noon + 7s), noon + 7s) << "one place is left";
    EXPECT_TRUE(admits(breaker, noon + 8s));
    EXPECT_EQ(breaker.open_until(noon + 9s), noon + 36s) << "when the first probe loses its place";
    EXPECT_EQ(breaker.open_until(noon + 36s - 1ns), noon + 36s);
    EXPECT_EQ(breaker.open_until(noon + 36s), noon + 36s);
    breaker.on_end(abandoned_since(noon + 8s));
    EXPECT_EQ(breaker.open_until(noon + 10s), noon + 10s);
    EXPECT_EQ(breaker.open_until(noon + 4s), noon + 5s) << "another thread may have an earlier time";
    breaker.isolate();
    EXPECT_EQ(breaker.open_until(noon + 1h), time_point::max());
    breaker.reset();
    EXPECT_EQ(breaker.open_until(noon + 1h), noon + 1h);
}

TEST(circuit_breaker, a_place_that_is_never_taken_back_is_waited_for_without_end) {
    circuit_breaker breaker({.open_cap = duration::max(), .probes = 1});
    open(breaker);
    EXPECT_TRUE(admits(breaker, noon + 5s));
    EXPECT_EQ(breaker.open_until(noon + 1h), time_point::max());
    breaker.on_end(success(noon + 1h, 1h - 5s));
    EXPECT_EQ(breaker.open_until(noon + 1h), noon + 1h);
}

TEST(circuit_breaker, says_the_share_of_failures) {
    circuit_breaker breaker;
    EXPECT_EQ(breaker.failure_share(noon), 0);
    succeed(breaker, 3, noon);
    fail(breaker, 1, noon + 5s);
    EXPECT_EQ(breaker.failure_share(noon + 5s), 0.25);
    EXPECT_EQ(breaker.failure_share(noon + 10s), 1) << "the successes are forgotten";
    EXPECT_EQ(breaker.failure_share(noon + 1h), 0);
    EXPECT_EQ(breaker.failure_share(noon + 5s), 0.25) << "to ask forgets nothing";

    circuit_breaker last({.last = 4});
    fail(last, 1, noon);
    succeed(last, 1, noon);
    EXPECT_EQ(last.failure_share(noon + 1h), 0.5);
}

} // namespace
} // namespace asio_retry::test
