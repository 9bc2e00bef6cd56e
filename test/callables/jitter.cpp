#include <asio_retry/jitter.hpp>

#include "callables/zoo.hpp"

#include <asio_retry/retry_policy.hpp>

#include <gtest/gtest.h>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

TEST(callables, decision_40_a_jitter_may_be_a_class_of_any_shape) {
    int calls = 0;
    std::function<duration(backoff_step, random&)> const body = [&](backoff_step s, random& r) {
        ++calls;
        return r.uniform(s.ceiling, s.ceiling);
    };
    random source(1);
    backoff_step const step{3, 8ns, 2ns, 9ns, 3ns};
    auto const check = [&](char const* name, jitter const& kind) {
        SCOPED_TRACE(name);
        calls = 0;
        EXPECT_EQ(kind.draw(step, source), 8ns);
        EXPECT_EQ(retry_policy().jitter(kind).settings().jitter.draw(step, source), 8ns);
        EXPECT_EQ(calls, 2);
    };
    zoo<duration(backoff_step, random&)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, jitter(std::forward<Animal>(animal)));
    });
}

TEST(callables, decision_40_a_policy_takes_a_jitter_of_any_shape) {
    std::function<duration(backoff_step, random&)> const body = [](backoff_step s, random&) { return s.base; };
    random source(1);
    auto const check = [&](char const* name, retry_policy const& policy) {
        EXPECT_EQ(policy.settings().jitter.draw({3, 8ns, 2ns, 9ns, 3ns}, source), 2ns) << name;
    };
    zoo<duration(backoff_step, random&)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, retry_policy().jitter(std::forward<Animal>(animal)));
    });
}

} // namespace
} // namespace asio_retry::test
