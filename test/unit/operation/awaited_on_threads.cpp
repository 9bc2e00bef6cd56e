#include <asio_retry/async_retry.hpp>
#include <handler/serial_executor.hpp>

#include "support/policies.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

// Awaitables that a time limit or a scope may interrupt, on a context that several threads may run.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

using tuple_of_error = asio::as_tuple_t<asio::use_awaitable_t<>>;

class awaited_on_threads : public testing::Test {
protected:
    using own_strand = detail::serial_executor<asio::io_context::executor_type>;

    asio::io_context io;
    std::optional<retry_scope> scope{std::in_place, io};
    retry_policy const limited = retry_policy().backoff(constant(0s)).attempt_timeout(1h);

    static void rethrow(std::exception_ptr const& failure) {
        if (failure)
            std::rethrow_exception(failure);
    }

    static asio::awaitable<void> turn() { co_await asio::post(asio::use_awaitable); }
};

TEST_F(awaited_on_threads, decision_46_attempts_run_on_one_strand_which_the_coroutine_leaves) {
    asio::any_io_executor attempts_on;
    std::uint64_t successful = 3;
    auto const operation = [&](attempt a) -> asio::awaitable<void> {
        asio::any_io_executor const on = co_await asio::this_coro::executor;
        auto const* const strand = on.target<own_strand>();
        EXPECT_TRUE(strand && strand->running_in_this_thread());
        EXPECT_TRUE(a.number == 1 || on == attempts_on) << "one for all of them";
        attempts_on = on;
        co_await turn();
        if (a.number != successful)
            throw boost::system::system_error(asio::error::connection_refused);
    };
    auto const caller = [&]() -> asio::awaitable<void> {
        asio::any_io_executor const own = co_await asio::this_coro::executor;
        co_await async_retry(*scope, operation, retry_policy().backoff(constant(0s)));
        bool const is_back_after_scope = co_await asio::this_coro::executor == own;
        EXPECT_TRUE(is_back_after_scope);
        co_await async_retry(operation, limited);
        bool const is_back_after_limit = co_await asio::this_coro::executor == own;
        EXPECT_TRUE(is_back_after_limit);
        successful = 4;
        tuple_of_error const as_tuple;
        auto const [failure] = co_await async_retry(*scope, operation, limited.max_attempts(3), as_tuple);
        EXPECT_TRUE(failure);
        bool const is_back_after_failure = co_await asio::this_coro::executor == own;
        EXPECT_TRUE(is_back_after_failure);
    };
    asio::co_spawn(io, caller(), rethrow);
    io.run();
    EXPECT_EQ(scope->pending(), 0u);
}

TEST_F(awaited_on_threads, one_retry_after_the_other_does_not_grow_the_stack) {
    std::uintptr_t highest = 0;
    std::uintptr_t lowest = std::numeric_limits<std::uintptr_t>::max();
    auto const operation = [&]() -> asio::awaitable<void> {
        auto const address = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        highest = std::max(highest, address);
        lowest = std::min(lowest, address);
        co_return;
    };
    auto const caller = [&]() -> asio::awaitable<void> {
        for (int i = 0; i != 1000; ++i)
            co_await async_retry(*scope, operation, limited);
    };
    asio::co_spawn(io, caller(), rethrow);
    io.run();
    EXPECT_LT(highest - lowest, 64u * 1024);
}

TEST_F(awaited_on_threads, a_join_ends_when_the_coroutine_that_has_the_result_waits_for_something_else) {
    bool has_gone_on = false;
    bool has_joined = false;
    auto const operation = [&]() -> asio::awaitable<void> {
        scope->async_join([&](error_code) {
            has_joined = true;
            EXPECT_TRUE(has_gone_on);
        });
        co_await turn();
    };
    auto const caller = [&]() -> asio::awaitable<void> {
        co_await async_retry(*scope, operation, retry_policy());
        has_gone_on = true;
        EXPECT_FALSE(has_joined);
    };
    asio::co_spawn(io, caller(), rethrow);
    io.run();
    EXPECT_TRUE(has_joined);
}

TEST_F(awaited_on_threads, a_join_waits_for_each_coroutine_that_has_a_result) {
    asio::io_context other;
    bool has_joined = false;
    int went_on = 0;
    auto const operation = [&]() -> asio::awaitable<void> { co_await turn(); };
    auto const first = [&]() -> asio::awaitable<void> {
        co_await async_retry(*scope, operation, retry_policy());
        other.poll(); // the second one ends meanwhile
        EXPECT_EQ(went_on, 1);
        EXPECT_FALSE(has_joined);
        ++went_on;
    };
    auto const second = [&]() -> asio::awaitable<void> {
        co_await async_retry(*scope, operation, retry_policy());
        ++went_on;
    };
    asio::co_spawn(other, second(), rethrow);
    other.poll_one();
    asio::co_spawn(io, first(), rethrow);
    scope->async_join(asio::bind_executor(other, [&](error_code) { has_joined = true; }));
    io.run();
    EXPECT_EQ(went_on, 2);
    other.restart();
    other.run();
    EXPECT_TRUE(has_joined);
}

TEST_F(awaited_on_threads, decision_18_a_scope_ends_attempts_and_waits_from_another_thread) {
    constexpr int count = 200;
    asio::thread_pool pool(3);
    scope.emplace(pool);
    std::atomic<int> begun = 0;
    std::atomic<int> aborted_ones = 0;
    auto const operation = [&](attempt a) -> asio::awaitable<void> {
        ++begun;
        asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
        if (a.number == 1 && begun % 2 == 0)
            co_await timer.async_wait(asio::use_awaitable);
        throw boost::system::system_error(asio::error::connection_refused);
    };
    auto const policy = retry_policy().backoff(constant(1h)).unlimited_attempts();
    for (int i = 0; i != count; ++i)
        asio::co_spawn(pool, async_retry(*scope, operation, policy), [&](std::exception_ptr const& failure) {
            aborted_ones += code_of(failure) == asio::error::operation_aborted;
        });
    while (begun < count / 2)
        std::this_thread::yield();
    scope->cancel();
    pool.join();
    EXPECT_EQ(aborted_ones, count);
    EXPECT_EQ(scope->pending(), 0u);
}

/// Whoever may cancel the coroutine does not know of a strand.
TEST_F(awaited_on_threads, a_coroutine_that_can_be_cancelled_stays_where_it_is) {
    asio::cancellation_signal signal;
    std::exception_ptr thrown;
    int attempts = 0;
    auto const operation = [&]() -> asio::awaitable<void> {
        ++attempts;
        asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
        co_await timer.async_wait(asio::use_awaitable);
    };
    asio::co_spawn(io, async_retry(*scope, operation, retry_policy()),
                   asio::bind_cancellation_slot(signal.slot(),
                                                [&](std::exception_ptr const& failure) { thrown = failure; }));
    io.poll();
    EXPECT_EQ(attempts, 1);
    signal.emit(asio::cancellation_type::terminal);
    io.restart();
    io.run();
    ASSERT_TRUE(thrown);
    EXPECT_EQ(code_of(thrown), asio::error::operation_aborted);
}

} // namespace
} // namespace asio_retry::test
