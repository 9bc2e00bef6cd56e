#include <asio_retry/traffic/circuit_breaker.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// How many of these fall into the ten milliseconds that have most.
std::size_t most_in_ten_ms(std::vector<time_point> times) {
    std::ranges::sort(times);
    std::size_t count = 0, first = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        while (times[i] - times[first] >= 10ms)
            ++first;
        count = std::max(count, i - first + 1);
    }
    return count;
}

TEST(breakers_together, decision_67_a_thousand_that_opened_together_do_not_probe_together) {
    std::vector<std::unique_ptr<circuit_breaker>> all;
    for (int i = 0; i < 1000; ++i)
        all.push_back(std::make_unique<circuit_breaker>());
    for (auto const& each : all)
        for (int i = 0; i < 20; ++i)
            each->on_end(failure(failure_kind::timeout, noon));
    std::vector<time_point> probes;
    for (auto const& each : all) {
        probes.push_back(each->open_until(noon));
        EXPECT_GT(probes.back(), noon + 4500ms);
        EXPECT_LE(probes.back(), noon + 5s) << "open_for is the greatest time";
        EXPECT_EQ(each->admit(1, probes.back() - 1ns).until, probes.back());
        EXPECT_EQ(each->admit(1, probes.back()).until, probes.back());
        each->on_end(failure(failure_kind::timeout, noon + 5s)); // that of all probes: they meet again
    }
    EXPECT_LE(most_in_ten_ms(probes), 150u);
    std::ranges::sort(probes);
    EXPECT_LT(probes.front(), noon + 4510ms);
    EXPECT_GT(probes.back(), noon + 4990ms);

    probes.clear();
    for (auto const& each : all) {
        probes.push_back(each->open_until(noon + 5s));
        EXPECT_GT(probes.back(), noon + 14s);
        EXPECT_LE(probes.back(), noon + 15s);
    }
    EXPECT_LE(most_in_ten_ms(probes), 75u) << "ten seconds spread over one";
}

/// Opens it anew, and returns how long it is open.
duration open_length(circuit_breaker& breaker, time_point now) {
    breaker.reset();
    breaker.on_end(failure(failure_kind::timeout, now));
    return breaker.open_until(now) - now;
}

TEST(breakers_together, decision_67_the_time_of_opening_and_the_breaker_decide_alone) {
    circuit_breaker_options const options{.consecutive = 1, .open_spread = 0.5};
    circuit_breaker one(options), other(options);
    duration const length = open_length(one, noon);
    EXPECT_EQ(open_length(one, noon), length) << "no clock and no other source of chance";
    EXPECT_NE(open_length(one, noon + 1s), length);
    EXPECT_NE(open_length(other, noon), length);
}

TEST(breakers_together, without_a_spread_come_back_after_their_time) {
    circuit_breaker exact({.consecutive = 1, .open_spread = 0});
    circuit_breaker for_ever(
        {.consecutive = 1, .open_for = duration::max(), .open_cap = duration::max(), .open_spread = 0.9});
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(open_length(exact, noon + i * 1s), 5s);
        EXPECT_EQ(noon + i * 1s + open_length(for_ever, noon + i * 1s), time_point::max());
    }
}

} // namespace
} // namespace asio_retry::test
