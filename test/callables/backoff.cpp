#include <asio_retry/backoff.hpp>

#include "callables/zoo.hpp"

#include <asio_retry/retry_policy.hpp>

#include <gtest/gtest.h>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

TEST(callables, decision_40_a_backoff_may_be_a_class_of_any_shape) {
    int calls = 0;
    std::function<duration(std::uint64_t)> const body = [&](std::uint64_t failures) {
        ++calls;
        return failures * 7ms;
    };
    auto const check = [&](char const* name, backoff const& shape) {
        SCOPED_TRACE(name);
        calls = 0;
        EXPECT_EQ(shape.ceiling(3), 21ms);
        retry_policy const policy = retry_policy().backoff(shape.cap(15ms));
        EXPECT_EQ(policy.settings().backoff.ceiling(3), 15ms);
        EXPECT_EQ(calls, 2);
    };
    zoo<duration(std::uint64_t)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, backoff(std::forward<Animal>(animal)));
    });
}

TEST(callables, decision_40_a_policy_takes_a_backoff_of_any_shape) {
    std::function<duration(std::uint64_t)> const body = [](std::uint64_t failures) { return failures * 7ms; };
    auto const check = [](char const* name, retry_policy const& policy) {
        EXPECT_EQ(policy.settings().backoff.ceiling(3), 21ms) << name;
    };
    zoo<duration(std::uint64_t)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, retry_policy().backoff(std::forward<Animal>(animal)));
    });
}

} // namespace
} // namespace asio_retry::test
