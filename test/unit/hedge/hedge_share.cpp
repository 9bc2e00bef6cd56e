#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_pause.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include "support/in_virtual_time.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// Requests one after the other, each of which is slow.
class hedge_share_of_requests : public testing::Test, protected in_virtual_time {
protected:
    int attempts = 0;

    void ask(hedge_policy const& policy) {
        auto const slow = [this](auto token) {
            ++attempts;
            return async_pause(io, 50ms, std::move(token));
        };
        async_hedge(io, slow, policy, [](error_code ec) { EXPECT_FALSE(ec); });
        time.run();
    }
};

TEST_F(hedge_share_of_requests, has_at_most_five_hedges_for_100_requests) {
    auto const policy = hedge_policy(10ms).gate(hedge_share(0.05));
    for (int requests = 1; requests <= 1000; ++requests) {
        ask(policy);
        ASSERT_EQ(attempts - requests, (requests - 1) / 20);
    }
}

TEST_F(hedge_share_of_requests, comes_from_a_text_too) {
    auto const of_text = parse_policy("hedge_share(0.5, burst=1)").settings().gate;
    auto const policy = hedge_policy(10ms).gate(of_text).max_attempts(5);
    for (int requests = 1; requests <= 100; ++requests)
        ask(policy);
    EXPECT_EQ(attempts - 100, 49);
}

} // namespace
} // namespace asio_retry::test
