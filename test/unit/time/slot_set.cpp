#include "time/slot_set.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace asio_retry::detail {
namespace {

constexpr unsigned slot_count = 2048;

/// The first slot of the set from `slot` on, one after the other.
unsigned searched(slot_set const& set, unsigned slot) {
    while (!set.contains(slot))
        slot = (slot + 1) % slot_count;
    return slot;
}

// The wheel has no slot behind the one it is in, so this is seen here alone.
TEST(slot_set, finds_the_first_slot_from_any_on_also_behind_others_of_its_word) {
    for (std::vector<unsigned> const& slots :
         std::vector<std::vector<unsigned>>{{0}, {5, 9}, {3, 60, 63}, {63, 64}, {1, 70, 2000}, {2047}}) {
        slot_set set;
        for (unsigned const slot : slots)
            set.insert(slot);
        for (unsigned from = 0; from != slot_count; ++from)
            ASSERT_EQ(set.first_from(from), searched(set, from)) << "from " << from;
        for (unsigned const slot : slots) {
            EXPECT_FALSE(set.empty());
            set.erase(slot);
            EXPECT_FALSE(set.contains(slot));
            for (unsigned from = 0; !set.empty() && from != slot_count; ++from)
                ASSERT_EQ(set.first_from(from), searched(set, from)) << "from " << from;
        }
        EXPECT_TRUE(set.empty());
    }
}

} // namespace
} // namespace asio_retry::detail
