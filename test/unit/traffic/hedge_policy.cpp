#include <asio_retry/hedge_policy.hpp>

#include "support/gate_values.hpp"
#include "support/refuses.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

TEST(hedge_policy, what_is_not_said_is_the_default) {
    EXPECT_EQ(hedge_policy(10ms).settings().max_attempts(), 2u);
    hedge_policy const policy(10ms);
    EXPECT_EQ(policy.settings().delay, 10ms);
    EXPECT_FALSE(policy.settings().observed);
    EXPECT_FALSE(policy.settings().deliver_at_once);
    EXPECT_FALSE(policy.settings().on_hedge);
    EXPECT_TRUE(policy.settings().hedge_sent);
    EXPECT_EQ(policy.settings().common.settings().pushback_limit, 1min);
    EXPECT_FALSE(policy.settings().common.settings().total_timeout);
    EXPECT_TRUE(hedge_policy(std::make_shared<latency_quantile>()).settings().observed);
}

TEST(hedge_policy, setters_return_a_changed_copy) {
    hedge_policy const policy(10ms);
    hedge_policy const changed = policy.max_attempts(16)
                                     .total_timeout(1s)
                                     .deadline(noon)
                                     .deliver_at_once()
                                     .on_hedge([](std::uint64_t) {})
                                     .retry_if(any_failure)
                                     .pushback_limit(2s)
                                     .hedge_sent(false);
    EXPECT_EQ(policy.settings().max_attempts(), 2u);
    EXPECT_FALSE(policy.settings().deliver_at_once);
    EXPECT_EQ(changed.settings().delay, 10ms);
    EXPECT_EQ(changed.settings().max_attempts(), 16u);
    EXPECT_EQ(changed.settings().common.settings().total_timeout, 1s);
    EXPECT_EQ(changed.settings().common.settings().deadline, noon);
    EXPECT_EQ(changed.settings().common.settings().pushback_limit, 2s);
    EXPECT_TRUE(changed.settings().deliver_at_once);
    EXPECT_TRUE(changed.settings().on_hedge);
    EXPECT_FALSE(changed.settings().hedge_sent);
    EXPECT_TRUE(policy.settings().hedge_sent);
}

TEST(hedge_policy, one_that_was_moved_from_is_as_it_was) {
    hedge_policy policy(10ms);
    hedge_policy const moved = std::move(policy);
    EXPECT_EQ(policy.settings().delay, 10ms);
    EXPECT_EQ(moved.settings().delay, 10ms);
}

TEST(decision_4, a_hedge_policy_is_not_configurable_into_nonsense) {
    hedge_policy const policy(0ms);
    EXPECT_THAT(calling([] { return hedge_policy(-1ns); }),
                refuses("hedge_policy.delay", "-1ns", "must not be negative"));
    EXPECT_THAT(calling([] { return hedge_policy(std::shared_ptr<latency_quantile>()); }),
                refuses("hedge_policy.observed = null"));
    EXPECT_THAT(calling([&] { return policy.max_attempts(0); }),
                refuses("hedge_policy.max_attempts", "0", "must be from 1 to 16"));
    EXPECT_THAT(calling([&] { return policy.max_attempts(17); }),
                refuses("hedge_policy.max_attempts", "17", "must be from 1 to 16"));
    EXPECT_THAT(calling([&] { return policy.max_attempts(std::numeric_limits<std::int64_t>::min()); }),
                refuses("hedge_policy.max_attempts"));
    EXPECT_THAT(calling([&] { return policy.total_timeout(-1ns); }),
                refuses("total_timeout", "-1ns", "must not be negative"));
    EXPECT_THAT(calling([&] { return policy.pushback_limit(-1ns); }),
                refuses("pushback_limit", "-1ns", "must not be negative"));
    EXPECT_THAT(calling([&] { return policy.on_hedge(std::function<void(std::uint64_t)>()); }),
                refuses("on_hedge = empty"));
    EXPECT_THAT(calling([&] { return policy.retry_if(std::function<bool(error_code)>()); }),
                refuses("retry_if = empty"));
}

// The attempts of a hedge inside a retry are a sum, never a product.
TEST(decision_32, a_nested_hedge_hedges_in_the_first_attempt_alone) {
    hedge_policy const policy = hedge_policy(10ms).max_attempts(3).deadline(noon + 2h);
    auto const first = policy.nested_in({1, noon + 1h});
    EXPECT_EQ(first.settings().max_attempts(), 3u);
    EXPECT_EQ(first.settings().common.settings().deadline, noon + 1h);
    EXPECT_TRUE(first.settings().common.settings().is_nested);
    EXPECT_EQ(policy.nested_in({2, noon + 3h}).settings().max_attempts(), 1u);
    EXPECT_EQ(policy.nested_in({2, noon + 3h}).settings().common.settings().deadline, noon + 2h);
}

} // namespace
} // namespace asio_retry::test
