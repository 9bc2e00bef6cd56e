#include <asio_retry/traffic/concurrency_limit.hpp>

#include "support/attempt_ends.hpp"
#include "support/csv.hpp"
#include "support/elements.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

std::uint32_t number_in(csv_row const& row, std::string const& column) {
    return static_cast<std::uint32_t>(std::stoul(row.at(column)));
}

template <typename Algorithm>
void expect_golden_limits(Algorithm algorithm, std::vector<csv_row> const& rows) {
    for (csv_row const& row : rows) {
        algorithm.update(duration(std::stoll(row.at("rtt_ns"))), number_in(row, "in_flight"),
                         row.at("dropped") == "true");
        ASSERT_EQ(algorithm.limit(), number_in(row, "limit"))
            << row.at("algorithm") << ", case " << row.at("case") << ", step " << row.at("step");
    }
}

// Driven through the original classes.
TEST(golden, concurrency_limits_are_those_of_netflix) {
    auto const rows = read_csv("traffic/concurrency_limits.csv");
    ASSERT_EQ(rows.size(), 960u);
    for (auto first = rows.begin(); first != rows.end();) {
        auto last = std::next(first);
        while (last != rows.end() && last->at("step") != "1")
            ++last;
        csv_row const& row = *first;
        std::uint32_t const initial = number_in(row, "initial"), least = number_in(row, "least"),
                            greatest = number_in(row, "greatest");
        double const ratio_or_smoothing = std::stod(row.at("ratio_or_smoothing"));
        if (row.at("algorithm") == "aimd")
            expect_golden_limits(aimd({.initial = initial,
                                       .least = least,
                                       .greatest = greatest,
                                       .backoff_ratio = ratio_or_smoothing,
                                       .timeout = duration(std::stoll(row.at("timeout_ns")))}),
                                 {first, last});
        else
            expect_golden_limits(gradient({.initial = initial,
                                           .least = least,
                                           .greatest = greatest,
                                           .smoothing = ratio_or_smoothing,
                                           .queue = std::stod(row.at("queue")),
                                           .tolerance = std::stod(row.at("tolerance"))}),
                                 {first, last});
        first = last;
    }
}

TEST(aimd, grows_by_one_where_half_is_in_use_and_falls_by_a_share) {
    aimd limit({.initial = 20, .greatest = 22});
    limit.update(1ms, 9, false);
    EXPECT_EQ(limit.limit(), 20u);
    limit.update(1ms, 10, false);
    EXPECT_EQ(limit.limit(), 21u);
    limit.update(1ms, std::uint32_t(1) << 31, false);
    EXPECT_EQ(limit.limit(), 22u);
    limit.update(1ms, 20, false);
    EXPECT_EQ(limit.limit(), 22u);
    limit.update(1ms, 1, true);
    EXPECT_EQ(limit.limit(), 19u);
    limit.update(5s, 1, false);
    EXPECT_EQ(limit.limit(), 19u);
    limit.update(5s + 1ns, 1, false);
    EXPECT_EQ(limit.limit(), 17u);
    for (int i = 0; i < 100; ++i)
        limit.update(1ms, 1, true);
    EXPECT_EQ(limit.limit(), 1u);
}

// When a peer has become fast again what it was before is soon forgotten, and not over hundreds of attempts.
TEST(gradient, a_long_time_of_slowness_is_not_what_is_usual) {
    gradient limit;
    for (int i = 0; i < 10; ++i)
        limit.update(100ms, 200, false);
    for (int i = 0; i < 100; ++i)
        limit.update(1ms, 200, false);
    std::uint32_t const before = limit.limit();
    limit.update(50ms, 200, false);
    EXPECT_LT(limit.limit(), before);
}

TEST(gradient, twice_as_fast_as_usual_is_usual) {
    gradient limit({.initial = 100, .smoothing = 1});
    for (int i = 0; i < 9; ++i)
        limit.update(19ms, 1, false);
    limit.update(9ms, 1, false); // of 18 ms on average
    limit.update(36ms, 100, false);
    EXPECT_EQ(limit.limit(), 79u);
}

TEST(gradient, with_a_window_of_one_the_last_time_is_the_usual_one) {
    gradient limit({.smoothing = 1, .long_window = 1});
    for (int i = 0; i < 10; ++i)
        limit.update(100ms, 1, false);
    limit.update(1ms, 20, false);
    EXPECT_EQ(limit.limit(), 24u);
}

TEST(gradient, may_be_told_of_nothing_but_times_of_nothing) {
    gradient limit;
    for (int i = 0; i < 20; ++i)
        limit.update(0ns, 20, false);
    EXPECT_GT(limit.limit(), 20u);
}

TEST(gradient, times_of_nothing_do_no_harm) {
    gradient limit({.initial = 20, .least = 1});
    for (int i = 0; i < 1000; ++i)
        limit.update(i % 3 == 0 ? duration::max() : 0ns, 200, false);
    EXPECT_GE(limit.limit(), 1u);
    EXPECT_LE(limit.limit(), 200u);
}

/// A limit of the user's own, which notes what it is told.
struct noting_limit {
    std::uint32_t limit() const noexcept { return greatest; }
    void update(duration rtt, std::uint32_t in_flight, bool dropped) noexcept {
        told->push_back(std::to_string(rtt / 1ms) + "ms " + std::to_string(in_flight) +
                        (dropped ? " dropped" : ""));
        dropped ? --greatest : ++greatest;
    }
    std::uint32_t greatest;
    std::vector<std::string>* told;
};

TEST(concurrency_limit, admits_up_to_its_limit) {
    std::vector<std::string> told;
    concurrency_limit limit(noting_limit{2, &told});
    EXPECT_TRUE(limit.measures_time());
    EXPECT_EQ(limit.limit(), 2u);
    EXPECT_EQ(limit.admit(1, noon).until, noon);
    EXPECT_EQ(limit.admit(2, noon).until, noon);
    admission const refused = limit.admit(1, noon);
    EXPECT_EQ(refused.until, time_point::max());
    EXPECT_EQ(refused.refusal, error::too_many_in_flight);
    EXPECT_EQ(limit.in_flight(), 2u);
    limit.on_end(abandoned());
    EXPECT_EQ(limit.in_flight(), 1u);
    EXPECT_EQ(limit.admit(1, noon).until, noon);
}

TEST(concurrency_limit, successes_and_drops_teach_it_and_other_ends_do_not) {
    std::vector<std::string> told;
    concurrency_limit limit(noting_limit{100, &told});
    for (int i = 0; i < 7; ++i)
        (void)limit.admit(1, noon);
    limit.on_end(success(noon, 3ms));
    EXPECT_EQ(limit.limit(), 101u);
    limit.on_end(failure(failure_kind::timeout, noon, 4ms));
    limit.on_end(failure(failure_kind::overloaded, noon, 5ms));
    limit.on_end(failure(failure_kind::throttled, noon, 6ms));
    EXPECT_EQ(limit.limit(), 98u);
    limit.on_end(failure(failure_kind::permanent, noon, 7ms));
    limit.on_end(failure(failure_kind::transient, noon, 8ms));
    limit.on_end(abandoned());
    EXPECT_EQ(limit.in_flight(), 0u);
    EXPECT_THAT(told, elements("3ms 7", "4ms 6 dropped", "5ms 5 dropped", "6ms 4 dropped"));
}

TEST(concurrency_limit, a_fixed_limit_does_not_adapt) {
    concurrency_limit limit(fixed_limit(4));
    static_assert(std::is_same_v<decltype(limit), concurrency_limit<fixed_limit>>);
    for (int round = 0; round != 20; ++round) {
        for (int i = 0; i != 4; ++i)
            EXPECT_EQ(limit.admit(1, noon).until, noon);
        EXPECT_EQ(limit.admit(1, noon).refusal, error::too_many_in_flight);
        EXPECT_FALSE(limit.admit(1, noon).can_queue);
        limit.on_end(success(noon, 1ns));
        limit.on_end(success(noon, 1h));
        limit.on_end(failure(failure_kind::overloaded, noon, 1ms));
        limit.on_end(failure(failure_kind::timeout, noon, 1min));
        EXPECT_EQ(limit.limit(), 4u);
        EXPECT_EQ(limit.in_flight(), 0u);
        EXPECT_TRUE(limit.is_idle(noon));
    }
    EXPECT_TRUE(concurrency_limit(fixed_limit(1), {.greatest = 1}).has_queue());
    EXPECT_FALSE(limit.has_queue());
    EXPECT_EQ(fixed_limit(4294967295).limit(), 4294967295u);
}

TEST(concurrency_limit, has_both_algorithms_by_default) {
    concurrency_limit<aimd> a;
    concurrency_limit<gradient> g;
    EXPECT_EQ(a.limit(), 20u);
    EXPECT_EQ(g.limit(), 20u);
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(a.admit(1, noon).until, noon);
        EXPECT_EQ(g.admit(1, noon).until, noon);
    }
    for (int i = 0; i < 20; ++i) {
        a.on_end(success(noon, 1ms));
        g.on_end(success(noon, 1ms));
    }
    EXPECT_GT(a.limit(), 20u);
    EXPECT_GT(g.limit(), 20u);
}

TEST(concurrency_limit, decision_04_refuses_nonsense) {
    EXPECT_THAT(calling([] { aimd({.least = 0}); }), refuses_option("aimd.least", "0", "must be positive"));
    EXPECT_THAT(calling([] { aimd({.least = 5, .greatest = 4}); }),
                refuses_option("aimd.greatest", "4", "must not be less than least, which is 5"));
    EXPECT_THAT(calling([] { aimd({.initial = 201}); }),
                refuses_option("aimd.initial", "201", "must not be more than greatest, which is 200"));
    EXPECT_THAT(calling([] { aimd({.initial = 1, .least = 2}); }),
                refuses_option("aimd.initial", "1", "must not be less than least, which is 2"));
    EXPECT_THAT(calling([] { aimd({.backoff_ratio = 1}); }),
                refuses_option("aimd.backoff_ratio", "1", "must be in (0, 1)"));
    EXPECT_THAT(calling([] { aimd({.backoff_ratio = nan}); }),
                refuses_option("aimd.backoff_ratio", "nan", "must be in (0, 1)"));
    EXPECT_THAT(calling([] { aimd({.timeout = 0s}); }),
                refuses_option("aimd.timeout", "0s", "must be positive"));
    EXPECT_THAT(calling([] { gradient({.initial = 10}); }),
                refuses_option("gradient.initial", "10", "must not be less than least, which is 20"));
    EXPECT_THAT(calling([] { gradient({.smoothing = 0}); }),
                refuses_option("gradient.smoothing", "0", "must be in (0, 1]"));
    EXPECT_THAT(calling([] { gradient({.queue = -1}); }),
                refuses_option("gradient.queue", "-1", "must be finite and not negative"));
    EXPECT_THAT(calling([] { gradient({.tolerance = 0.5}); }),
                refuses_option("gradient.tolerance", "0.5", "must be finite and at least 1"));
    EXPECT_THAT(calling([] { gradient({.tolerance = nan}); }),
                refuses_option("gradient.tolerance", "nan", "must be finite and at least 1"));
    EXPECT_THAT(calling([] { gradient({.long_window = 0}); }),
                refuses_option("gradient.long_window", "0", "must be positive"));
}

} // namespace
} // namespace asio_retry::test
