#include <asio_retry/detail/traffic/recent_latency.hpp>

#include "traffic/step_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using detail::greatest_in;
using detail::latency_step;

TEST(latency_step, is_an_eighth_of_an_octave) {
    EXPECT_EQ(detail::step_of(-1s), 1);
    EXPECT_EQ(detail::step_of(0s), 1);
    EXPECT_EQ(detail::step_of(127ns), 1);
    EXPECT_EQ(detail::step_of(128ns), 2);
    EXPECT_EQ(detail::step_of(1h), 255);
    EXPECT_EQ(detail::step_of(duration::max()), 255);
    EXPECT_EQ(greatest_in(0), 0s);
    EXPECT_EQ(greatest_in(255), duration((std::int64_t(1) << 40) - 1));
    for (int step = 1; step < 255; ++step) {
        duration const last = greatest_in(static_cast<latency_step>(step));
        ASSERT_EQ(detail::step_of(last), step);
        ASSERT_EQ(detail::step_of(last + 1ns), step + 1);
        if (step <= 8)
            continue;
        ASSERT_LE(last - greatest_in(static_cast<latency_step>(step - 1)), last / 8) << step;
    }
}

TEST(recent_latency, is_the_median_of_the_last_15) {
    std::mt19937_64 dice(1);
    detail::recent_latency recent;
    std::deque<latency_step> last;
    for (int i = 0; i < 100'000; ++i) {
        auto const step = static_cast<latency_step>(1 + dice() % (i % 1000 < 500 ? 255 : 4));
        last.push_back(step);
        if (last.size() > 15)
            last.pop_front();
        std::vector<latency_step> sorted(last.begin(), last.end());
        std::ranges::sort(sorted);
        ASSERT_EQ(recent.add(step), sorted.size() < 8 ? 0 : sorted[sorted.size() / 2]) << i;
    }
}

TEST(step_counts, know_the_lowest_and_the_median_of_the_others) {
    std::mt19937_64 dice(1);
    detail::step_counts counts;
    std::vector<latency_step> all;
    for (int i = 0; i < 20'000; ++i) {
        if (all.size() < 40 && (all.empty() || dice() % 2 == 0)) {
            all.push_back(static_cast<latency_step>(dice() % 256));
            counts.add(all.back());
        } else {
            auto const which = all.begin() + static_cast<std::ptrdiff_t>(dice() % all.size());
            counts.remove(*which);
            all.erase(which);
        }
        std::vector<latency_step> known = all;
        std::erase(known, latency_step(0));
        std::ranges::sort(known);
        ASSERT_EQ(counts.lowest(), known.empty() ? 0 : known.front());
        if (known.empty())
            continue;
        auto const own = known.begin() + static_cast<std::ptrdiff_t>(dice() % known.size());
        latency_step const step = *own;
        known.erase(own);
        ASSERT_EQ(counts.median_without(step), known.empty() ? 0 : known[known.size() / 2]);
    }
}

} // namespace
} // namespace asio_retry::test
