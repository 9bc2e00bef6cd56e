#include <asio_retry/async_retry.hpp>

#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

constexpr int operations = 2000;

/// Fails `failures` times, then succeeds, each time completing on whichever thread of the pool is free.
auto pool_operation(asio::thread_pool& pool, int failures) {
    return [&pool, failures, made = 0](auto token) mutable {
        return asio::async_initiate<decltype(token), void(error_code)>(
            [&pool](auto handler, bool fails) {
                asio::post(pool, asio::append(std::move(handler), fails ? refused() : error_code()));
            },
            token, made++ < failures);
    };
}

retry_policy quickly() {
    return retry_policy().backoff(constant(20us)).unlimited_attempts();
}

// An executor that is no strand: completions meet the initiating function on other threads.
TEST(async_retry_threads, completions_on_other_threads_while_the_initiation_returns) {
    asio::thread_pool pool(4);
    std::atomic<int> succeeded = 0;
    for (int i = 0; i != operations; ++i) {
        auto const policy = i % 2 ? quickly() : quickly().backoff(constant(0ns));
        async_retry(pool, pool_operation(pool, 3), policy, [&](error_code ec) { succeeded += !ec; });
    }
    pool.join();
    EXPECT_EQ(succeeded, operations);
}

// Time limits meet completions on an executor that is no strand; each operation completes once all the same.
TEST(async_retry_threads, attempt_timeouts_meet_completions) {
    asio::thread_pool pool(4);
    std::atomic<int> completed = 0;
    auto const policy = quickly().max_attempts(4).attempt_timeout(50us).total_timeout(10s);
    for (int i = 0; i != operations; ++i) {
        auto timer = std::make_shared<asio::steady_timer>(pool);
        auto const sleeping = [timer, i](auto token) {
            timer->expires_after(std::chrono::microseconds(30 + i % 50));
            return timer->async_wait(std::move(token));
        };
        async_retry(pool, fail_if(sleeping, [] { return true; }), policy, [&](error_code) { ++completed; });
    }
    pool.join();
    EXPECT_EQ(completed, operations);
    EXPECT_EQ(scheduler(pool).pending(), 0u);
}

TEST(async_retry_threads, slots_emitted_on_the_strand_of_the_handler) {
    asio::thread_pool pool(4);
    std::atomic<int> aborted_count = 0;
    for (int i = 0; i != operations; ++i) {
        auto const strand = asio::make_strand(pool);
        auto const signal = std::make_shared<asio::cancellation_signal>();
        asio::post(strand, [&, strand, signal] {
            auto handler = [&, signal](error_code ec) { aborted_count += ec == aborted(); };
            async_retry(
                pool, pool_operation(pool, 1'000'000), quickly(),
                asio::bind_cancellation_slot(signal->slot(), asio::bind_executor(strand, std::move(handler))));
        });
        asio::post(pool, [strand, signal] {
            asio::post(strand, [signal] { signal->emit(asio::cancellation_type::terminal); });
        });
    }
    pool.join();
    EXPECT_EQ(aborted_count, operations);
}

// Awaitable attempts under time limits, cancelled through a scope from another thread.
TEST(async_retry_threads, awaitable_attempts_in_a_scope) {
    asio::thread_pool pool(4);
    retry_scope scope(pool.get_executor());
    std::atomic<int> completed = 0;
    auto const failing = [&]() -> asio::awaitable<void> {
        asio::steady_timer timer(co_await asio::this_coro::executor, 40us);
        co_await timer.async_wait(asio::use_awaitable);
        throw std::runtime_error("failure");
    };
    auto const policy = quickly().attempt_timeout(60us);
    for (int i = 0; i != 100; ++i)
        async_retry(scope, failing, policy,
                    [&](std::exception_ptr e) { completed += e != nullptr; }); // no strand
    for (int i = 0; i != 100; ++i)
        async_retry(scope, failing, policy,
                    asio::bind_executor(asio::make_strand(pool),
                                        [&](std::exception_ptr e) { completed += e != nullptr; }));
    asio::steady_timer timer(pool, 20ms);
    timer.async_wait([&](error_code) { scope.cancel(); });
    pool.join();
    EXPECT_EQ(completed, 200);
    EXPECT_EQ(scope.pending(), 0u);
}

} // namespace
} // namespace asio_retry::test
