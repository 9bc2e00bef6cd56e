#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/fleet_budget.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

/// A peer that is down at first, and three that talk to it with one gate: who retries, who hedges, and who
/// stays connected.
class one_budget_of_three : public testing::Test {
protected:
    void share(std::shared_ptr<retry_gate> shared) { gate = std::move(shared); }

    retry_policy every_100ms() const {
        return retry_policy().backoff(constant(100ms)).jitter(no_jitter()).max_attempts(2).gate(gate);
    }

    /// How many attempts a request makes; `meanwhile` happens when the first has failed.
    template <typename Meanwhile>
    int request(Meanwhile const& meanwhile) {
        int attempts = 0;
        async_retry(io, [&] { return attempt_of(attempts); }, every_100ms(), asio::detached);
        time.advance(1ms);
        meanwhile();
        time.advance(1s);
        return attempts;
    }
    int request() {
        return request([] {});
    }

    int hedge() {
        int attempts = 0;
        async_hedge(io, [&] { return attempt_of(attempts); }, hedge_policy(1h).gate(gate), asio::detached);
        time.advance(1s);
        return attempts;
    }

    void stay_connected() {
        async_retry(
            io, [this] { return attempt_of(attempts_to_connect); },
            every_100ms().unlimited_attempts().wait_when_refused(),
            [this](error_code ec) { is_connected = !ec; });
    }

    asio::io_context io{1};
    virtual_time time{io};
    bool is_down = true;
    int attempts_to_connect = 0;
    bool is_connected = false;

private:
    error_code attempt_of(int& attempts) const {
        ++attempts;
        return is_down ? asio::error::connection_refused : error_code();
    }

    std::shared_ptr<retry_gate> gate;
};

TEST_F(one_budget_of_three, decision_26_a_retry_a_hedge_and_a_reconnect_spend_what_requests_have_earned) {
    auto const budget = std::make_shared<retry_budget>(retry_budget_options{.keep = 2, .initial = 2});
    share(budget);
    EXPECT_EQ(request(), 2);
    EXPECT_EQ(budget->balance(time.now()), 1);
    EXPECT_EQ(hedge(), 2);
    EXPECT_EQ(budget->balance(time.now()), 0);

    stay_connected();
    EXPECT_EQ(request(), 1) << "a first attempt costs nothing, a retry is not paid for";
    EXPECT_EQ(hedge(), 1);
    time.advance(1h);
    EXPECT_EQ(attempts_to_connect, 1) << "it waits";
    EXPECT_FALSE(is_connected);

    is_down = false;
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(i % 2 == 0 ? request() : hedge(), 1);
    time.advance(1min);
    EXPECT_TRUE(is_connected);
    EXPECT_EQ(attempts_to_connect, 2);
    EXPECT_NEAR(budget->balance(time.now()), 0.1, 1e-9) << "its own success earns too";
}

TEST_F(one_budget_of_three, decision_26_so_with_the_budget_of_a_fleet) {
    auto const budget = std::make_shared<fleet_budget>(fleet_budget_options{.batch = 1});
    share(budget);
    std::uint32_t tokens = 2; // in the store
    auto const ask = [&] {
        std::optional<fleet_request> const question = budget->poll(time.now());
        ASSERT_TRUE(question);
        std::uint32_t const granted = std::min(question->wanted, tokens);
        tokens -= granted;
        budget->on_granted(granted, time.now());
    };
    EXPECT_EQ(request(ask), 2);
    EXPECT_EQ(hedge(), 1) << "it begins before there is an answer, and is need";
    ask();
    EXPECT_EQ(budget->held(), 1u);
    EXPECT_EQ(hedge(), 2);
    EXPECT_EQ(tokens, 0u);

    stay_connected();
    time.advance(1min);
    EXPECT_EQ(attempts_to_connect, 1) << "it waits for a token";
    EXPECT_EQ(request(ask), 1) << "the store is empty";
    EXPECT_EQ(hedge(), 1);
    is_down = false;
    tokens = 5;
    time.advance(1min);
    EXPECT_FALSE(is_connected);
    ask();
    EXPECT_GE(budget->held(), 1u);
    time.advance(1min);
    EXPECT_TRUE(is_connected);
    EXPECT_EQ(attempts_to_connect, 2);
}

} // namespace
} // namespace asio_retry::test
