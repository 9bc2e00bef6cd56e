#include <asio_retry/jitter.hpp>

#include <asio_retry/policy_text.hpp>

#include "support/elements.hpp"
#include "support/script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace asio_retry::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Eq;
using testing::Ge;
using testing::Gt;
using testing::Le;
using testing::Lt;

std::vector<backoff> const shapes_that_begin_at_once = {
    first_at_once(exponential(100ms).cap(20s)),
    first_at_once(first_at_once(exponential(100ms).cap(20s))),
    chained(constant(0s), 2, linear(100ms, 100ms)),
    schedule({0s, 0s, 100ms, 1s}).cap(20s),
    linear(0s, 100ms),
    backoff([](std::uint64_t failures) { return failures < 3 ? duration() : duration(100ms); }).cap(20s)};

TEST(decision_36, a_first_retry_at_once_does_not_make_all_of_them_at_once) {
    for (backoff const& shape : shapes_that_begin_at_once)
        for (jitter const& kind : {decorrelated_jitter(), decorrelated_jitter_v2()}) {
            auto const delays = first_delays(retry_policy().backoff(shape).jitter(kind), 20);
            EXPECT_EQ(delays.front(), 0s) << to_string(shape);
            EXPECT_THAT(std::vector(delays.begin() + 2, delays.end()), Each(Gt(duration::zero())))
                << to_string(shape) << ' ' << to_string(kind);
        }
}

// Each is drawn from the base on, which is the first ceiling that is not zero, as if nothing had come before.
TEST(decision_36, the_usual_delays_follow_those_at_once) {
    backoff const usual = exponential(100ms).cap(20s);
    auto const delays =
        first_delays(retry_policy().backoff(first_at_once(usual)).jitter(decorrelated_jitter()), 10, 7);
    random twin(7);
    duration previous = 100ms;
    for (std::size_t i = 1; i != delays.size(); ++i) {
        if (i == 1)
            twin.uniform(0s, 0s); // what was drawn from nothing
        previous = twin.uniform(100ms, std::min<duration>(20s, 3 * previous));
        EXPECT_EQ(delays[i], previous);
    }
}

TEST(decision_36, health_begins_anew) {
    retry_policy const policy = retry_policy()
                                    .backoff(first_at_once(exponential(100ms)))
                                    .jitter(decorrelated_jitter())
                                    .unlimited_attempts()
                                    .reset_after(1min);
    machine_script script(policy);
    script.start();
    duration now{};
    auto const fail_after = [&](duration health) {
        now += health;
        duration const delay = script.fail(now).delay;
        script.wake(now);
        return delay;
    };
    for (int outage = 0; outage != 3; ++outage) {
        EXPECT_EQ(fail_after(2min), 0s);
        duration const first = fail_after(0s);
        duration const second = fail_after(0s);
        EXPECT_TRUE(first >= 100ms && first <= 300ms) << "in outage " << outage;
        EXPECT_TRUE(second >= 100ms && second <= 3 * first) << "in outage " << outage;
    }
}

TEST(decision_36, what_an_own_jitter_is_told) {
    std::vector<backoff_step> told;
    auto const note = [&](backoff_step s, random&) {
        told.push_back(s);
        return s.ceiling * 2;
    };
    first_delays(retry_policy().backoff(schedule({0s, 0s, 1s, 4s})).jitter(note), 4);
    EXPECT_EQ(told[1].base, 0s);
    EXPECT_EQ(told[1].previous, 0s);
    EXPECT_EQ(told[2].base, 1s);
    EXPECT_EQ(told[2].previous, 1s) << "the base before there was one";
    EXPECT_EQ(told[3].base, 1s);
    EXPECT_EQ(told[3].previous, 2s);
    EXPECT_EQ(told[3].failures, 4u);
}

// A cap that is lower than the base binds it too, as in the second part here, where all begins anew.
TEST(decision_37, the_base_is_never_above_the_cap) {
    detail::jitter_course course;
    backoff const falling = chained(constant(10s), 1, constant(1s).cap(2s));
    EXPECT_EQ(course.step(falling, 1, 10s).base, 10s);
    course.drew(7s);
    backoff_step const second = course.step(falling, 2, 1s);
    EXPECT_EQ(second.base, 1s);
    EXPECT_EQ(second.cap, 2s);
    EXPECT_EQ(second.previous, 1s);
    course.drew(2s);
    EXPECT_EQ(course.step(falling, 3, 1s).previous, 2s) << "once";
}

// The cap of the second part leaves nothing above the base of the first.
TEST(decision_02, decorrelated_delays_are_not_the_cap_for_ever_in_a_part_with_a_lower_one) {
    backoff const later = exponential(10ms).cap(1s);
    for (backoff const& shape :
         {chained(exponential(10s).cap(10s), 2, later), chained(exponential(1s).cap(10s), 2, later),
          chained(exponential(10s).cap(10s), 2, first_at_once(later)),
          chained(constant(1min), 1, chained(exponential(10s).cap(10s), 1, later)),
          schedule({1s, 1s, 10ms}).cap(1s)}) {
        auto const delays = first_delays(retry_policy().backoff(shape).jitter(decorrelated_jitter()), 40);
        std::vector const of_later(delays.begin() + 3, delays.end());
        EXPECT_THAT(of_later, Each(AllOf(Ge(10ms), Lt(1s)))) << to_string(shape);
    }
}

TEST(decision_37, the_second_part_of_a_chain_is_decorrelated_as_if_it_were_alone) {
    backoff const later = exponential(10ms).cap(1s);
    jitter const greatest([](backoff_step s, random&) { return decorrelated_jitter().range(s)->greatest; });
    auto const alone = first_delays(retry_policy().backoff(later).jitter(greatest), 8);
    auto const in_chain =
        first_delays(retry_policy().backoff(chained(exponential(10s).cap(10s), 2, later)).jitter(greatest), 10);
    EXPECT_THAT(in_chain[0], 10s);
    EXPECT_THAT(in_chain[1], 10s);
    EXPECT_EQ(std::vector(in_chain.begin() + 2, in_chain.end()), alone);
}

// It is the one to begin with, and all ceilings are.
TEST(decision_37, a_base_at_the_cap_stays_there) {
    auto const delays =
        first_delays(retry_policy().backoff(exponential(10s).cap(10s)).jitter(decorrelated_jitter()), 5);
    EXPECT_THAT(delays, Each(Eq(10s)));
    std::vector<duration> previous;
    auto const note = [&](backoff_step s, random&) {
        previous.push_back(s.previous);
        return duration(1s);
    };
    first_delays(retry_policy().backoff(constant(10s).cap(10s)).jitter(note), 3);
    EXPECT_THAT(previous, elements(10s, 1s, 1s));
}

TEST(decision_37, a_cap_inside_another_backoff_binds_every_jitter) {
    backoff const inner = exponential(100ms).cap(20s);
    std::vector<jitter> const kinds = {additive_jitter(1h),
                                       proportional_jitter(1),
                                       log_normal_jitter(3),
                                       multiplicative_jitter(0.5, 100),
                                       decorrelated_jitter(),
                                       decorrelated_jitter_v2(),
                                       [](backoff_step, random&) { return duration::max(); }};
    for (backoff const& shape :
         {first_at_once(inner), chained(constant(1ms).cap(1s), 2, inner),
          chained(inner, 20, constant(1s).cap(20s)), first_at_once(chained(inner, 5, first_at_once(inner)))})
        for (jitter const& kind : kinds)
            EXPECT_THAT(first_delays(retry_policy().backoff(shape).jitter(kind), 40), Each(Le(duration(20s))))
                << to_string(shape) << ' ' << to_string(kind);
}

TEST(decision_37, each_part_of_a_chain_has_its_own_cap) {
    backoff const shape = chained(constant(1s).cap(2s), 2, constant(5s)).cap(9s);
    EXPECT_EQ(shape.cap_after(0), 2s);
    EXPECT_EQ(shape.cap_after(1), 2s);
    EXPECT_EQ(shape.cap_after(2), 2s);
    EXPECT_EQ(shape.cap_after(3), 9s);
    EXPECT_EQ(shape.cap(), 9s);
    EXPECT_EQ(constant(1s).cap_after(1), duration::max());
    EXPECT_EQ(constant(1s).cap(3s).cap_after(7), 3s);
    EXPECT_EQ(chained(shape, 9, constant(1s)).cap(1500ms).cap_after(1), 1500ms);
}

TEST(decision_37, first_at_once_is_at_once_with_every_jitter_below_the_cap) {
    for (jitter const& kind :
         {additive_jitter(1s), full_jitter(), equal_jitter(), decorrelated_jitter(), proportional_jitter(1),
          multiplicative_jitter(1, 3), windowed_jitter(1s), log_normal_jitter(1), decorrelated_jitter_v2(),
          jitter([](backoff_step, random&) { return duration(1s); })})
        EXPECT_EQ(first_delays(retry_policy().backoff(first_at_once(constant(1s))).jitter(kind), 1).front(), 0s)
            << to_string(kind);
    auto const beyond =
        retry_policy().backoff(first_at_once(constant(1s))).jitter(additive_jitter(1s).beyond_cap());
    EXPECT_GT(first_delays(beyond, 1).front(), 0s) << "it was told to";
}

} // namespace
} // namespace asio_retry::test
