// Operations inside operations on a pool of threads, with gates that all layers share.
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include "on_four_threads.hpp"
#include "support/tallying_gate.hpp"

#include <atomic>
#include <memory>

namespace asio_retry::test {
namespace {
namespace layers_on_threads {

/// A client of its own class, whose requests fail now and then.
class client {
public:
    client(asio::thread_pool& pool, std::shared_ptr<retry_gate> gate)
        : pool_(pool)
        , policy_(retry_policy().max_attempts(3).backoff(constant(std::chrono::microseconds(50))).gate(gate))
        , hedging_(hedge_policy(std::chrono::microseconds(100)).gate(std::move(gate))) {}

    /// So many requests, one after the other.
    void ask(int left) {
        if (left == 0)
            return;
        auto const outermost = [this, left](attempt which) { return through_layers(which, left); };
        async_retry(asio::make_strand(pool_), outermost, policy_, [this, left](std::exception_ptr) {
            ++ended;
            ask(left - 1);
        });
    }

    std::atomic<int> ended = 0;
    std::atomic<int> sent = 0;

private:
    asio::awaitable<void> through_layers(attempt which, int number) {
        auto const inner = [this, number](attempt inside) { return innermost(inside, number); };
        if (number % 2 == 0)
            co_await async_retry(which, inner, policy_, asio::use_awaitable);
        else
            co_await async_hedge(which, inner, hedging_, asio::use_awaitable);
    }

    asio::awaitable<void> innermost(attempt which, int number) {
        auto const request = [this, number] { return answer(number); };
        co_await async_retry(which, request, policy_, asio::use_awaitable);
    }

    asio::awaitable<void> answer(int number) {
        co_await asio::post(pool_, asio::use_awaitable); // elsewhere
        if (++sent % 3 == number % 3)
            throw boost::system::system_error(asio::error::connection_reset);
    }

    asio::thread_pool& pool_;
    retry_policy const policy_;
    hedge_policy const hedging_;
};

TEST(layers_on_threads, decision_75_hold_nothing_at_the_end) {
    auto const limit =
        std::make_shared<concurrency_limit<aimd>>(aimd({.initial = 30, .least = 30, .greatest = 30}));
    auto const tally = std::make_shared<tallying_gate>();
    asio::thread_pool pool(thread_count);
    client one(pool, all_gates({tally, limit, std::make_shared<token_budget>()}));
    for (int i = 0; i != 40; ++i)
        one.ask(100);
    pool.join();
    EXPECT_EQ(one.ended, 4000);
    EXPECT_GT(one.sent, 1000);
    EXPECT_EQ(limit->in_flight(), 0u);
    EXPECT_EQ(tally->running, 0);
    EXPECT_EQ(tally->leases, 0);
}

} // namespace layers_on_threads
} // namespace
} // namespace asio_retry::test
