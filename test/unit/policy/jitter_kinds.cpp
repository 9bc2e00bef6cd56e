// The jitters that the published schemes need besides the usual ones, and what every jitter may be told.
#include <asio_retry/backoff.hpp>
#include <asio_retry/jitter.hpp>

#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

constexpr backoff_step step_of(duration ceiling, duration cap = duration::max()) {
    return {1, ceiling, ceiling, cap, ceiling};
}

std::vector<duration> sorted_draws(jitter const& kind, backoff_step const& step, int count = 10'000) {
    random source(1);
    std::vector<duration> result;
    for (int i = 0; i != count; ++i)
        result.push_back(kind.draw(step, source));
    std::sort(result.begin(), result.end());
    return result;
}

/// The range is this, and draws reach into both of its ends.
void expect_range(jitter const& kind, backoff_step const& step, duration least, duration greatest) {
    auto const range = kind.range(step);
    ASSERT_TRUE(range);
    EXPECT_EQ(range->least, least);
    EXPECT_EQ(range->greatest, greatest);
    auto const draws = sorted_draws(kind, step);
    duration const margin = (greatest - least) / 100;
    EXPECT_GE(draws.front(), least);
    EXPECT_LE(draws.front(), least + margin);
    EXPECT_LE(draws.back(), greatest);
    EXPECT_GE(draws.back(), greatest - margin);
}

TEST(additive_jitter, is_added_to_the_ceiling_and_stays_under_the_cap) {
    expect_range(additive_jitter(1s), step_of(2s), 2s, 3s);
    expect_range(additive_jitter(1s), step_of(2s, 3s), 2s, 3s);
    expect_range(additive_jitter(0s), step_of(2s), 2s, 2s);
    expect_range(additive_jitter(duration::max()), step_of(2s), 2s, duration::max());
    EXPECT_THAT(calling([] { return additive_jitter(-1ns); }), refuses("additive_jitter.greatest"));
}

// What only adds is drawn below the cap, or clients that have reached the cap would meet there.
TEST(additive_jitter, decision_83_keeps_its_width_at_the_cap) {
    expect_range(additive_jitter(1s), step_of(2s, 2500ms), 1500ms, 2500ms);
    expect_range(additive_jitter(1s), step_of(2500ms, 2500ms), 1500ms, 2500ms);
    expect_range(additive_jitter(4s), step_of(2s, 2500ms), 0s, 2500ms);
    expect_range(additive_jitter(0s), step_of(2s, 2s), 2s, 2s);
    expect_range(additive_jitter(1s), step_of(0s, 0s), 0s, 0s);
    expect_range(additive_jitter(1s).beyond_cap(), step_of(2s, 2s), 2s, 3s);
    expect_range(additive_jitter(1s).unit(400ms), step_of(2s, 2500ms), 1600ms, 2400ms);
    expect_range(additive_jitter(1s).at_least(2s), step_of(2s, 2500ms), 2s, 2500ms);
}

TEST(multiplicative_jitter, decision_83_keeps_its_width_at_the_cap_if_it_only_adds) {
    expect_range(multiplicative_jitter(1, 1.5), step_of(4s, 5s), 3s, 5s);
    expect_range(multiplicative_jitter(1.25, 1.5), step_of(4s, 4s), 3s, 4s);
    expect_range(multiplicative_jitter(1, 9), step_of(4s, 4s), 0s, 4s);
    expect_range(multiplicative_jitter(2, 2), step_of(4s, 5s), 5s, 5s);
    expect_range(multiplicative_jitter(0.5, 1.5), step_of(4s, 4s), 2s, 4s);
}

TEST(multiplicative_jitter, multiplies_the_ceiling) {
    expect_range(multiplicative_jitter(0.5, 2), step_of(4s), 2s, 8s);
    expect_range(multiplicative_jitter(0.5, 2), step_of(4s, 5s), 2s, 5s);
    expect_range(multiplicative_jitter(1, 1), step_of(duration::max()), duration::max(), duration::max());
    expect_range(multiplicative_jitter(0, 3), step_of(duration::max()), 0s, duration::max());
    expect_range(multiplicative_jitter(0, 1.5), step_of(duration::max()), 0s, duration::max());
    EXPECT_THAT(calling([] { return multiplicative_jitter(-0.1, 1); }),
                refuses("multiplicative_jitter.least = -0.1"));
    EXPECT_THAT(calling([] { return multiplicative_jitter(1, 0.5); }),
                refuses("multiplicative_jitter.greatest = 0.5"));
    EXPECT_THAT(calling([] { return multiplicative_jitter(0, std::numeric_limits<double>::infinity()); }),
                refuses("finite"));
    EXPECT_THAT(calling([] { return multiplicative_jitter(std::nan(""), 1); }),
                refuses("multiplicative_jitter.least"));
}

TEST(windowed_jitter, leaves_something_to_draw_at_the_cap) {
    expect_range(windowed_jitter(1s), step_of(10s, 10s), 9s, 10s);
    expect_range(windowed_jitter(1s), step_of(300ms, 10s), 0s, 300ms);
    EXPECT_THAT(calling([] { return windowed_jitter(-1s); }), refuses("windowed_jitter.window"));
}

TEST(symmetric_jitter, reaches_as_far_below_the_ceiling_as_above) {
    expect_range(symmetric_jitter(2s), step_of(10s), 8s, 12s);
    expect_range(symmetric_jitter(2s), step_of(1s), 0s, 3s);
    expect_range(symmetric_jitter(2s), step_of(10s, 11s), 8s, 11s);
    expect_range(symmetric_jitter(0s), step_of(10s), 10s, 10s);
    expect_range(symmetric_jitter(duration::max()), step_of(10s), 0s, duration::max());
    EXPECT_THAT(calling([] { return symmetric_jitter(-1ns); }), refuses("symmetric_jitter.window"));
}

TEST(uniform_jitter, leaves_out_the_shortest_delays) {
    expect_range(uniform_jitter(2s), step_of(10s), 2s, 10s);
    expect_range(uniform_jitter(0s), step_of(10s), 0s, 10s);
    expect_range(uniform_jitter(2s), step_of(1s), 1s, 1s);
    expect_range(uniform_jitter(2s), step_of(0s), 0s, 0s);
    EXPECT_THAT(calling([] { return uniform_jitter(-1ns); }), refuses("uniform_jitter.least"));
}

TEST(log_normal_jitter, has_the_ceiling_as_its_median) {
    auto const kind = log_normal_jitter(0.5);
    EXPECT_FALSE(kind.range(step_of(1s)));
    auto const draws = sorted_draws(kind, step_of(1s), 100'000);
    auto const logarithm_at = [&](double share) {
        auto const index = static_cast<std::size_t>(share * static_cast<double>(draws.size()));
        return std::log(std::chrono::duration<double>(draws[index]).count());
    };
    // The quantiles of a normal distribution with mean 0 and deviation 0.5; the bounds are 6 standard errors.
    EXPECT_NEAR(logarithm_at(0.5), 0, 0.012);
    EXPECT_NEAR(logarithm_at(0.841345), 0.5, 0.015);
    EXPECT_NEAR(logarithm_at(0.158655), -0.5, 0.015);
    EXPECT_NEAR(logarithm_at(0.977250), 1, 0.03);
    EXPECT_EQ(sorted_draws(kind, step_of(1s, 1500ms)).back(), 1500ms);
    EXPECT_EQ(sorted_draws(log_normal_jitter(0), step_of(1s)).front(), 1s);
    EXPECT_GE(sorted_draws(log_normal_jitter(1000), step_of(1s)).front(), 0s);
    EXPECT_EQ(sorted_draws(log_normal_jitter(1000), step_of(0s)).back(), 0s);
    EXPECT_THAT(calling([] { return log_normal_jitter(-1); }), refuses("log_normal_jitter.sigma = -1"));
    EXPECT_THAT(calling([] { return log_normal_jitter(std::nan("")); }), refuses("log_normal_jitter.sigma"));
}

// The law of the published formula: P(s(u) <= 1.4 x) for the first delay, and the mean of the later ones.
TEST(decorrelated_jitter_v2, has_the_law_of_the_formula) {
    auto const kind = decorrelated_jitter_v2();
    auto const s = [](double t) { return std::exp2(t) * std::tanh(std::sqrt(4 * t)); };
    auto const first = sorted_draws(kind, step_of(1s), 100'000);
    for (double const u : {0.1, 0.25, 0.5, 0.75, 0.9}) {
        auto const least = duration(std::llround(s(u) / 1.4 * 1e9));
        auto const below = std::lower_bound(first.begin(), first.end(), least) - first.begin();
        EXPECT_NEAR(static_cast<double>(below) / 1e5, u, 0.01);
    }
    auto const mean_of_s = [&](double from) {
        double sum = 0;
        for (int i = 0; i != 1000; ++i)
            sum += s(from + (i + 0.5) / 1000);
        return sum / 1000;
    };
    for (std::uint64_t const failures : {2u, 3u, 6u}) {
        backoff_step step = step_of(1s);
        step.failures = failures;
        step.ceiling = 0s; // does not matter
        double sum = 0;
        for (duration const d : sorted_draws(kind, step, 100'000))
            sum += std::chrono::duration<double>(d).count();
        auto const n = static_cast<double>(failures);
        double const expected = (mean_of_s(n - 1) - mean_of_s(n - 2)) / 1.4;
        EXPECT_NEAR(sum / 1e5, expected, expected * 0.015);
    }
    backoff_step distant = step_of(1s, 1h);
    distant.failures = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(sorted_draws(kind, distant, 10).front(), 1h);
    distant.cap = duration::max();
    distant.failures = 1000;
    EXPECT_EQ(sorted_draws(kind, distant, 10).front(), duration::max());
    EXPECT_EQ(sorted_draws(kind, step_of(0s), 10).back(), 0s);
}

TEST(jitter_unit, draws_every_whole_multiple_in_the_range_and_no_other) {
    auto const draws = sorted_draws(full_jitter().unit(1s), step_of(3999ms));
    EXPECT_EQ(std::set<duration>(draws.begin(), draws.end()), (std::set<duration>{0s, 1s, 2s, 3s}));
    for (duration const value : {0s, 1s, 2s, 3s}) // of a fair die with four faces, within 6 standard deviations
        EXPECT_NEAR(static_cast<double>(std::count(draws.begin(), draws.end(), value)), 2500, 260);
    expect_range(equal_jitter().unit(1s), step_of(5s), 3s, 5s);
    expect_range(equal_jitter().unit(1s), step_of(700ms), 0s, 0s); // no multiple inside: the one below
    expect_range(no_jitter().unit(1s), step_of(duration::max()), duration::max() / 1s * 1s,
                 duration::max() / 1s * 1s);
    EXPECT_EQ(sorted_draws(log_normal_jitter(1).unit(1s), step_of(10s)).front() % 1s, 0s);
    EXPECT_EQ(full_jitter().unit(), 1ns);
    EXPECT_THAT(calling([] { return full_jitter().unit(0s); }), refuses("jitter.unit"));
}

TEST(jitter_cap, makes_the_cap_of_all_that_is_drawn_above_it) {
    auto const draws = sorted_draws(additive_jitter(1s).cap(2500ms), step_of(2s));
    EXPECT_EQ(draws.back(), 2500ms);
    EXPECT_NEAR(static_cast<double>(std::count(draws.begin(), draws.end(), 2500ms)), 5000, 300);
    EXPECT_EQ(sorted_draws(additive_jitter(1s).cap(1s), step_of(2s)).front(), 1s);
    EXPECT_EQ(full_jitter().cap(), duration::max());
    EXPECT_EQ(
        sorted_draws(jitter([](backoff_step, random&) { return duration(9s); }).cap(4s), step_of(1s)).front(),
        4s);
    EXPECT_THAT(calling([] { return full_jitter().cap(-1s); }), refuses("jitter.cap"));
}

// "A retry without any delay" is what a full jitter may draw.
TEST(jitter_at_least, begins_the_range_there) {
    expect_range(full_jitter().at_least(1s), step_of(10s), 1s, 10s);
    expect_range(full_jitter().at_least(1s), step_of(500ms), 1s, 1s);
    expect_range(full_jitter().at_least(1s), step_of(0s), 1s, 1s); // a retry at once too
    expect_range(full_jitter().at_least(1s), step_of(500ms, 700ms), 700ms, 700ms);
    expect_range(full_jitter().at_least(1s).beyond_cap(), step_of(500ms, 700ms), 1s, 1s);
    expect_range(equal_jitter().at_least(1s), step_of(10s), 5s, 10s);
    expect_range(full_jitter().at_least(0s), step_of(10s), 0s, 10s);
    EXPECT_EQ(full_jitter().at_least(), 0s);
    EXPECT_EQ(full_jitter().at_least(1s).at_least(), 1s);
}

TEST(jitter_at_least, holds_where_there_is_no_range) {
    auto const user = jitter([](backoff_step, random&) { return duration(1ms); });
    EXPECT_EQ(sorted_draws(user.at_least(1s), step_of(10s), 1).front(), 1s);
    EXPECT_EQ(sorted_draws(user.at_least(1s), step_of(10ms, 20ms), 1).front(), 20ms);
    auto const draws = sorted_draws(log_normal_jitter(1).at_least(1s), step_of(1s));
    EXPECT_EQ(draws.front(), 1s);
    EXPECT_GT(draws.back(), 5s);
}

TEST(jitter_at_least, is_rounded_up_to_a_multiple_of_the_unit) {
    expect_range(full_jitter().unit(1s).at_least(1500ms), step_of(10s), 2s, 10s);
    expect_range(full_jitter().at_least(1500ms).unit(1s), step_of(500ms), 2s, 2s);
    expect_range(full_jitter().at_least(1500ms).unit(1s), step_of(500ms, 1700ms), 1s, 1s);
    EXPECT_EQ(sorted_draws(jitter([](backoff_step, random&) { return duration(); }).unit(1s).at_least(1ms),
                           step_of(10s), 1)
                  .front(),
              1s);
}

TEST(jitter_at_least, is_not_above_the_cap_of_the_jitter) {
    EXPECT_EQ(full_jitter().at_least(1s).cap(1s).cap(), 1s);
    EXPECT_THAT(calling([] { return full_jitter().at_least(-1ns); }), refuses("jitter.at_least"));
    EXPECT_THAT(calling([] { return full_jitter().cap(1s).at_least(2s); }),
                refuses("jitter.at_least", "2s", "must not be above the cap of the jitter, which is 1s"));
    EXPECT_THAT(calling([] { return full_jitter().at_least(2s).cap(1s); }), refuses("jitter.cap"));
}

TEST(jitter_beyond_cap, lets_the_cap_bound_the_ceiling_alone) {
    expect_range(proportional_jitter(0.5), step_of(4s, 4s), 2s, 4s);
    expect_range(proportional_jitter(0.5).beyond_cap(), step_of(4s, 4s), 2s, 6s);
    EXPECT_TRUE(proportional_jitter(0.5).beyond_cap().is_beyond_cap());
    auto const user = jitter([](backoff_step, random&) { return duration(9s); });
    EXPECT_EQ(sorted_draws(user, step_of(1s, 2s)).front(), 2s);
    EXPECT_EQ(sorted_draws(user.beyond_cap(), step_of(1s, 2s)).front(), 9s);
}

// The table of doc/guide/custom_jitter.md. x is 100 ms, 200 ms and so on; the cap is 10 s.
TEST(jitter_of_a_loop_by_hand, has_the_same_range) {
    for (unsigned failures = 1; failures != 15; ++failures) {
        duration const x = 100ms * (1 << (failures - 1)), bounded = std::min<duration>(x, 10s);
        backoff_step const step = step_of(exponential(100ms).cap(10s).ceiling(failures), 10s);
        expect_range(no_jitter(), step, bounded, bounded);
        expect_range(full_jitter(), step, 0s, bounded);
        expect_range(equal_jitter(), step, bounded / 2, bounded);
        expect_range(proportional_jitter(0.25).beyond_cap(), step, bounded * 3 / 4, bounded * 5 / 4);
        expect_range(multiplicative_jitter(0.5, 1.5).beyond_cap(), step, bounded / 2, bounded * 3 / 2);
        expect_range(additive_jitter(1s).beyond_cap(), step, bounded, bounded + 1s);

        jitter const capped = multiplicative_jitter(0.5, 1.5).cap(10s);
        auto const draws = sorted_draws(capped, step_of(exponential(100ms).ceiling(failures)), 1000);
        EXPECT_EQ(draws.back() == 10s, x * 3 / 2 > 10s) << "min(x * uniform(0.5, 1.5), cap)";
        EXPECT_GE(draws.front(), std::min<duration>(x / 2, 10s));
    }
}

TEST(jitter_settings, are_kept_by_each_other_and_by_copies) {
    jitter const all = additive_jitter(10s).unit(2s).at_least(1s).cap(7s).beyond_cap();
    jitter const copy = all;
    EXPECT_EQ(copy.unit(), 2s);
    EXPECT_EQ(copy.at_least(), 1s);
    EXPECT_EQ(copy.cap(), 7s);
    EXPECT_TRUE(copy.is_beyond_cap());
}

} // namespace
} // namespace asio_retry::test
