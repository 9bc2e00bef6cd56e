#include <asio_retry/fault_plan.hpp>

#include <asio_retry/detail/inject/injected_fault.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refuses.hpp"
#include "support/scripted_operation.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using kind = detail::injected_fault::kind;
using testing::Each;

fault_options some_of_all() {
    return {.errors = {0.1, refused()},
            .lost_answers = {0.05, timed_out()},
            .delays = {0.2, 10ms, 30ms},
            .hangs = 0.02,
            .seed = 42};
}

/// The faults of attempts, one after the other; of a delay its length, too.
std::vector<duration> story(fault_plan& plan, int attempts) {
    std::vector<duration> result;
    for (int i = 0; i != attempts; ++i) {
        auto const fault = detail::fault_access::draw(plan);
        result.push_back(fault.length + 1h * static_cast<int>(fault.what));
    }
    return result;
}

TEST(fault_plan, decision_71_is_disabled_until_it_is_told) {
    fault_plan plan({.hangs = 1});
    EXPECT_FALSE(plan.is_enabled());
    EXPECT_THAT(story(plan, 10), Each(0h));
    EXPECT_EQ(plan.counts(), fault_counts());
    plan.enable();
    EXPECT_TRUE(plan.is_enabled());
    EXPECT_THAT(story(plan, 10), Each(4h));
    plan.disable();
    EXPECT_FALSE(plan.is_enabled());
    EXPECT_THAT(story(plan, 10), Each(0h));
    EXPECT_EQ(plan.counts(), (fault_counts{.attempts = 10, .hangs = 10}));
}

struct counted_attempt final : detail::held_attempt {
    int times_let_go = 0;
    void let_go() noexcept override { ++times_let_go; }
};

TEST(fault_plan, decision_71_lets_64_attempts_go_before_others_may_have_its_mutex) {
    fault_plan plan;
    std::vector<counted_attempt> attempts(65);
    detail::linked_list<detail::held_attempt> leaving;
    for (counted_attempt& each : attempts)
        leaving.push_back(each);
    auto const let_go = [&] { return std::ranges::count(attempts, 1, &counted_attempt::times_let_go); };
    EXPECT_TRUE(detail::fault_access::let_some_go(plan, leaving));
    EXPECT_EQ(let_go(), 64);
    EXPECT_FALSE(detail::fault_access::let_some_go(plan, leaving));
    EXPECT_EQ(let_go(), 65);
    EXPECT_TRUE(leaving.empty());
}

TEST(fault_plan, without_options_has_no_faults) {
    fault_plan plan;
    plan.enable();
    EXPECT_THAT(story(plan, 100), Each(0h));
    EXPECT_EQ(plan.counts(), fault_counts{.attempts = 100});
}

TEST(fault_plan, decision_71_tells_the_same_story_for_the_same_seed) {
    fault_plan first(some_of_all()), same(some_of_all());
    fault_options options = some_of_all();
    options.seed = 43;
    fault_plan other(options);
    for (fault_plan* plan : {&first, &same, &other})
        plan->enable();
    auto const told = story(first, 1000);
    EXPECT_EQ(story(same, 1000), told);
    EXPECT_NE(story(other, 1000), told);
    EXPECT_NE(story(first, 1000), told) << "the running number goes on";
    first.update(some_of_all());
    EXPECT_EQ(story(first, 1000), told) << "a seed begins anew";
    options.seed.reset();
    first.update(options);
    EXPECT_NE(story(first, 1000), told) << "and without one the running number goes on";
}

TEST(fault_plan, without_a_seed_tells_another_story_each_time) {
    fault_options options = some_of_all();
    options.seed.reset();
    fault_plan first(options), second(options);
    first.enable();
    second.enable();
    EXPECT_NE(story(first, 1000), story(second, 1000));
}

/// Whether a count is within five standard deviations of its mean.
void expect_share(std::uint64_t count, double share, int attempts) {
    double const mean = share * attempts;
    EXPECT_NEAR(static_cast<double>(count), mean, 5 * std::sqrt(mean * (1 - share)));
}

TEST(fault_plan, gives_each_fault_its_share) {
    constexpr int attempts = 100'000;
    fault_plan plan(some_of_all());
    plan.enable();
    std::array<std::uint64_t, 5> seen{};
    double lengths = 0; // in ms
    for (int i = 0; i != attempts; ++i) {
        auto const fault = detail::fault_access::draw(plan);
        ++seen[static_cast<std::size_t>(fault.what)];
        if (fault.what == kind::delay) {
            EXPECT_GE(fault.length, 10ms);
            EXPECT_LE(fault.length, 30ms);
            lengths += std::chrono::duration<double, std::milli>(fault.length).count();
        }
        EXPECT_EQ(fault.code, fault.what == kind::error         ? refused()
                              : fault.what == kind::lost_answer ? timed_out()
                                                                : error_code());
    }
    expect_share(seen[1], 0.1, attempts);
    expect_share(seen[2], 0.05, attempts);
    expect_share(seen[3], 0.2, attempts);
    expect_share(seen[4], 0.02, attempts);
    double const delays = static_cast<double>(seen[3]);
    EXPECT_NEAR(lengths / delays, 20, 5 * (20 / std::sqrt(12.0)) / std::sqrt(delays));
    EXPECT_EQ(plan.counts(),
              (fault_counts{.attempts = attempts, .errors = seen[1], .delays = seen[3], .hangs = seen[4]}))
        << "answers are counted when they are lost";
}

TEST(fault_plan, takes_shares_whose_sum_is_one) {
    fault_plan plan({.errors = {0.7, refused()}, .delays = {0.2, 0ms, 0ms}, .hangs = 0.1});
    plan.enable();
    EXPECT_THAT(story(plan, 10'000), Each(testing::Ne(0h)));
}

TEST(fault_plan, refuses_what_makes_no_sense_by_name_value_and_rule) {
    auto const refused_for = [](fault_options const& options) { return [options] { fault_plan{options}; }; };
    auto const expect = [&](fault_options const& options, char const* field, char const* value,
                            char const* rule) {
        EXPECT_THAT(refused_for(options), refuses(field, value, rule));
        fault_plan plan(some_of_all()), untouched(some_of_all());
        EXPECT_THAT([&] { plan.update(options); }, refuses(field, value, rule));
        plan.enable();
        untouched.enable();
        EXPECT_EQ(story(plan, 100), story(untouched, 100));
    };
    expect({.errors = {-0.1, refused()}}, "fault_plan.errors.share", "-0.1", "must be in [0, 1]");
    expect({.errors = {1.5, refused()}}, "fault_plan.errors.share", "1.5", "must be in [0, 1]");
    expect({.errors = {0.1, {}}}, "fault_plan.errors.code", "system:0", "must be an error");
    expect({.lost_answers = {2, refused()}}, "fault_plan.lost_answers.share", "2", "must be in [0, 1]");
    expect({.lost_answers = {0.1, {}}}, "fault_plan.lost_answers.code", "system:0", "must be an error");
    expect({.delays = {std::numeric_limits<double>::quiet_NaN(), 1ms, 1ms}}, "fault_plan.delays.share", "nan",
           "must be in [0, 1]");
    expect({.delays = {0.1, -1ms, 1ms}}, "fault_plan.delays.least", "-1ms", "must not be negative");
    expect({.delays = {0.1, 2ms, 1ms}}, "fault_plan.delays.least", "2ms",
           "must not exceed fault_plan.delays.greatest, which is 1ms");
    expect({.hangs = std::numeric_limits<double>::infinity()}, "fault_plan.hangs", "inf", "must be in [0, 1]");
    expect({.errors = {0.5, refused()}, .hangs = 0.75}, "fault_plan.shares", "1.25",
           "the sum of all shares must be at most 1");
}

TEST(fault_plan, is_shared_by_threads) {
    fault_plan plan({.errors = {0.5, refused()}, .seed = 1});
    std::vector<std::thread> threads;
    for (int i = 0; i != 4; ++i)
        threads.emplace_back([&plan, i] {
            for (int n = 0; n != 1000; ++n) {
                static_cast<void>(detail::fault_access::draw(plan));
                if (n % 100 == 0)
                    i % 2 == 0 ? plan.enable() : plan.disable();
                if (n % 250 == 0)
                    plan.update({.errors = {0.5, refused()}});
            }
        });
    for (auto& thread : threads)
        thread.join();
    EXPECT_LE(plan.counts().errors, plan.counts().attempts);
}

} // namespace
} // namespace asio_retry::test
