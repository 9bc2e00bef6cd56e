#include <asio_retry/jitter.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <asio_retry/backoff.hpp>

#include "support/csv.hpp"
#include "support/elements.hpp"
#include "support/refuses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct described_jitter {
    char const* name;
    jitter kind;
    duration least, greatest; ///< what `third_step` below allows it
};

// ceiling 8ns of a cap of 9ns, base 2ns, previous delay 3ns
backoff_step const third_step{3, 8ns, 2ns, 9ns, 3ns};

std::vector<described_jitter> const all_jitters = {
    {"no_jitter", no_jitter(), 8ns, 8ns},
    {"full_jitter", full_jitter(), 0ns, 8ns},
    {"equal_jitter", equal_jitter(), 4ns, 8ns},
    {"decorrelated_jitter", decorrelated_jitter(), 2ns, 9ns},
    {"proportional_jitter(0.25)", proportional_jitter(0.25), 6ns, 9ns},
    {"proportional_jitter(0)", proportional_jitter(0), 8ns, 8ns},
    {"proportional_jitter(1)", proportional_jitter(1), 0ns, 9ns},
};

backoff_step scaled(backoff_step s, std::int64_t by) {
    return {s.failures, s.ceiling * by, s.base * by, s.cap * by, s.previous * by};
}

double mean_of_draws(jitter const& kind, backoff_step const& s, int draws) {
    random source(1);
    double sum = 0;
    for (int i = 0; i < draws; ++i)
        sum += static_cast<double>(kind.draw(s, source).count());
    return sum / draws;
}

TEST(jitter, draws_every_nanosecond_of_its_range_and_no_other) {
    for (described_jitter const& j : all_jitters) {
        random source(1);
        std::set<duration> drawn;
        for (int i = 0; i < 1000; ++i)
            drawn.insert(j.kind.draw(third_step, source));
        EXPECT_EQ(*drawn.begin(), j.least) << j.name;
        EXPECT_EQ(*drawn.rbegin(), j.greatest) << j.name;
        EXPECT_EQ(drawn.size(), static_cast<std::size_t>((j.greatest - j.least).count()) + 1) << j.name;
    }
}

TEST(decision_03, draws_are_unbiased) {
    constexpr int draws = 100'000;
    for (described_jitter const& j : all_jitters) {
        double const least = double(j.least.count()) * 1e6, greatest = double(j.greatest.count()) * 1e6;
        double const standard_error = (greatest - least) / std::sqrt(12. * draws);
        EXPECT_NEAR(mean_of_draws(j.kind, scaled(third_step, 1'000'000), draws), (least + greatest) / 2,
                    5 * standard_error)
            << j.name;
    }
}

// Ranges that reach the cap or pass it, where a capped draw would be the cap in a good part of all draws.
TEST(decision_02, no_jitter_of_ours_piles_draws_up_at_the_cap) {
    backoff_step const at_cap{20, 10s, 1s, 10s, 10s};
    backoff_step const near_cap{20, 9s, 1s, 10s, 9s};
    for (jitter const& kind : {full_jitter(), equal_jitter(), decorrelated_jitter(), proportional_jitter(0.5)})
        for (backoff_step const& s : {at_cap, near_cap}) {
            random source(1);
            int capped = 0;
            for (int i = 0; i < 100'000; ++i)
                capped += kind.draw(s, source) >= s.cap;
            EXPECT_LE(capped, 1);
        }
}

// The control: published decorrelated jitter caps the value and is the cap two times in three.
TEST(decision_02, capping_the_drawn_value_would_show) {
    jitter const published([](backoff_step s, random& r) { return r.uniform(s.base, 3 * s.previous); });
    random source(1);
    int capped = 0;
    for (int i = 0; i < 1000; ++i)
        capped += published.draw({20, 10s, 1s, 10s, 10s}, source) >= 10s;
    EXPECT_NEAR(capped, 690, 60);
}

TEST(decision_01, delay_stays_within_zero_and_cap_for_every_failure_count) {
    auto const greatest = duration::max();
    std::vector<backoff> const shapes = {constant(0s),
                                         constant(greatest),
                                         linear(1ns, greatest),
                                         exponential(1ns, 1.5),
                                         exponential(100ms).cap(20s),
                                         truncated_binary(10, greatest),
                                         backoff([](std::uint64_t) { return duration::max(); }).cap(1s)};
    std::vector<jitter> kinds = {jitter([](backoff_step, random&) { return duration::max(); }),
                                 jitter([](backoff_step, random&) { return duration::zero(); }),
                                 proportional_jitter(1 - std::numeric_limits<double>::epsilon() / 2)};
    for (described_jitter const& j : all_jitters)
        kinds.push_back(j.kind);
    random source(1);
    for (backoff const& shape : shapes)
        for (jitter const& kind : kinds) {
            duration previous = shape.base();
            for (std::uint64_t failures : {std::uint64_t(1), std::uint64_t(2), std::uint64_t(40),
                                           std::uint64_t(64), std::uint64_t(1) << 63, random::max()}) {
                duration const delay =
                    kind.draw({failures, shape.ceiling(failures), shape.base(), shape.cap(), previous}, source);
                EXPECT_GE(delay, 0s);
                EXPECT_LE(delay, shape.cap());
                previous = delay;
            }
        }
}

TEST(jitter, decorrelated_goes_from_the_base_to_three_times_the_delay_before) {
    random source(5), twin(5);
    backoff_step s{1, 1s, 1s, 100s, 1s};
    for (s.failures = 1; s.failures < 10; ++s.failures) {
        duration const delay = decorrelated_jitter().draw(s, source);
        EXPECT_EQ(delay, twin.uniform(1s, std::min(duration(100s), 3 * s.previous)));
        s.previous = delay;
    }
}

TEST(jitter, decorrelated_never_goes_below_the_base) {
    random source(1);
    EXPECT_EQ(decorrelated_jitter().draw({2, 5s, 5s, 60s, 1s}, source), 5s);
    EXPECT_EQ(decorrelated_jitter().draw({2, 0s, 0s, 60s, 0s}, source), 0s);
}

TEST(decision_01, ranges_end_at_the_greatest_duration) {
    random source(1), twin(1);
    backoff_step const greatest{2, duration::max(), 1s, duration::max(), duration::max() / 2};
    EXPECT_EQ(full_jitter().draw(greatest, source), twin.uniform(0s, duration::max()));
    EXPECT_EQ(decorrelated_jitter().draw(greatest, source), twin.uniform(1s, duration::max()));
    EXPECT_EQ(proportional_jitter(1).draw(greatest, source), twin.uniform(0s, duration::max()));
}

TEST(jitter, equal_rounds_an_odd_half_down) {
    random source(1);
    std::set<duration> drawn;
    for (int i = 0; i < 100; ++i)
        drawn.insert(equal_jitter().draw({1, 3ns, 3ns, 3ns, 3ns}, source));
    EXPECT_THAT(drawn, elements(1ns, 2ns, 3ns));
}

TEST(jitter, a_callable_sees_the_step_and_the_source) {
    backoff_step seen;
    jitter const half([&](backoff_step s, random& r) {
        seen = s;
        return r.uniform(s.ceiling / 2, s.ceiling / 2);
    });
    random source(1);
    EXPECT_EQ(half.draw(third_step, source), 4ns);
    EXPECT_EQ(seen.failures, 3u);
    EXPECT_EQ(seen.ceiling, 8ns);
    EXPECT_EQ(seen.base, 2ns);
    EXPECT_EQ(seen.cap, 9ns);
    EXPECT_EQ(seen.previous, 3ns);
}

TEST(decision_04, a_negative_result_of_a_callable_jitter_is_refused) {
    random source(1);
    jitter const below([](backoff_step, random&) { return duration(-1ns); });
    for (jitter const& each : {below, below.at_least(1s), below.beyond_cap(), below.unit(1ms)})
        EXPECT_THAT(
            calling([&] { return each.draw(third_step, source); }),
            testing::ThrowsMessage<std::invalid_argument>("asio_retry: jitter = -1ns: must not be negative"));
}

TEST(jitter, a_callable_is_held_below_the_cap) {
    random source(1);
    EXPECT_EQ(jitter([](backoff_step, random&) { return duration(10ns); }).draw(third_step, source), 9ns);
    EXPECT_EQ(jitter([](backoff_step, random&) { return duration(9ns); }).draw(third_step, source), 9ns);
}

TEST(decision_04, fractions_outside_zero_and_one_are_refused) {
    using limits = std::numeric_limits<double>;
    auto const refuses = [](std::string const& value) {
        return testing::ThrowsMessage<std::invalid_argument>(
            testing::AllOf(testing::HasSubstr("proportional_jitter.fraction = " + value),
                           testing::HasSubstr("must be in [0, 1]")));
    };
    EXPECT_THAT(calling([] { return proportional_jitter(-0.1); }), refuses("-0.1"));
    EXPECT_THAT(calling([] { return proportional_jitter(1.5); }), refuses("1.5"));
    EXPECT_THAT(calling([] { return proportional_jitter(limits::quiet_NaN()); }), refuses("nan"));
    EXPECT_THAT(calling([] { return proportional_jitter(limits::infinity()); }), refuses("inf"));
}

// A draw of ours is the uniform draw between the published formula at u = 0 and at u = 1.
TEST(golden, ranges_are_those_of_the_published_formulas) {
    auto const ms = [](double count) { return duration(std::llround(count * 1e6)); };
    random source(1), twin(1);
    for (csv_row const& row : read_csv("aws_formulas_grid.csv")) {
        auto const number = [&](char const* column) { return std::stod(row.at(column)); };
        double const base = number("base"), cap = number("cap"), u = number("u");
        double const previous = number("decorr_prev"), top = number("exponential");
        EXPECT_NEAR(number("full"), u * top, 1e-9);
        EXPECT_NEAR(number("equal"), top / 2 + u * (top / 2), 1e-9);
        double const published = number("decorr"); // six digits, and the value capped instead of the range
        EXPECT_NEAR(published, std::min(cap, base + u * (3 * previous - base)), 1e-5 * published);

        backoff const shape = exponential(ms(base)).cap(ms(cap));
        std::uint64_t const failures = std::stoull(row.at("attempt")) + 1;
        backoff_step const s{failures, shape.ceiling(failures), shape.base(), shape.cap(), ms(previous)};
        EXPECT_EQ(full_jitter().draw(s, source), twin.uniform(0s, ms(top)));
        EXPECT_EQ(equal_jitter().draw(s, source), twin.uniform(ms(top / 2), ms(top)));
        EXPECT_EQ(decorrelated_jitter().draw(s, source),
                  twin.uniform(ms(base), std::min(ms(cap), 3 * ms(previous))));
    }
}

} // namespace
} // namespace asio_retry::test
