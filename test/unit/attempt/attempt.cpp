#include <asio_retry/attempt.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

namespace asio_retry::test {
namespace {

TEST(attempt, is_the_first_without_a_deadline_unless_told_otherwise) {
    attempt const first;
    EXPECT_EQ(first.number, 1u);
    EXPECT_EQ(first.deadline, time_point::max());
}

TEST(attempt, is_a_plain_value) {
    static_assert(std::is_aggregate_v<attempt> && std::is_trivially_copyable_v<attempt>);
    attempt const third{3, time_point(std::chrono::seconds(7))};
    attempt const copy = third;
    EXPECT_EQ(copy.number, 3u);
    EXPECT_EQ(copy.deadline, time_point(std::chrono::seconds(7)));
}

} // namespace
} // namespace asio_retry::test
