#include <asio_retry/retry_settings.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

TEST(retry_settings, begin_as_the_default_policy) {
    retry_settings const s;
    EXPECT_EQ(s.backoff.base(), 100ms);
    EXPECT_EQ(s.backoff.ceiling(2), 200ms);
    EXPECT_EQ(s.backoff.cap(), 20s);
    EXPECT_EQ(s.max_attempts, 3u);
    EXPECT_EQ(s.max_elapsed, std::nullopt);
    EXPECT_EQ(s.attempt_timeout, std::nullopt);
    EXPECT_EQ(s.total_timeout, std::nullopt);
    EXPECT_EQ(s.deadline, std::nullopt);
    EXPECT_FALSE(s.clamp);
    EXPECT_FALSE(s.allow_total_cancellation);
    EXPECT_FALSE(s.retry_when_nested);
    EXPECT_FALSE(s.retry_if);
    EXPECT_FALSE(s.on_retry);
    EXPECT_FALSE(s.on_give_up);
    EXPECT_EQ(s.gate, nullptr);
}

TEST(retry_settings, begin_with_full_jitter) {
    backoff_step const step{1, 1000ns, 1000ns, duration::max(), 1000ns};
    random source(1), same(1);
    EXPECT_EQ(retry_settings().jitter.draw(step, source), full_jitter().draw(step, same));
}

TEST(retry_settings, limit_attempts_only_by_what_interrupts_them) {
    retry_settings s;
    EXPECT_FALSE(s.limits_attempts());
    s.max_elapsed = 1s;
    EXPECT_FALSE(s.limits_attempts());
    retry_settings by_attempt, by_total, by_deadline;
    by_attempt.attempt_timeout = 1s;
    by_total.total_timeout = 1s;
    by_deadline.deadline = time_point(1s);
    EXPECT_TRUE(by_attempt.limits_attempts());
    EXPECT_TRUE(by_total.limits_attempts());
    EXPECT_TRUE(by_deadline.limits_attempts());
}

TEST(retry_settings, measure_time_for_every_limit_on_time) {
    retry_settings s;
    EXPECT_FALSE(s.measures_time());
    s.max_elapsed = 1s;
    EXPECT_TRUE(s.measures_time());
    retry_settings by_attempt;
    by_attempt.attempt_timeout = 1s;
    EXPECT_TRUE(by_attempt.measures_time());
}

} // namespace
} // namespace asio_retry::test
