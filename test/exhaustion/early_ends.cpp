#include <asio_retry/retry_scheduler.hpp>

#include "support/failing_allocation.hpp"
#include "support/test_wait.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <new>

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

/// A wait that is over as it begins, until it has ended.
struct instant_wait final : detail::wait_node {
    bool on_expiry() override { return ended = true; }
    void on_shutdown() noexcept override {}
    bool ended = false;
};

// The first wait of a context makes the timer, which its turn arms.
TEST(early_ends, are_not_lost_if_they_come_first_and_there_is_no_memory_for_the_timer) {
    bool was_short = true;
    for (std::uint64_t nth = 1; was_short; ++nth) {
        SCOPED_TRACE(nth);
        boost::asio::io_context io;
        retry_scheduler& waits = scheduler(io);
        instant_wait first, second;
        {
            failing_allocation const failing(memory::global, shortage::once, nth);
            for (instant_wait* const each : {&first, &second}) {
                try {
                    waits.schedule_early(*each);
                } catch (std::bad_alloc const&) {
                    each->ended = true; // nobody has it
                }
            }
            for (int i = 0; i != 10; ++i) {
                try {
                    io.poll();
                } catch (std::bad_alloc const&) {
                }
            }
            was_short = failing.happened();
        }
        EXPECT_TRUE(first.ended && second.ended);
    }
}

} // namespace
} // namespace asio_retry::test
