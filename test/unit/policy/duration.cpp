#include <asio_retry/duration.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ratio>
#include <type_traits>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

TEST(duration, counts_nanoseconds_exactly) {
    static_assert(std::is_integral_v<duration::rep> && sizeof(duration::rep) == 8);
    static_assert(std::is_same_v<duration::period, std::nano>);
    EXPECT_EQ(duration(1s).count(), 1'000'000'000);
}

TEST(decision_06, time_points_are_those_of_the_steady_clock) {
    static_assert(std::is_same_v<time_point::clock, std::chrono::steady_clock>);
    static_assert(time_point::clock::is_steady);
}

TEST(saturating_add, adds) {
    EXPECT_EQ(saturating_add(time_point(5s), 3s), time_point(8s));
    EXPECT_EQ(saturating_add(time_point(-5s), 3s), time_point(-2s));
    EXPECT_EQ(saturating_add(time_point(5s), 0s), time_point(5s));
    EXPECT_EQ(saturating_add(time_point(5s), -8s), time_point(-3s));
}

TEST(saturating_add, stops_at_the_last_time_point) {
    EXPECT_EQ(saturating_add(time_point::max() - 1s, 1s - 1ns), time_point::max() - 1ns);
    EXPECT_EQ(saturating_add(time_point::max() - 1s, 1s), time_point::max());
    EXPECT_EQ(saturating_add(time_point::max() - 1s, 1s + 1ns), time_point::max());
    EXPECT_EQ(saturating_add(time_point::max(), duration::max()), time_point::max());
    EXPECT_EQ(saturating_add(time_point::min(), duration::max()), time_point(-1ns));
}

TEST(saturating_add, stops_at_the_first_time_point) {
    EXPECT_EQ(saturating_add(time_point::min() + 1s, -1s + 1ns), time_point::min() + 1ns);
    EXPECT_EQ(saturating_add(time_point::min() + 1s, -1s), time_point::min());
    EXPECT_EQ(saturating_add(time_point::min() + 1s, -1s - 1ns), time_point::min());
    EXPECT_EQ(saturating_add(time_point::min(), duration::min()), time_point::min());
    EXPECT_EQ(saturating_add(time_point::max(), duration::min()), time_point(-1ns));
}

TEST(elapsed_between, subtracts) {
    EXPECT_EQ(elapsed_between(time_point(2s), time_point(5s)), 3s);
    EXPECT_EQ(elapsed_between(time_point(-2s), time_point(5s)), 7s);
    EXPECT_EQ(elapsed_between(time_point(-5s), time_point(-2s)), 3s);
}

TEST(elapsed_between, is_never_negative) {
    EXPECT_EQ(elapsed_between(time_point(5s), time_point(5s)), 0s);
    EXPECT_EQ(elapsed_between(time_point(5s), time_point(2s)), 0s);
    EXPECT_EQ(elapsed_between(time_point::max(), time_point::min()), 0s);
}

TEST(elapsed_between, stops_at_the_greatest_duration) {
    EXPECT_EQ(elapsed_between(time_point::min(), time_point::max()), duration::max());
    EXPECT_EQ(elapsed_between(time_point::min(), time_point(0s)), duration::max());
    EXPECT_EQ(elapsed_between(time_point::min(), time_point(-1ns)), duration::max());
    EXPECT_EQ(elapsed_between(time_point::min(), time_point(-2ns)), duration::max() - 1ns);
    EXPECT_EQ(elapsed_between(time_point(-1s), time_point::max()), duration::max());
    EXPECT_EQ(elapsed_between(time_point(-1s), time_point::max() - 2s), duration::max() - 1s);
    EXPECT_EQ(elapsed_between(time_point(0s), time_point::max()), duration::max());
}

} // namespace
} // namespace asio_retry::test
