#include <asio_retry/async_retry.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/hooked_executor.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t many = 100'000;

struct counted_handler {
    std::size_t& called;
    std::shared_ptr<int> held;
    void operator()(error_code ec, int) { called += ec == aborted(); }
};

/// They fail once and wait.
template <typename Where>
void start_many(asio::io_context& io, Where& where, script& failing, counted_handler const& handler) {
    for (std::size_t i = 0; i != many; ++i)
        async_retry(
            where, [&](auto token) { return async_inline(failing, std::move(token)); }, hourly(),
            counted_handler(handler));
    io.poll();
    EXPECT_EQ(scheduler(io).pending(), many);
}

// Decision 25: each handler is destroyed once and none is called; the sanitizer sees the rest.
TEST(async_retry_shutdown, decision_25_context_destroyed_with_100000_operations_pending) {
    auto const held = std::make_shared<int>();
    std::size_t called = 0;
    script failing = script::failures(many);
    {
        asio::io_context io;
        start_many(io, io, failing, counted_handler{called, held});
        EXPECT_EQ(static_cast<std::size_t>(held.use_count()), many + 1);
    }
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(called, 0u);
}

// Decision 13: all cancelled instead, run() returns at once although every wait had an hour to go.
TEST(async_retry_shutdown, decision_13_100000_operations_cancelled) {
    asio::io_context io;
    retry_scope scope(io.get_executor());
    auto const held = std::make_shared<int>();
    std::size_t called = 0;
    script failing = script::failures(many);
    start_many(io, scope, failing, counted_handler{called, held});
    scope.cancel();
    io.run();
    EXPECT_EQ(called, many);
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(failing.attempts, many);
}

TEST(async_retry_shutdown, context_destroyed_in_attempts_waits_and_limits) {
    auto const held = std::make_shared<int>();
    std::size_t called = 0;
    asio::cancellation_signal signal;
    {
        asio::io_context io;
        script failing = script::failures(1000);
        auto const posted = [&](auto token) { return async_scripted(io, failing, std::move(token)); };
        auto const never = [&]() -> asio::awaitable<int> {
            asio::steady_timer timer(io, 1h);
            co_await timer.async_wait(asio::use_awaitable);
            co_return 0;
        };
        auto const failing_awaitable = [&]() -> asio::awaitable<int> {
            co_await asio::post(io, asio::deferred);
            throw std::runtime_error("failure");
        };
        auto const with_exception = [&called, held](std::exception_ptr, int) { ++called; };
        auto const limited = hourly().attempt_timeout(1h);
        async_retry(io, posted, hourly(), counted_handler{called, held}); // its attempt is queued
        async_retry(io, posted, limited,
                    asio::bind_cancellation_slot(signal.slot(), counted_handler{called, held}));
        async_retry(io, never, limited, with_exception);
        async_retry(io, never, hourly(), with_exception);
        async_retry(io, failing_awaitable, hourly(), with_exception);
        asio::co_spawn(io, async_retry(failing_awaitable, hourly()), with_exception);
        for (int turns = 0; turns != 12; ++turns)
            io.poll_one();
        async_retry(io, posted, hourly(), counted_handler{called, held}); // not even its first turn
        EXPECT_GT(held.use_count(), 6);
    }
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(called, 0u);
}

TEST(async_retry_shutdown, stopped_context_keeps_its_waits_and_goes_on) {
    asio::io_context io;
    script played = script::failures(1);
    completion_record record;
    async_retry(
        io, [&](auto token) { return async_inline(played, std::move(token)); },
        retry_policy().backoff(constant(50ms)).jitter(no_jitter()), record.handler());
    io.poll();
    io.stop();
    EXPECT_EQ(io.run(), 0u);
    EXPECT_EQ(scheduler(io).pending(), 1u);
    io.restart();
    io.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_FALSE(record.error);
}

// Decision 25: the caller's signal may be gone before the context is.
// Decision 25: of waits that are over at the same time, none goes on after the context was stopped.
TEST(async_retry_shutdown, decision_25_context_stopped_by_the_end_of_one_of_many_waits) {
    int attempts = 0;
    int completed = 0;
    {
        asio::io_context io;
        auto const policy = retry_policy().backoff(constant(1ms)).jitter(no_jitter()).unlimited_attempts();
        for (int i = 0; i != 40; ++i)
            async_retry(
                io,
                [&, failed = false]() mutable {
                    ++attempts;
                    return std::exchange(failed, true) ? error_code()
                                                       : error_code(asio::error::connection_refused);
                },
                policy,
                [&](error_code) {
                    ++completed;
                    io.stop();
                });
        io.run();
    }
    EXPECT_EQ(completed, 1);
    EXPECT_EQ(attempts, 41);
}

TEST(async_retry_shutdown, decision_25_signal_destroyed_before_the_context) {
    script failing = script::failures(10);
    completion_record record;
    asio::io_context io;
    asio::cancellation_signal signal;
    async_retry(
        io, [&](auto token) { return async_scripted(io, failing, std::move(token)); }, hourly(),
        asio::bind_cancellation_slot(signal.slot(), record.handler()));
    io.poll();
    EXPECT_EQ(scheduler(io).pending(), 1u);
}

// The shutdown of an inner wait must not touch the timer that is gone already.
TEST(async_retry_shutdown, nested_retry_under_an_attempt_timeout) {
    asio::io_context io;
    script failing = script::failures(10);
    auto const inner = [&](auto token) { return async_scripted(io, failing, std::move(token)); };
    auto const outer = [&](auto token) { return async_retry(io, inner, hourly(), std::move(token)); };
    async_retry(io, outer, hourly().attempt_timeout(2h), asio::detached);
    io.poll();
    EXPECT_EQ(scheduler(io).pending(), 2u);
}

// An attempt that drops its handler destroys the operation, as any Asio operation would be.
// Nobody but that notice would carry the operation on.
TEST(async_retry_shutdown, decision_25_context_destroyed_while_a_notice_of_a_limit_has_no_memory) {
    int handlers = 0;
    std::function<void()> hook;
    {
        asio::io_context io;
        virtual_time time(io);
        pending_attempts attempts(io);
        std::shared_ptr<void> const held(&++handlers, [&](void*) { --handlers; });
        async_retry(
            hooked_executor(io.get_executor(), hook),
            [&](auto token) { return attempts.async_attempt(std::move(token)); },
            every_100ms().attempt_timeout(1s), [held](error_code, int) { ADD_FAILURE(); });
        time.advance(0s);
        hook = [&] { // as on another thread, the attempt ends while the notice is about to be queued
            hook = nullptr;
            attempts.complete(refused());
            time.advance(0s);
            out_of_memory();
        };
        EXPECT_THROW(time.advance(1s), std::bad_alloc);
        EXPECT_FALSE(attempts.pending());
    }
    EXPECT_EQ(handlers, 0);
}

TEST(async_retry_shutdown, attempt_that_drops_its_handler) {
    auto const held = std::make_shared<int>();
    std::size_t called = 0;
    asio::io_context io;
    auto const dropping = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, int)>(
            [](auto handler) { auto const dropped = std::move(handler); }, token);
    };
    async_retry(io, dropping, hourly(), counted_handler{called, held});
    async_retry(io, dropping, hourly().attempt_timeout(1h), counted_handler{called, held});
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(scheduler(io).pending(), 0u);
    io.run();
    EXPECT_EQ(called, 0u);
}

} // namespace
} // namespace asio_retry::test
