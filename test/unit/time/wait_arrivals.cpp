#include "time/wait_arrivals.hpp"

#include "support/test_wait.hpp"
#include "time/scheduled_waits.hpp"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
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

// The timer is armed for the first, so the others begin without the mutex. None of them ends by the timer.
TEST(scheduled_waits, end_those_of_one_instant_as_they_began_however_they_arrived) {
    boost::asio::io_context io;
    scheduled_waits waits(io, false);
    time_point const later = waits.now() + std::chrono::hours(1);
    std::deque<test_wait> all(7);
    std::vector<int> order;
    for (int i = 0; i != 7; ++i) {
        test_wait& wait = all[static_cast<std::size_t>(i)];
        wait.expired = [&order, i] { order.push_back(i); };
        std::thread([&] { ASSERT_TRUE(waits.schedule(wait, later)); }).join();
        if (i == 3) {
            ASSERT_EQ(waits.pending(), 4u) << "they are put into the wheel";
        }
    }
    ASSERT_EQ(waits.pending(), 7u);
    while (waits.end_due(later) == scheduled_waits::due::ended) {
    }
    EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6));
    waits.shut_down();
    io.poll(); // what `waits` has queued is a part of it
}

} // namespace
} // namespace asio_retry::detail
