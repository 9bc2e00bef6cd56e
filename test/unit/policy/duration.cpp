#include <asio_retry/duration.hpp>

#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <ratio>
#include <string>
#include <type_traits>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

template <typename Unit>
using steady_point = std::chrono::time_point<std::chrono::steady_clock, Unit>;

TEST(duration, counts_nanoseconds_exactly) {
    static_assert(std::is_integral_v<duration::rep> && sizeof(duration::rep) == 8);
    static_assert(std::is_same_v<duration::period, std::nano>);
    EXPECT_EQ(duration(1s).count(), 1'000'000'000);
}

TEST(decision_06, time_points_are_those_of_the_steady_clock) {
    static_assert(std::is_same_v<time_point::clock, std::chrono::steady_clock>);
    static_assert(time_point::clock::is_steady);
}

TEST(decision_56, a_duration_is_held_and_not_wrapped_round) {
    EXPECT_EQ(saturating_duration(std::chrono::hours::max()), duration::max());
    EXPECT_EQ(saturating_duration(std::chrono::hours::min()), duration::min());
    EXPECT_EQ(saturating_duration(std::chrono::years(600)), duration::max());
    EXPECT_EQ(saturating_duration(std::chrono::years(-600)), duration::min());
    EXPECT_EQ(saturating_duration(std::chrono::seconds(9'223'372'036)), 9'223'372'036s);
    EXPECT_EQ(saturating_duration(std::chrono::seconds(9'223'372'037)), duration::max());
    EXPECT_EQ(saturating_duration(std::chrono::seconds(-9'223'372'036)), -9'223'372'036s);
    EXPECT_EQ(saturating_duration(std::chrono::seconds(-9'223'372'037)), duration::min());
    EXPECT_EQ(saturating_duration(std::chrono::duration<std::uint64_t, std::nano>(~0ull)), duration::max());
    EXPECT_EQ(saturating<std::chrono::seconds>(std::chrono::hours::max()), std::chrono::seconds::max());
    EXPECT_EQ(saturating_time_point(steady_point<std::chrono::hours>::max()), time_point::max());
    EXPECT_EQ(saturating_time_point(steady_point<std::chrono::hours>::min()), time_point::min());
}

TEST(decision_56, a_floating_point_duration_is_rounded_to_the_nearest_nanosecond) {
    using real = std::chrono::duration<double, std::nano>;
    EXPECT_EQ(saturating_duration(1.1s), 1'100ms);
    EXPECT_EQ(saturating_duration(real(2.5)), 3ns);
    EXPECT_EQ(saturating_duration(real(-2.5)), -3ns);
    EXPECT_EQ(saturating_duration(real(-2.4)), -2ns);
    EXPECT_EQ(saturating_duration(std::chrono::duration<double>(1e300)), duration::max());
    EXPECT_EQ(saturating_duration(std::chrono::duration<double>(-1e300)), duration::min());
    EXPECT_EQ(saturating_duration(real(9'223'372'036'854'775'808.)), duration::max());
    EXPECT_EQ(saturating_duration(real(-9'223'372'036'854'775'808.)), duration::min());
    EXPECT_THAT(calling([] { saturating_duration(real(std::numeric_limits<double>::quiet_NaN())); }),
                refuses("duration = nan: must be a number"));
}

TEST(decision_56, a_duration_is_taken_where_std_chrono_takes_one) {
    static_assert(std::is_convertible_v<std::chrono::hours, saturating_duration>);
    static_assert(!std::is_convertible_v<std::chrono::duration<int, std::pico>, saturating_duration>);
    static_assert(!std::is_convertible_v<std::chrono::milliseconds, saturating<std::chrono::seconds>>);
    static_assert(!std::is_convertible_v<std::chrono::duration<double>, saturating<std::chrono::seconds>>);
    static_assert(!std::is_convertible_v<std::string, saturating_duration>);
    static_assert(sizeof(saturating_duration) == 8 && std::is_trivially_copyable_v<saturating_duration>);
    struct patience {
        operator duration() const { return 7s; }
    };
    EXPECT_EQ(saturating_duration(patience()), 7s);
    EXPECT_EQ(saturating_duration(), 0s);
    saturating_duration const given = 2 * 1s;
    EXPECT_EQ(given * 2 + 1s, 5s);
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
