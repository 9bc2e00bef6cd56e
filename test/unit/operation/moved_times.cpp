// Operations that wait for the time that a rate_limit has reserved, when its rate changes.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/elements.hpp"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {
namespace moved_times {

using namespace std::chrono_literals;

/// Operations that wait at a limit, in virtual time.
struct crowd {
    explicit crowd(std::shared_ptr<rate_limit> limits)
        : limit(std::move(limits)) {}

    void ask(int count, std::shared_ptr<retry_gate> gate = nullptr) {
        auto const policy = retry_policy().max_attempts(1).gate(gate ? gate : limit).wait_when_refused();
        for (int i = 0; i != count; ++i, ++asked)
            async_retry(
                io,
                [this, i = asked] {
                    order.push_back(i), begun.push_back(time.now() - first);
                    return error_code();
                },
                policy, [](error_code) {});
    }

    std::vector<duration> ends() {
        time.run();
        EXPECT_TRUE(std::ranges::is_sorted(order));
        return std::exchange(begun, {});
    }

    asio::io_context io;
    virtual_time time{io};
    time_point const first = time.now();
    std::shared_ptr<rate_limit> limit;
    int asked = 0;
    std::vector<int> order;
    std::vector<duration> begun;
};

TEST(moved_times, decision_86_those_who_wait_get_times_of_a_faster_rate) {
    crowd all(std::make_shared<rate_limit>(1, 1min));
    all.ask(4);
    all.time.advance(10s);
    all.limit->update(10, 1s);
    all.ask(2);
    EXPECT_THAT(all.ends(), elements(0s, 10s, 10100ms, 10200ms, 10300ms, 10400ms));
}

TEST(moved_times, decision_86_those_who_wait_get_times_of_a_slower_rate) {
    crowd all(std::make_shared<rate_limit>(10, 1s));
    all.ask(4);
    all.time.advance(150ms);
    all.limit->update(1, 1s);
    all.ask(1);
    EXPECT_THAT(all.ends(), elements(0s, 100ms, 1100ms, 2100ms, 3100ms));
}

// Their times lie beyond the end of the clock.
TEST(moved_times, decision_86_a_rate_that_was_a_pause_is_kept_afterwards) {
    for (duration const pause : {duration(24h * 365 * 100), duration::max()}) {
        crowd all(std::make_shared<rate_limit>(1000, 1s));
        all.ask(4);
        all.limit->update(1, pause);
        all.time.advance(1s);
        all.ask(2);
        all.time.advance(1s);
        all.limit->update(1000, 1s);
        all.time.advance(10s);
        all.ask(1);
        all.time.run(); // nobody knows who of them came first
        EXPECT_THAT(all.begun, elements(0s, 2s, 2001ms, 2002ms, 2003ms, 2004ms, 12s));
    }
}

TEST(moved_times, decision_86_many_changes_lose_nobody) {
    crowd all(std::make_shared<rate_limit>(10, 1s));
    all.ask(100);
    all.time.advance(50ms);
    for (std::uint32_t i = 0; i != 40; ++i) {
        all.limit->update(1 + i % 7, 1s, 1 + i % 3);
        if (i % 2)
            all.time.advance(10ms);
    }
    all.limit->update(100, 1s);
    auto const ends = all.ends();
    ASSERT_EQ(ends.size(), 100u);
    for (std::size_t i = 3; i != ends.size(); ++i)
        EXPECT_GE(ends[i] - ends[i - 1], 10ms) << i;
    EXPECT_LE(ends.back(), 1600ms);
}

// A thousand wait: nothing comes in a burst, and all are woken, though each wakes only one.
TEST(moved_times, decision_86_a_crowd_is_woken_one_after_the_other) {
    crowd all(std::make_shared<rate_limit>(1, 1h));
    all.ask(1000);
    all.time.advance(1s);
    all.limit->update(1000, 1s);
    auto const ends = all.ends();
    ASSERT_EQ(ends.size(), 1000u);
    for (std::size_t i = 1; i != ends.size(); ++i)
        EXPECT_EQ(ends[i], 1s + (i - 1) * 1ms);
}

TEST(moved_times, decision_86_moves_the_times_behind_other_gates_too) {
    auto const limit = std::make_shared<rate_limit>(1, 1min);
    crowd all(limit);
    all.ask(3, all_gates({std::make_shared<circuit_breaker>(), limit}));
    all.time.advance(1s);
    limit->update(1, 1s);
    EXPECT_THAT(all.ends(), elements(0s, 1s, 2s));
}

} // namespace moved_times
} // namespace
} // namespace asio_retry::test
