// The shapes that the published schemes need besides the usual ones.
#include <asio_retry/backoff.hpp>

#include <asio_retry/policy_text.hpp>

#include "support/elements.hpp"
#include "support/first_ceilings.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

TEST(polynomial, is_the_base_times_a_power_of_the_failures) {
    EXPECT_THAT(first_ceilings(polynomial(1s, 2), 5), elements(1s, 4s, 9s, 16s, 25s));
    EXPECT_THAT(first_ceilings(polynomial(5ms, 0), 3), elements(5ms, 5ms, 5ms));
    EXPECT_EQ(polynomial(7ns, 3).ceiling(1'000'001), duration(7 * 1'000'003'000'003'000'001));
    EXPECT_EQ(polynomial(1ns, 2).ceiling(most_failures), duration::max());
    EXPECT_EQ(polynomial(0s, 9).ceiling(most_failures), 0s);
    EXPECT_EQ(polynomial(1s, 2).cap(10s).ceiling(4), 10s);
    EXPECT_THAT(calling([] { return polynomial(-1ns, 2); }), refuses("polynomial.base"));
    EXPECT_THAT(calling([] { return polynomial(1s, -1); }),
                refuses("polynomial.exponent = -1: must be at least 0"));
}

TEST(fibonacci, is_the_sum_of_the_two_before) {
    EXPECT_THAT(first_ceilings(fibonacci(10ms), 8), elements(10ms, 10ms, 20ms, 30ms, 50ms, 80ms, 130ms, 210ms));
    EXPECT_EQ(fibonacci(1ns).ceiling(92), duration(7'540'113'804'746'346'429));
    EXPECT_EQ(fibonacci(1ns).ceiling(93), duration::max()); // 12'200'160'415'121'876'738
    EXPECT_EQ(fibonacci(1h).ceiling(most_failures), duration::max());
    EXPECT_THAT(calling([] { return fibonacci(-1s); }), refuses("fibonacci.base"));
}

TEST(stepwise_exponential, rounds_each_step_down) {
    EXPECT_THAT(first_ceilings(stepwise_exponential(3ns, 1.5, 14ns), 6),
                elements(3ns, 4ns, 6ns, 9ns, 13ns, 14ns));
    EXPECT_EQ(stepwise_exponential(1ns, 1.5, 1h).ceiling(most_failures), 1ns) << "never grows";
    EXPECT_EQ(stepwise_exponential(1s, 2, 1h).ceiling(most_failures), 1h);
    EXPECT_EQ(stepwise_exponential(1s, 2, duration::max()).ceiling(most_failures), duration::max());
    EXPECT_THAT(calling([] { return stepwise_exponential(2s, 2, 1s); }),
                refuses("stepwise_exponential.greatest"));
    EXPECT_THAT(calling([] { return stepwise_exponential(-1s, 2, 1s); }), refuses("stepwise_exponential.base"));
    EXPECT_THAT(calling([] { return stepwise_exponential(1s, 0.5, 1s); }),
                refuses("stepwise_exponential.factor = 0.5"));
}

TEST(slotted_binary, is_a_whole_number_of_slots) {
    EXPECT_THAT(first_ceilings(slotted_binary(10us, 3), 5), elements(10us, 30us, 70us, 70us, 70us));
    EXPECT_EQ(slotted_binary(1us).ceiling(most_failures), 1023us);
    EXPECT_EQ(slotted_binary(1ns, 63).ceiling(most_failures), duration::max());
    EXPECT_EQ(slotted_binary(1s, 1000).ceiling(most_failures), duration::max());
    EXPECT_EQ(slotted_binary(1ns, 1024).ceiling(most_failures), duration::max());
    EXPECT_THAT(calling([] { return slotted_binary(0s); }), refuses("slotted_binary.slot"));
    EXPECT_THAT(calling([] { return slotted_binary(1us, 0); }),
                refuses("slotted_binary.greatest_exponent = 0"));
}

TEST(schedule, gives_its_delays_in_their_order_and_then_the_last) {
    EXPECT_THAT(first_ceilings(schedule({1s, 5s, 2s}), 5), elements(1s, 5s, 2s, 2s, 2s));
    EXPECT_EQ(schedule({1s, 5s, 2s}).ceiling(most_failures), 2s);
    std::array<std::chrono::seconds, 2> const of_seconds{3s, 4s};
    EXPECT_THAT(first_ceilings(schedule(of_seconds), 3), elements(3s, 4s, 4s));
    std::vector<duration> const list{7ms};
    EXPECT_THAT(first_ceilings(schedule(list), 2), elements(7ms, 7ms));
    EXPECT_THAT(first_ceilings(schedule({1s, 5s, 2s}).cap(3s), 3), elements(1s, 3s, 2s));
    EXPECT_THAT(calling([] { return schedule({}); }), refuses("at least one delay"));
    EXPECT_THAT(calling([] { return schedule({1s, -1s}); }), refuses("schedule"));
}

TEST(chained, begins_the_second_shape_from_one) {
    auto const shape = chained(constant(1s), 2, exponential(10s));
    EXPECT_THAT(first_ceilings(shape, 5), elements(1s, 1s, 10s, 20s, 40s));
    EXPECT_EQ(shape.ceiling(most_failures), duration::max());
    EXPECT_THAT(first_ceilings(chained(shape, 3, linear(0s, 1s)).cap(2s), 6), elements(1s, 1s, 2s, 0s, 1s, 2s));
    EXPECT_THAT(calling([] { return chained(constant(1s), 0, constant(2s)); }),
                refuses("chained.failures = 0: must be at least 1"));
}

TEST(chained, calls_no_users_shape_to_be_capped) {
    int calls = 0;
    auto const counting = [&calls](std::uint64_t) {
        ++calls;
        return duration(1h);
    };
    auto const shape = chained(backoff(counting), 2, constant(1s)).cap(1min);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(shape.ceiling(1), 1min);
}

// What walks through the parts of a chain does so recursively, and the stack ends.
TEST(decision_42, sixteen_backoffs_may_stand_inside_one_another) {
    auto const refusal = "chained = 17 backoffs inside one another: must be at most 16";
    backoff on_the_right = constant(1s), on_the_left = constant(1s), at_once = constant(1s);
    for (int depth = 2; depth <= 16; ++depth) {
        on_the_right = chained(constant(2s), 1, on_the_right);
        on_the_left = chained(on_the_left, 1, constant(2s)).cap(1h);
        at_once = first_at_once(at_once);
    }
    EXPECT_EQ(at_once.ceiling(16), 1s);
    EXPECT_THAT(calling([&] { return chained(constant(2s), 1, on_the_right); }), refuses(refusal));
    EXPECT_THAT(calling([&] { return chained(on_the_left, 1, constant(2s)); }), refuses(refusal));
    EXPECT_THAT(calling([&] { return first_at_once(at_once); }), refuses(refusal));
    EXPECT_EQ(parse_policy(to_string(at_once)).settings().backoff.ceiling(16), 1s) << "and all have a text";
}

TEST(decision_42, many_backoffs_inside_one_another_are_refused_before_the_stack_ends) {
    backoff shape = constant(1s);
    auto const nest = [&] {
        for (int i = 0; i != 200'000; ++i)
            shape = first_at_once(shape);
    };
    EXPECT_THROW((void)nest(), std::invalid_argument);
    EXPECT_EQ(shape.ceiling(most_failures), 1s);
}

TEST(first_at_once, does_not_wait_after_the_first_failure) {
    EXPECT_THAT(first_ceilings(first_at_once(exponential(1s)), 4), elements(0s, 1s, 2s, 4s));
}

} // namespace
} // namespace asio_retry::test
