#include <asio_retry/retry_scheduler.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/failing_allocation.hpp"
#include "support/test_wait.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory_resource>
#include <new>
#include <optional>

// The timers of a context, those of the program too, share memory that grows with their number.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// Timers of the program, which need no memory but what all timers of the context share.
class other_timers {
public:
    explicit other_timers(boost::asio::io_context& io) {
        for (int i = 0; i != 1000; ++i)
            timers_.emplace_back(io).expires_after(1h);
    }

    /// Until there is none left for another one.
    void take_all() {
        try {
            for (auto& timer : timers_)
                timer.async_wait(boost::asio::bind_allocator(allocator_, [](boost::system::error_code) {}));
            ADD_FAILURE() << "there is memory for all of them";
        } catch (std::bad_alloc const&) { // as it should
        }
    }

    void cancel() { timers_.clear(); }

private:
    std::pmr::monotonic_buffer_resource memory_{1 << 20};
    std::pmr::polymorphic_allocator<> allocator_ = [this] {
        memory_.deallocate(memory_.allocate(1), 1); // it gets its own now
        return std::pmr::polymorphic_allocator<>(&memory_);
    }();
    std::deque<boost::asio::steady_timer> timers_;
};

TEST(timer_memory, waits_go_on_when_others_have_taken_all_of_it) {
    boost::asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    other_timers others(io);
    std::optional<failing_allocation> failing;
    test_wait first, second;
    int ended = 0;
    first.expired = second.expired = [&] { ++ended; };
    auto const now = waits.now();
    boost::asio::steady_timer other(io, now - 1s);
    other.async_wait([&](boost::system::error_code) { // when that of the waits is over too, and not yet told so
        failing.emplace(memory::global, shortage::lasting, 1);
        others.take_all();
    });
    waits.schedule(first, now);
    waits.schedule(second, now + 20ms);
    for (int i = 0; i != 10; ++i)
        EXPECT_NO_THROW(io.poll_one());
    EXPECT_TRUE(failing && failing->happened());
    failing.reset();
    others.cancel();
    io.run();
    EXPECT_EQ(ended, 2);
}

TEST(timer_memory, a_wait_ends_early_that_was_never_armed) {
    boost::asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait endless;
    bool has_ended = false;
    endless.expired = [&] { has_ended = true; };
    auto const work = boost::asio::make_work_guard(io); // as every operation has
    waits.schedule(endless, time_point::max());
    {
        failing_allocation const failing(memory::global, shortage::lasting, 1);
        EXPECT_TRUE(waits.end_early(endless, io));
    }
    EXPECT_EQ(io.run_one_for(10s), 1u);
    EXPECT_TRUE(has_ended);
}

TEST(timer_memory, virtual_time_ends_without) {
    boost::asio::io_context io;
    std::optional<virtual_time> time(io);
    retry_scheduler& waits = scheduler(io);
    test_wait wait;
    bool has_ended = false;
    wait.expired = [&] { has_ended = true; };
    waits.schedule(wait, waits.now() + 1ms);
    {
        failing_allocation const failing(memory::global, shortage::lasting, 1);
        time.reset();
        EXPECT_TRUE(failing.happened());
    }
    io.run();
    EXPECT_TRUE(has_ended);
}

} // namespace
} // namespace asio_retry::test
