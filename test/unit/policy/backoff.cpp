#include <asio_retry/backoff.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/elements.hpp"
#include "support/first_ceilings.hpp"
#include "support/refuses.hpp"

#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

TEST(backoff, constant_never_grows) {
    EXPECT_THAT(first_ceilings(constant(7ms), 3), elements(7ms, 7ms, 7ms));
    EXPECT_EQ(constant(7ms).ceiling(most_failures), 7ms);
    EXPECT_EQ(constant(0s).ceiling(1), 0s);
}

TEST(backoff, linear_adds_a_step_for_each_failure) {
    EXPECT_THAT(first_ceilings(linear(1s, 250ms), 4), elements(1s, 1250ms, 1500ms, 1750ms));
    EXPECT_EQ(linear(1ns, 1ns).ceiling(1'000'000'007), 1'000'000'007ns);
}

TEST(backoff, exponential_doubles) {
    EXPECT_THAT(first_ceilings(exponential(100ms).cap(1s), 6), elements(100ms, 200ms, 400ms, 800ms, 1s, 1s));
}

TEST(backoff, exponential_with_a_whole_factor_is_exact_to_the_last_nanosecond) {
    EXPECT_EQ(exponential(3ns, 3).ceiling(39), duration(4'052'555'153'018'976'267)); // 3^39 > 2^53
    EXPECT_EQ(exponential(1ns).ceiling(63), duration(std::int64_t(1) << 62));
    EXPECT_EQ(exponential(1ns).ceiling(64), duration::max());
}

TEST(backoff, exponential_with_a_fraction_rounds_to_the_nearest_nanosecond) {
    EXPECT_THAT(first_ceilings(exponential(500ms, 1.5), 5),
                elements(500ms, 750ms, 1125ms, 1687500us, 2531250us));
    EXPECT_THAT(first_ceilings(exponential(1ns, 1.5), 5),
                elements(1ns, 2ns, 2ns, 3ns, 5ns)); // 1.5 2.25 3.375 5.06
    EXPECT_EQ(exponential(1s, 1.1).ceiling(3), 1210ms);
}

TEST(backoff, exponential_begins_at_its_base_whatever_the_factor) {
    duration const odd((std::int64_t(1) << 53) + 1), nearly_greatest = duration::max() - 1ns;
    for (double factor : {1., 1.5, 2., 1e300}) {
        EXPECT_EQ(exponential(odd, factor).ceiling(1), odd);
        EXPECT_EQ(exponential(nearly_greatest, factor).cap(nearly_greatest).ceiling(1), nearly_greatest);
    }
}

TEST(backoff, exponential_with_factor_one_stays_at_the_base) {
    EXPECT_EQ(exponential(5ms, 1).ceiling(most_failures), 5ms);
}

TEST(backoff, truncated_binary_is_given_by_requirement) {
    EXPECT_THAT(first_ceilings(truncated_binary(10, 10s), 12),
                elements(19531250ns, 39062500ns, 78125us, 156250us, 312500us, 625ms, 1250ms, 2500ms, 5s, 10s,
                         10s, 10s));
    EXPECT_EQ(truncated_binary(1, 10s).ceiling(1), 10s);
}

TEST(backoff, truncated_binary_begins_at_zero_where_the_halves_get_too_small) {
    EXPECT_EQ(truncated_binary(100, 10s).ceiling(1), 0s);
    EXPECT_EQ(truncated_binary(64, duration::max()).ceiling(1), 0s);
    EXPECT_EQ(truncated_binary(63, duration::max()).ceiling(1), 1ns);
    EXPECT_EQ(truncated_binary(100, 10s).ceiling(99), 5s);
    EXPECT_EQ(truncated_binary(std::numeric_limits<std::int64_t>::max(), 10s).ceiling(most_failures), 10s);
}

TEST(backoff, a_callable_is_given_the_failure_count_and_held_in_bounds) {
    backoff const squares([](std::uint64_t failures) { return duration(failures * failures); });
    EXPECT_THAT(first_ceilings(squares, 3), elements(1ns, 4ns, 9ns));
    EXPECT_EQ(squares.cap(5ns).ceiling(3), 5ns);
    EXPECT_EQ(backoff([](std::uint64_t) { return duration::max(); }).ceiling(1), duration::max());
}

TEST(backoff, what_a_callable_throws_passes_through) {
    backoff const shape([](std::uint64_t) -> duration { throw std::out_of_range("shape"); });
    EXPECT_THROW((void)shape.ceiling(1), std::out_of_range);
    EXPECT_NO_THROW((void)shape.cap(1s));
}

TEST(backoff, zero_failures_count_as_one) {
    EXPECT_EQ(linear(1s, 1s).ceiling(0), 1s);
    EXPECT_EQ(exponential(100ms, 1.5).ceiling(0), 100ms);
}

TEST(backoff, names_its_base_and_cap) {
    EXPECT_EQ(exponential(100ms).base(), 100ms);
    EXPECT_EQ(exponential(100ms).cap(), duration::max());
    EXPECT_EQ(exponential(100ms).cap(10s).cap(), 10s);
    EXPECT_EQ(truncated_binary(10, 10s).base(), 19531250ns);
}

TEST(backoff, cap_leaves_the_original_as_it_was) {
    backoff const uncapped = exponential(1s);
    backoff const capped = uncapped.cap(2s);
    EXPECT_EQ(uncapped.ceiling(3), 4s);
    EXPECT_EQ(capped.ceiling(3), 2s);
    EXPECT_EQ(capped.cap(3s).ceiling(3), 3s) << "the last cap counts";
}

TEST(decision_01, every_shape_saturates_for_every_failure_count) {
    std::vector<std::pair<backoff, duration>> const shapes_and_ends = {
        {constant(duration::max()), duration::max()},
        {linear(0s, 1ns), duration::max()},
        {linear(duration::max(), duration::max()), duration::max()},
        {linear(5s, 0s), 5s},
        {exponential(1ns), duration::max()},
        {exponential(1ns, 1 + 1e-9), duration::max()},
        {exponential(duration::max(), 1.5), duration::max()},
        {exponential(1ns, std::numeric_limits<double>::max()), duration::max()},
        {exponential(duration::max(), 9223372036854775808.), duration::max()},
        {exponential(0s, std::numeric_limits<double>::max()), 0s},
        {truncated_binary(10, duration::max()), duration::max()},
    };
    for (auto const& [shape, end] : shapes_and_ends) {
        duration last = duration::zero();
        for (std::uint64_t failures : {std::uint64_t(1), std::uint64_t(2), std::uint64_t(63), std::uint64_t(64),
                                       std::uint64_t(65), std::uint64_t(1) << 32, std::uint64_t(1) << 63,
                                       (std::uint64_t(1) << 63) + 1, most_failures - 1, most_failures}) {
            duration const ceiling = shape.ceiling(failures);
            EXPECT_GE(ceiling, last) << failures;
            EXPECT_EQ(shape.cap(end).ceiling(failures), ceiling);
            last = ceiling;
        }
        EXPECT_EQ(last, end);
    }
}

TEST(decision_01, the_cap_bounds_every_shape) {
    for (backoff const& shape : {constant(1s), linear(1s, 1s), exponential(1s), exponential(1s, 1.7),
                                 truncated_binary(3, 4s), backoff([](std::uint64_t f) { return f * 2s; })})
        for (std::uint64_t failures : {std::uint64_t(1), std::uint64_t(4), most_failures})
            EXPECT_LE(shape.cap(1500ms).ceiling(failures), 1500ms);
    EXPECT_EQ(linear(1s, 1s).cap(1s).ceiling(2), 1s) << "a cap equal to the base is one";
}

TEST(decision_04, a_negative_result_of_a_callable_is_refused) {
    backoff const shape([](std::uint64_t failures) { return failures == 2 ? duration(-5ms) : duration(0); });
    EXPECT_EQ(shape.ceiling(1), 0s);
    EXPECT_THAT(calling([&] { return shape.ceiling(2); }), refuses("backoff", "-5ms", "must not be negative"));
    EXPECT_THAT(calling([&] { return chained(shape.cap(1s), 3, constant(1s)).ceiling(2); }),
                refuses("backoff", "-5ms", "must not be negative"));
}

TEST(decision_04, negative_durations_are_refused) {
    EXPECT_THAT(calling([] { return constant(-1ns); }), refuses("constant", "-1ns", "must not be negative"));
    EXPECT_THAT(calling([] { return linear(-2ns, 0s); }),
                refuses("linear.initial", "-2ns", "must not be negative"));
    EXPECT_THAT(calling([] { return linear(0s, -3ns); }),
                refuses("linear.step", "-3ns", "must not be negative"));
    EXPECT_THAT(calling([] { return exponential(-1ms); }),
                refuses("exponential.base", "-1ms", "must not be negative"));
    EXPECT_THAT(calling([] { return truncated_binary(1, -1ns); }),
                refuses("truncated_binary.greatest", "-1ns", "must not be negative"));
    EXPECT_THAT(calling([] { return constant(0s).cap(-1ns); }), refuses("cap", "-1ns", "must not be negative"));
}

TEST(decision_04, factors_that_do_not_grow_are_refused) {
    using limits = std::numeric_limits<double>;
    auto const rule = "must be a finite number of at least 1";
    EXPECT_THAT(calling([] { return exponential(1s, 0.5); }), refuses("exponential.factor", "0.5", rule));
    EXPECT_THAT(calling([] { return exponential(1s, std::nextafter(1., 0.)); }),
                refuses("exponential.factor", "0.9999999999999999", rule));
    EXPECT_THAT(calling([] { return exponential(1s, -2); }), refuses("exponential.factor", "-2", rule));
    EXPECT_THAT(calling([] { return exponential(1s, limits::quiet_NaN()); }),
                refuses("exponential.factor", "nan", rule));
    EXPECT_THAT(calling([] { return exponential(1s, limits::infinity()); }),
                refuses("exponential.factor", "inf", rule));
    EXPECT_NO_THROW((void)exponential(1s, 1));
}

TEST(decision_04, a_requirement_of_no_growing_failure_is_refused) {
    EXPECT_THAT(calling([] { return truncated_binary(0, 1s); }),
                refuses("truncated_binary.growing_failures", "0", "must be at least 1"));
    EXPECT_THAT(calling([] { return truncated_binary(-5, 1s); }),
                refuses("truncated_binary.growing_failures", "-5", "must be at least 1"));
}

TEST(decision_04, a_cap_below_the_base_is_refused) {
    auto const rule = "must not be below the base, which is 2ns";
    EXPECT_THAT(calling([] { return constant(2ns).cap(1ns); }), refuses("cap", "1ns", rule));
    EXPECT_THAT(calling([] { return linear(2ns, 0ns).cap(1ns); }), refuses("cap", "1ns", rule));
    EXPECT_THAT(calling([] { return exponential(2ns).cap(1ns); }), refuses("cap", "1ns", rule));
    EXPECT_THAT(calling([] { return truncated_binary(1, 2ns).cap(1ns); }), refuses("cap", "1ns", rule));
    EXPECT_THAT(calling([] { return constant(4ns).cap(4ns).cap(3ns); }),
                refuses("cap", "3ns", "must not be below the base, which is 4ns"));
}

} // namespace
} // namespace asio_retry::test
