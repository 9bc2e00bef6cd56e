#include <asio_retry/async_retry.hpp>

#include <asio_retry/fail_if.hpp>
#include <asio_retry/traffic/cooldown.hpp>

#include "support/in_virtual_time.hpp"

#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

// A server tells one caller to come back later, and a cooldown keeps all the others from asking.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class held_back_together : public testing::Test, protected in_virtual_time {
protected:
    /// 503 with Retry-After while it is busy, and then 200.
    void request(retry_policy const& policy) {
        auto const get = [this] {
            bool const is_busy = time.now() < begin + busy_for;
            if (is_busy)
                ++sent_while_busy;
            else
                served.push_back(time.now() - begin);
            return is_busy ? 503 : 200;
        };
        auto const judge = [this](int status) {
            return judge_http(status, status == 503 ? std::to_string(busy_for / 1s) : "");
        };
        async_retry(io, fail_if(get, judge), policy, asio::detached);
    }

    /// One is told to wait, and a thousand others come a little later. Returns how many are served within
    /// `length`, at most.
    std::ptrdiff_t most_served_within(duration length, retry_policy const& policy) {
        request(policy);
        time.advance(10ms);
        for (int i = 0; i != 1000; ++i)
            request(policy);
        time.run();
        std::ranges::sort(served);
        std::ptrdiff_t most = 0;
        for (auto first = served.begin(); first != served.end(); ++first)
            most = std::max(most, std::ranges::lower_bound(first, served.end(), *first + length) - first);
        return most;
    }

    duration busy_for = 5s;
    int sent_while_busy = 0;
    std::vector<duration> served;
};

retry_policy const patient = retry_policy().backoff(constant(0ms)).max_attempts(5).wait_when_refused();

TEST_F(held_back_together, decision_67_come_back_spread) {
    EXPECT_LE(most_served_within(10ms, patient.gate(std::make_shared<cooldown>())), 50);
    EXPECT_EQ(served.size(), 1001u);
    EXPECT_EQ(sent_while_busy, 1) << "and nobody else was told";
    EXPECT_EQ(served.front(), 5s);
    EXPECT_LE(served.back(), 6250ms);
}

TEST_F(held_back_together, decision_67_come_back_spread_after_the_shortest_time_that_a_server_writes) {
    busy_for = 1s;
    EXPECT_LE(most_served_within(10ms, patient.gate(std::make_shared<cooldown>())), 50);
    EXPECT_EQ(served.size(), 1001u);
    EXPECT_LE(served.back(), 1250ms);
}

TEST_F(held_back_together, come_back_together_without_a_spread) {
    auto const together = std::make_shared<cooldown>(cooldown_options{.spread = 0});
    EXPECT_GE(most_served_within(10ms, patient.gate(together)), 1000) << "a control of the others";
}

TEST_F(held_back_together, decision_67_keep_nobody_waiting_who_comes_later) {
    retry_policy const policy = patient.gate(std::make_shared<cooldown>());
    request(policy);
    time.advance(10ms);
    for (int i = 0; i != 100; ++i)
        request(policy);
    time.advance(5s);
    auto const before = static_cast<std::ptrdiff_t>(served.size());
    request(policy);
    EXPECT_LT(before, 101);
    time.advance(0s);
    EXPECT_EQ(std::ranges::count(served, time.now() - begin), 1) << "at once";
    time.run();
    EXPECT_EQ(served.size(), 102u);
}

} // namespace
} // namespace asio_retry::test
