#include "traffic/due_heap.hpp"

#include "support/gate_values.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <random>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

TEST(due_heap, knows_what_is_due_first) {
    detail::due_heap heap(3);
    EXPECT_TRUE(heap.empty());
    heap.set(0, noon + 2s);
    heap.set(2, noon + 1s);
    heap.set(1, noon + 3s);
    EXPECT_EQ(heap.size(), 3u);
    EXPECT_EQ(heap.first(), 2u);
    EXPECT_EQ(heap.first_time(), noon + 1s);
    heap.set(2, noon + 4s);
    EXPECT_EQ(heap.first(), 0u);
    heap.erase(0);
    EXPECT_FALSE(heap.contains(0));
    EXPECT_EQ(heap.first(), 1u);
    heap.erase(1);
    heap.erase(1);
    heap.erase(2);
    EXPECT_TRUE(heap.empty());
}

TEST(due_heap, is_what_a_map_is_over_a_random_walk) {
    constexpr std::uint32_t things = 50;
    std::mt19937_64 dice(1);
    detail::due_heap heap(things);
    std::multimap<time_point, std::uint32_t> model;
    std::map<std::uint32_t, time_point> times;
    auto const forget = [&](std::uint32_t thing) {
        auto const [first, last] = model.equal_range(times.at(thing));
        for (auto i = first; i != last; ++i)
            if (i->second == thing) {
                model.erase(i);
                break;
            }
        times.erase(thing);
    };
    for (int step = 0; step < 200'000; ++step) {
        auto const thing = static_cast<std::uint32_t>(dice() % things);
        ASSERT_EQ(heap.contains(thing), times.contains(thing));
        if (times.contains(thing))
            forget(thing);
        if (dice() % 3 == 0) {
            heap.erase(thing);
        } else {
            time_point const when = noon + static_cast<int>(dice() % 100) * 1s; // often the same
            heap.set(thing, when);
            model.emplace(when, thing);
            times.emplace(thing, when);
        }
        ASSERT_EQ(heap.size(), model.size());
        if (model.empty())
            continue;
        ASSERT_EQ(heap.first_time(), model.begin()->first) << "after step " << step;
        ASSERT_EQ(times.at(heap.first()), heap.first_time()) << "after step " << step;
    }
}

} // namespace
} // namespace asio_retry::test
