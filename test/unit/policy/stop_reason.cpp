#include <asio_retry/stop_reason.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asio_retry::test {
namespace {

TEST(decision_11, every_stop_reason_has_its_name) {
    EXPECT_EQ(to_string(stop_reason::succeeded), "succeeded");
    EXPECT_EQ(to_string(stop_reason::not_retryable), "not_retryable");
    EXPECT_EQ(to_string(stop_reason::attempts), "attempts");
    EXPECT_EQ(to_string(stop_reason::elapsed), "elapsed");
    EXPECT_EQ(to_string(stop_reason::deadline), "deadline");
    EXPECT_EQ(to_string(stop_reason::budget), "budget");
    EXPECT_EQ(to_string(stop_reason::pushback), "pushback");
    EXPECT_EQ(to_string(stop_reason::cancelled), "cancelled");
    EXPECT_EQ(to_string(stop_reason::refused), "refused");
}

TEST(stop_reason, says_so_when_it_is_none) {
    EXPECT_EQ(to_string(static_cast<stop_reason>(99)), "unknown stop_reason");
}

TEST(stop_reason, begins_as_success) {
    EXPECT_EQ(stop_reason(), stop_reason::succeeded);
}

} // namespace
} // namespace asio_retry::test
