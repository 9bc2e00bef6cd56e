#include "numbers/kolmogorov_smirnov.hpp"

#include <asio_retry/random.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

// The controls: what the tests of the laws are there to notice is further away than they allow.
namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct bias {
    std::string name;
    std::function<duration(random&)> draw;
    duration least, greatest; ///< where it claims to be uniform
};

void PrintTo(bias const& b, std::ostream* out) {
    *out << b.name;
}

constexpr auto three_quarters = std::uint64_t(3) << 62;

std::vector<bias> const biases = {
    {"draws_held_at_the_cap", [](random& r) { return std::min<duration>(10s, r.uniform(100ms, 10200ms)); },
     100ms, 10s},
    {"published_decorrelated", [](random& r) { return std::min<duration>(10s, r.uniform(100ms, 30s)); }, 100ms,
     10s},
    {"modulo", [](random& r) { return duration(static_cast<std::int64_t>((r() % three_quarters) >> 1)); }, 0ns,
     duration(static_cast<std::int64_t>(three_quarters >> 1))},
    {"a_hundredth_too_narrow", [](random& r) { return r.uniform(0s, 990ms); }, 0s, 1s},
    {"a_hundredth_too_late", [](random& r) { return r.uniform(10ms, 1s); }, 0s, 1s},
    {"a_coarse_clock", [](random& r) { return r.uniform(duration(0), duration(50)) * 20'000'000; }, 0s, 1s},
    {"mean_of_two", [](random& r) { return (r.uniform(0s, 1s) + r.uniform(0s, 1s)) / 2; }, 0s, 1s},
};

class distance_control : public testing::TestWithParam<bias> {};

TEST_P(distance_control, notices_a_biased_sample) {
    bias const& b = GetParam();
    random source(20240229);
    std::vector<duration> drawn(sample_size);
    std::generate(drawn.begin(), drawn.end(), [&] { return b.draw(source); });
    EXPECT_GT(distance_from_uniform(places(drawn, b.least, b.greatest)), greatest_distance);
}

INSTANTIATE_TEST_SUITE_P(all, distance_control, testing::ValuesIn(biases),
                         [](auto const& p) { return p.param.name; });

TEST(distance_control, is_the_textbook_value) {
    EXPECT_DOUBLE_EQ(distance_from_uniform({0.5}), 0.5);
    EXPECT_DOUBLE_EQ(distance_from_uniform({0.75, 0.25}), 0.25);
    EXPECT_DOUBLE_EQ(distance_from_uniform({0.1, 0.2, 0.3, 0.4}), 0.6);
}

} // namespace
} // namespace asio_retry::test
