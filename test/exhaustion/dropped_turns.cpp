#include <asio_retry/async_hedge.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/failing_allocation.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <new>
#include <utility>

// A turn is destroyed with its context, and with it what had happened until then.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class dropped_turns : public testing::Test {
protected:
    /// Whom it cannot tell gets a turn to go on.
    void cancel_without_memory() {
        failing_allocation const failing(memory::global, shortage::once, 1);
        EXPECT_THROW(scope.cancel(), std::bad_alloc);
    }

    /// An attempt that lasts until its context is destroyed.
    static auto lasting(asio::io_context& on, auto token) {
        auto const timer = std::make_shared<asio::steady_timer>(on, asio::steady_timer::time_point::max());
        return timer->async_wait(asio::consign(std::move(token), timer));
    }

    asio::io_context waits;
    virtual_time time{waits};
    retry_scope scope{waits};
    std::shared_ptr<int> alive = std::make_shared<int>();
};

TEST_F(dropped_turns, of_a_hedge_know_that_its_timer_has_expired) {
    {
        asio::io_context io;
        async_hedge(
            scope, [&io](auto token) { return lasting(io, std::move(token)); }, hedge_policy(10ms),
            asio::bind_executor(io, [held = alive](error_code) { FAIL(); }));
        time.advance(10ms); // its notice is queued
        cancel_without_memory();
        EXPECT_EQ(io.poll_one(), 1u);
    }
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_EQ(scope.pending(), 0u);
}

} // namespace
} // namespace asio_retry::test
