// A gate wakes an operation on another thread while the operation draws its first random number.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

TEST(woken_by_another_thread, decision_62_an_operation_may_be_drawing_a_number) {
    for (int round = 0; round != 20; ++round) {
        auto const limit = std::make_shared<concurrency_limit<aimd>>(
            aimd({.initial = 1, .least = 1, .greatest = 1}), queue_options{.greatest = 10, .longest_wait = 1h});
        auto const policy = retry_policy().max_attempts(1).gate(limit);
        asio::io_context io, elsewhere;
        asio::any_completion_handler<void(error_code)> running;
        auto const runs = [&](auto&& token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [&](auto handler) {
                    asio::any_completion_handler<void(error_code)>(std::move(handler)).swap(running);
                },
                token);
        };
        int ended = 0;
        async_retry(elsewhere, runs, policy, [&](error_code ec) { ended += !ec; });
        retry_scope scope(io.get_executor());
        async_retry(scope, [] { return error_code(); }, policy, [&](error_code ec) { ended += !ec; });
        io.poll();
        EXPECT_EQ(limit->queued(), 1u);

        std::atomic<bool> has_drawn = false;
        std::thread other([&] {
            while (!has_drawn.load(std::memory_order_relaxed)) // which orders nothing
                std::this_thread::yield();
            std::move(running)(error_code());
            elsewhere.run();
        });
        scope.retry_now(1h);
        io.poll();
        has_drawn.store(true, std::memory_order_relaxed);
        other.join();
        io.restart();
        io.run();
        EXPECT_EQ(ended, 2);
    }
}

} // namespace
} // namespace asio_retry::test
