// Walks through the life of an operation: every order of ten events, and a million at random. With a sanitizer,
// six events and a hundred thousand.

#include "stress/sanitized.hpp"
#include "support/life_walk.hpp"
#include "support/split_mix_64.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace asio_retry::test {
namespace {

constexpr std::uint64_t walks = ASIO_RETRY_TEST_SANITIZED ? 100'000 : 1'000'000;
constexpr int events = ASIO_RETRY_TEST_SANITIZED ? 6 : 10;

template <unsigned Most>
void expect_an_end(std::uint64_t seed) {
    auto const shapes = walk_shapes<Most>();
    split_mix_64 random(seed);
    for (std::uint64_t i = 0; i != walks / 2; ++i) {
        auto const choose = [&](unsigned count) { return static_cast<unsigned>(random() % count); };
        walk_shape const& shape = shapes[choose(static_cast<unsigned>(shapes.size()))];
        std::string const fault =
            walk<Most>(shape, choose).run(40, [](std::string const&, int) { return true; });
        ASSERT_EQ(fault, "") << "walk " << i << " of the seed " << seed;
    }
}

template <unsigned Most>
void expect_every_end() {
    for (walk_shape const& shape : walk_shapes<Most>())
        EXPECT_EQ(fault_of_every_walk<Most>(shape, events), "");
}

TEST(life_walks, every_order_of_ten_events_of_a_retry_ends) {
    expect_every_end<1>();
}

TEST(life_walks, every_order_of_ten_events_of_two_attempts_ends) {
    expect_every_end<2>();
}

TEST(life_walks, of_a_retry_end) {
    expect_an_end<1>(1);
}

TEST(life_walks, of_two_attempts_end) {
    expect_an_end<2>(2);
}

} // namespace
} // namespace asio_retry::test
