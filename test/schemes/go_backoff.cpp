#include "schemes/scheme.hpp"
#include "support/elements.hpp"

#include <asio_retry/profiles.hpp>

#include <tuple>

namespace asio_retry::test {
namespace {

using profiles::go_backoff;
using testing::Each;

constexpr double overflow = 0x1p63;

profiles::go_backoff_options without_jitter() {
    profiles::go_backoff_options options;
    options.randomization_factor = 0;
    return options;
}

// A multiplier below 1 is refused, and so is a first interval above the greatest.
TEST(scheme_F1, every_published_interval) {
    std::size_t shrinking = 0, above = 0, compared = 0;
    for (csv_row const& row : read_csv("cenkalti_deterministic.csv")) {
        profiles::go_backoff_options options = without_jitter();
        options.initial_interval = duration(whole(row, "initial_ns"));
        options.multiplier = number(row, "multiplier");
        options.max_interval = duration(whole(row, "max_interval_ns"));
        if (options.multiplier < 1 || options.initial_interval > options.max_interval) {
            EXPECT_TRUE(is_refused([&] { return go_backoff(options); }));
            ++(options.multiplier < 1 ? shrinking : above);
            continue;
        }
        auto const [least, greatest] =
            range_of(go_backoff(options), static_cast<std::uint64_t>(whole(row, "k")));
        EXPECT_EQ(least, greatest);
        EXPECT_EQ(greatest.count(), whole(row, "next_ns"));
        ++compared;
    }
    EXPECT_EQ(shrinking, 9u);
    EXPECT_EQ(above, 9u);
    EXPECT_EQ(compared, 42u);
}

/// trunc(min + u * (max - min + 1)) over interval * (1 +- factor), in double as it is published.
struct published_draw {
    double min, max, u;

    published_draw(duration interval, double factor, double place)
        : min(static_cast<double>(interval.count()) - factor * static_cast<double>(interval.count()))
        , max(static_cast<double>(interval.count()) + factor * static_cast<double>(interval.count()))
        , u(place) {}

    double value() const { return std::trunc(min + u * (max - min + 1)); }
    /// The least and the greatest that it can be.
    double least() const { return std::floor(min); }
    double greatest() const { return std::ceil(max); }
    /// How far the fraction of the interval is from a whole number of nanoseconds, below it.
    double fraction() const { return max - std::floor(max); }
};

// The published draw is uniform in [min, max + 1) before it is cut to whole nanoseconds. Where factor *
// interval is whole, that is our range. Where it is not, its two ends are drawn less often than the rest; our
// range rounds the fraction to the nearest nanosecond, and so lacks these two where the fraction is below one
// half.
bool expect_published_range(delay_range const& ours, published_draw const& draw) {
    bool const narrower = draw.fraction() > 0 && draw.fraction() < 0.5;
    double const missing = narrower ? 1 : 0;
    EXPECT_EQ(static_cast<double>(ours.least.count()), draw.least() + missing);
    EXPECT_EQ(static_cast<double>(ours.greatest.count()), draw.greatest() - missing);
    return narrower;
}

/// Up to which part of itself a great interval may grow without passing the greatest duration.
double room_above(duration interval) {
    return static_cast<double>((duration::max() - interval).count()) / static_cast<double>(interval.count());
}

TEST(scheme_F1, every_published_random_value) {
    constexpr auto exact_in_double = duration(std::int64_t(1) << 53);
    std::size_t exact = 0, narrower = 0, rounded = 0, saturated = 0, overflowed = 0;
    for (csv_row const& row : read_csv("cenkalti_random_value.csv")) {
        profiles::go_backoff_options options;
        options.initial_interval = options.max_interval = duration(whole(row, "interval_ns"));
        options.randomization_factor = number(row, "factor");
        retry_policy const policy = go_backoff(options);
        auto const range = range_of(policy, 1);
        published_draw const draw(options.initial_interval, options.randomization_factor,
                                  number(row, "random"));
        auto const value = whole(row, "value_ns");
        if (options.randomization_factor == 0) {
            EXPECT_EQ(range.least, options.initial_interval);
            EXPECT_EQ(range.greatest, options.initial_interval);
            EXPECT_EQ(value, options.initial_interval.count());
            ++exact;
        } else if (options.initial_interval < exact_in_double) {
            narrower += expect_published_range(range, draw);
            EXPECT_EQ(static_cast<double>(value), draw.value());
            EXPECT_LE(std::abs(value - delay_at(policy, 1, draw.u).count()), 1)
                << "double rounds, and we do not";
            ++exact;
        } else if (options.randomization_factor <= room_above(options.initial_interval)) {
            // A double of this size is a multiple of 512.
            EXPECT_NEAR(static_cast<double>(range.least.count()), draw.min, 1024);
            EXPECT_NEAR(static_cast<double>(range.greatest.count()), draw.max, 1024);
            EXPECT_NEAR(static_cast<double>(delay_at(policy, 1, draw.u).count()), static_cast<double>(value),
                        1024);
            ++rounded;
        } else {
            EXPECT_NEAR(static_cast<double>(range.least.count()), draw.min, 1024);
            EXPECT_EQ(range.greatest, duration::max());
            EXPECT_EQ(value < 0, draw.value() >= overflow);
            EXPECT_GE(delay_at(policy, 1, draw.u), range.least) << "a delay where they have -2^63";
            overflowed += value < 0;
            ++saturated;
        }
    }
    EXPECT_EQ(exact + rounded + saturated, 60u);
    EXPECT_EQ(narrower, 4u) << "a factor of 0.25 of 1 ns, and of 0.75 of 3 ns";
    EXPECT_EQ(saturated, 14u);
    EXPECT_EQ(overflowed, 8u);
    EXPECT_EQ(rounded, 11u);
}

// The column of the greatest is the published draw at the greatest number below 1, which double rounds to 1
// above the greatest delay in some rows.
TEST(scheme_F1, the_example_of_the_documentation) {
    retry_policy const policy = go_backoff();
    std::size_t compared = 0;
    for (csv_row const& row : read_csv("cenkalti_example_sequence.csv")) {
        auto const request = static_cast<std::uint64_t>(whole(row, "request"));
        duration const interval(whole(row, "retry_interval_ns"));
        published_draw const greatest(interval, 0.5, 1 - 0x1p-53);
        EXPECT_EQ(policy.settings().backoff.ceiling(request), interval);
        EXPECT_EQ(range_of(policy, request).least.count(), whole(row, "min_ns"));
        EXPECT_EQ(static_cast<double>(whole(row, "max_ns")), greatest.value());
        EXPECT_LE(whole(row, "max_ns") - range_of(policy, request).greatest.count(), 1);
        EXPECT_FALSE(expect_published_range(range_of(policy, request), greatest));
        ++compared;
    }
    EXPECT_EQ(compared, 20u);
}

TEST(scheme_F1, the_published_form_reaches_90_seconds_and_ours_60) {
    EXPECT_EQ(range_of(go_backoff(), 20).greatest, 90s);
    retry_policy const ours =
        go_backoff().backoff(exponential(500ms, 1.5).cap(60s)).jitter(proportional_jitter(0.5));
    EXPECT_EQ(range_of(ours, 20).greatest, 60s);
    EXPECT_TRUE(equally_likely(draws_of(go_backoff(), 20, 100, 100'000)));
}

// One operation for each combination of arguments; its rows end where it stops, or where the data does.
TEST(scheme_F2, every_published_operation_with_a_limit_of_elapsed_time) {
    using arguments = std::tuple<std::int64_t, double, std::int64_t, std::int64_t, std::int64_t>;
    auto const arguments_of = [](csv_row const& row) {
        return arguments(whole(row, "initial_ns"), number(row, "multiplier"), whole(row, "max_interval_ns"),
                         whole(row, "max_elapsed_ns"), whole(row, "op_cost_ns"));
    };
    auto const rows = read_csv("cenkalti_max_elapsed.csv");
    std::size_t operations = 0, stopped = 0, compared = 0;
    while (compared != rows.size()) {
        auto const given = arguments_of(rows[compared]);
        profiles::go_backoff_options options = without_jitter();
        options.initial_interval = duration(std::get<0>(given));
        options.multiplier = std::get<1>(given);
        options.max_interval = duration(std::get<2>(given));
        options.max_elapsed_time = duration(std::get<3>(given));
        duration const cost(std::get<4>(given));

        retry_machine machine(go_backoff(options));
        random source(1);
        time_point const begin(1h);
        time_point now = begin;
        retry_action action = machine.start(now);
        for (; compared != rows.size() && arguments_of(rows[compared]) == given; ++compared) {
            csv_row const& row = rows[compared];
            ASSERT_EQ(action.what, retry_action::kind::attempt) << "the data goes on after it stopped";
            EXPECT_EQ(machine.current_attempt().number, static_cast<std::uint64_t>(whole(row, "k")));
            now += cost;
            EXPECT_EQ((now - begin).count(), whole(row, "elapsed_before_ns"));
            action = machine.on_failure(verdict::failure(refusal()), now, source);
            if (whole(row, "next_ns") < 0) {
                EXPECT_EQ(action.what, retry_action::kind::complete);
                EXPECT_EQ(action.reason, stop_reason::elapsed);
                ++stopped;
            } else {
                ASSERT_EQ(action.what, retry_action::kind::wait);
                EXPECT_EQ(action.delay.count(), whole(row, "next_ns"));
                now += action.delay;
                action = machine.on_wait_over(now);
            }
        }
        ++operations;
    }
    EXPECT_EQ(compared, 60u);
    EXPECT_EQ(stopped, 9u);
    EXPECT_EQ(operations, 10u);
}

TEST(scheme_F2, the_defaults_without_jitter_give_24_waits_and_25_calls) {
    played const result = play(go_backoff(without_jitter()), always);
    EXPECT_EQ(result.waits.size(), 24u);
    EXPECT_EQ(result.attempts, 25u);
    EXPECT_EQ(result.elapsed, 848'746'337'887ns);
    EXPECT_EQ(result.reason, stop_reason::elapsed);
}

TEST(scheme_F2, zero_is_for_ever_and_nonsense_is_refused) {
    profiles::go_backoff_options options;
    options.max_elapsed_time = 0s;
    EXPECT_EQ(go_backoff(options).settings().max_elapsed, std::nullopt);
    EXPECT_EQ(play(go_backoff(options), 1'000).attempts, 1'001u);
    options.max_elapsed_time = -1ns;
    EXPECT_THROW((void)go_backoff(options), std::invalid_argument);
    options = {};
    options.randomization_factor = 1.5;
    EXPECT_THROW((void)go_backoff(options), std::invalid_argument);
}

TEST(scheme_F3, constant_zero_stop_and_custom_backoffs) {
    retry_policy const policy = go_backoff(without_jitter()).max_attempts(4);
    EXPECT_THAT(play(policy.backoff(constant(7s)), always).waits, Each(duration(7s)));
    EXPECT_THAT(play(policy.backoff(constant(0s)), always).waits, elements(0s, 0s, 0s));
    EXPECT_EQ(play(policy.max_attempts(1), always).attempts, 1u);
    backoff const custom([](std::uint64_t failures) { return failures * 1ms; });
    EXPECT_THAT(play(policy.backoff(custom), always).waits, elements(1ms, 2ms, 3ms));
}

// A backoff and a policy are values without a state: what counts is the operation, and a new one starts over.
TEST(scheme_F3, every_operation_begins_with_a_backoff_that_is_reset) {
    retry_policy const policy = go_backoff(without_jitter());
    EXPECT_EQ(play(policy, 5).waits, play(policy, 5).waits);
    EXPECT_EQ(play(policy, 5).waits.front(), 500ms);
}

TEST(scheme_F4, max_retries_m_are_m_plus_1_calls) {
    for (std::int64_t m = 0; m <= 12; ++m) {
        played const result = play(go_backoff().max_attempts(m + 1), always);
        EXPECT_EQ(result.attempts, static_cast<std::uint64_t>(m + 1));
        EXPECT_EQ(result.reason, stop_reason::attempts);
    }
}

// Asked before each wait and not when stopping, with the error and the delay.
TEST(scheme_F6, notified_of_error_and_delay_before_each_wait) {
    std::vector<duration> delays;
    auto const policy = go_backoff().max_attempts(5).on_retry([&](retry_event const& e) {
        EXPECT_EQ(e.error, refusal());
        delays.push_back(e.delay);
    });
    played const result = play(policy, always);
    EXPECT_EQ(delays.size(), 4u);
    EXPECT_EQ(delays, result.waits);
}

// Of the example: any status but 2xx is a failure, and each is printed with its delay. An adaptor says so by
// `fail_if`.
TEST(scheme_F11, three_retries_of_a_reply_that_is_no_success) {
    std::vector<duration> printed;
    auto const policy = go_backoff().max_attempts(4).on_retry([&](retry_event const& e) {
        EXPECT_EQ(e.error, error::result_rejected);
        printed.push_back(e.delay);
    });
    random source(1);
    retry_machine machine(policy);
    std::vector<int> const statuses = {503, 404, 302, 500, 200};
    std::size_t calls = 0;
    retry_action action = machine.start();
    while (action.what == retry_action::kind::attempt) {
        bool const success = statuses.at(calls++) / 100 == 2;
        action = success ? machine.on_success() : machine.on_failure(verdict::rejected(), {}, source);
        if (action.what == retry_action::kind::wait)
            action = machine.on_wait_over({});
    }
    EXPECT_EQ(calls, 4u);
    EXPECT_EQ(printed.size(), 3u);
    EXPECT_EQ(action.reason, stop_reason::attempts);
}

} // namespace
} // namespace asio_retry::test
