#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>

#include "support/coroutine_ends.hpp"
#include "support/failing_allocation.hpp"
#include "support/hooked_executor.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <optional>

// What a scope has to tell an operation that a coroutine awaits, where there is no memory for that.

namespace asio_retry::test {
namespace {

class awaited_scope_notices : public testing::Test {
protected:
    /// Begins an operation in a scope on a context of one thread.
    struct awaited : coroutine_ends {
        asio::io_context io{1};
        std::optional<retry_scope> scope;
        pending_attempts attempts{io};

        void start() {
            asio::co_spawn(io, await(*this), note_end());
            poll();
        }
        void poll() {
            io.poll();
            io.restart();
        }

        /// Returns false if some could not be told.
        bool cancel() {
            try {
                scope->cancel();
                return true;
            } catch (std::bad_alloc const&) {
                return false;
            }
        }

        static asio::awaitable<void> await(awaited& self) {
            auto const operation = [&self]() -> asio::awaitable<void> {
                co_await self.attempts.async_attempt(asio::use_awaitable);
            };
            co_await async_retry(*self.scope, operation, every_100ms());
        }
    };
};

TEST_F(awaited_scope_notices, come_again_with_the_next_request) {
    bool fails = true;
    for (std::uint64_t nth = 1; fails; ++nth) {
        awaited it;
        it.scope.emplace(it.io);
        it.start();
        {
            failing_allocation const failing(memory::global, shortage::once, nth);
            fails = !it.cancel();
            EXPECT_EQ(failing.happened(), fails);
        }
        it.poll();
        EXPECT_EQ(it.completions, fails ? 0 : 1) << nth;
        EXPECT_TRUE(it.cancel());
        it.io.run();
        EXPECT_EQ(it.completions, 1);
        EXPECT_EQ(it.result, aborted());
        EXPECT_EQ(it.scope->pending(), 0u);
    }
}

// It has been marked, and waits for the notice in order to end, when it turns out that there will be none.
TEST_F(awaited_scope_notices, that_cannot_be_queued_keep_nobody) {
    bool fails = true;
    for (std::uint64_t nth = 1; fails; ++nth) {
        awaited it;
        it.scope.emplace(it.io);
        std::function<void()> hook;
        pending_attempts others(it.io);
        completion_record other;
        async_retry(
            *it.scope, [&](auto token) { return others.async_attempt(std::move(token)); }, every_100ms(),
            asio::bind_executor(hooked_executor(it.io.get_executor(), hook), other.handler()));
        it.start();
        it.attempts.on_cancel = nullptr;
        it.attempts.complete({});
        std::optional<failing_allocation> failing;
        hook = [&] {
            hook = nullptr;
            it.poll();
            failing.emplace(memory::global, shortage::once, nth);
        };
        it.cancel();
        fails = failing->happened();
        failing.reset();
        EXPECT_TRUE(it.cancel());
        it.io.run();
        EXPECT_EQ(it.completions, 1) << nth;
        EXPECT_FALSE(it.result);
        EXPECT_EQ(other.error, aborted());
        EXPECT_EQ(it.scope->pending(), 0u);
    }
}

} // namespace
} // namespace asio_retry::test
