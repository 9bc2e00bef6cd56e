#include "time/wait_arrivals.hpp"

#include "support/test_wait.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

namespace asio_retry::detail {
namespace {

using test::test_wait;

struct wait_arrivals_test : testing::Test {
    std::vector<wait_node*> take() {
        std::vector<wait_node*> taken;
        arrivals.take_all([&](wait_node& wait) {
            EXPECT_FALSE(wait.is_linked()) << "it is to be put elsewhere";
            taken.push_back(&wait);
        });
        return taken;
    }

    wait_arrivals arrivals;
};

TEST_F(wait_arrivals_test, are_taken_once_in_the_order_in_which_they_came) {
    std::deque<test_wait> waits(3);
    EXPECT_TRUE(arrivals.empty());
    for (test_wait& wait : waits) {
        arrivals.add(wait);
        EXPECT_TRUE(wait.is_linked()) << "as in a wheel";
    }
    EXPECT_FALSE(arrivals.empty());
    EXPECT_THAT(take(), testing::ElementsAre(&waits[0], &waits[1], &waits[2]));
    EXPECT_TRUE(arrivals.empty());
    EXPECT_THAT(take(), testing::IsEmpty());
    arrivals.add(waits[1]);
    EXPECT_THAT(take(), testing::ElementsAre(&waits[1])) << "again";
}

TEST_F(wait_arrivals_test, are_counted_until_they_are_taken) {
    std::deque<test_wait> waits(200);
    for (std::size_t i = 0; i != waits.size(); ++i)
        EXPECT_EQ(arrivals.add(waits[i]), i + 1);
    EXPECT_EQ(take().size(), waits.size());
    EXPECT_EQ(arrivals.add(waits[0]), 1u);
    EXPECT_EQ(take().size(), 1u);
}

TEST_F(wait_arrivals_test, of_a_thread_keep_their_order_whatever_others_do) {
    constexpr std::size_t each = 5'000;
    std::array<std::deque<test_wait>, 3> waits;
    std::vector<std::thread> threads;
    for (std::deque<test_wait>& own : waits) {
        own.resize(each);
        threads.emplace_back([&] {
            for (test_wait& wait : own)
                arrivals.add(wait);
        });
    }
    std::vector<wait_node*> taken;
    while (taken.size() != waits.size() * each)
        for (wait_node* const wait : take())
            taken.push_back(wait);
    for (std::thread& thread : threads)
        thread.join();
    for (std::deque<test_wait>& own : waits) {
        auto next = own.begin();
        for (wait_node* const wait : taken)
            if (next != own.end() && wait == &*next)
                ++next;
        EXPECT_EQ(next, own.end());
    }
    EXPECT_TRUE(arrivals.empty());
}

} // namespace
} // namespace asio_retry::detail
