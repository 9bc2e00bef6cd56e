#include <asio_retry/retry_scheduler.hpp>

#include "support/failing_allocation.hpp"
#include "support/test_wait.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

// Another wait leaves the timer as it is, so that nothing but the early end wakes the context.
TEST(early_ends, come_in_a_turn_of_the_timer_where_none_can_be_posted_for_want_of_memory) {
    boost::asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait other, first, second;
    int ended = 0;
    for (test_wait* const node : {&other, &first, &second}) {
        node->expired = [&] { ++ended; };
        waits.schedule(*node, waits.now() + 1h);
    }
    {
        failing_allocation const failing(memory::global, shortage::lasting, 1);
        EXPECT_TRUE(waits.end_early(first, io));
        EXPECT_TRUE(failing.happened());
    }
    EXPECT_EQ(io.run_one_for(10s), 1u);
    EXPECT_EQ(ended, 1);
    EXPECT_TRUE(waits.end_early(second, io)) << "which has its turn when there is memory again";
    EXPECT_EQ(io.run_one_for(10s), 1u);
    EXPECT_EQ(ended, 2);
    waits.cancel(other);
}

} // namespace
} // namespace asio_retry::test
