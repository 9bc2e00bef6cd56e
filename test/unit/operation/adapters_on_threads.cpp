// `retrying` and `before_retry` where several threads run functions, and beside hedges.
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_pause.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/retrying.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/elements.hpp"
#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

constexpr int operations_of_each = 500;

retry_policy retrying_at_once() {
    return retry_policy().backoff(constant(20us)).unlimited_attempts();
}

/// Fails twice; what it counts is not guarded, because attempts come one after another.
template <typename Token>
auto async_fail_twice(asio::thread_pool& pool, std::shared_ptr<int> made, Token&& token) {
    return asio::async_initiate<Token, void(error_code)>(
        [&pool](auto handler, std::shared_ptr<int> const& count) {
            error_code const ec = ++*count < 3 ? refused() : error_code();
            asio::post(pool, asio::append(std::move(handler), ec));
        },
        token, std::move(made));
}

TEST(retrying_threads, makes_attempts_one_after_another_on_a_pool) {
    asio::thread_pool pool(4);
    retry_scope scope(pool.get_executor());
    std::atomic<int> succeeded = 0, attempts = 0;
    for (int i = 0; i != operations_of_each; ++i) {
        auto const made = std::make_shared<int>(0);
        auto const note = [&, made](error_code ec) {
            succeeded += !ec;
            attempts += *made;
        };
        if (i % 2)
            async_fail_twice(pool, made, retrying(retrying_at_once(), asio::bind_executor(pool, note)));
        else
            async_fail_twice(
                pool, made,
                retrying(scope, retrying_at_once(), asio::bind_executor(asio::make_strand(pool), note)));
    }
    pool.join();
    EXPECT_EQ(succeeded, operations_of_each);
    EXPECT_EQ(attempts, 3 * operations_of_each);
}

TEST(retrying_threads, has_limits_on_a_strand) {
    asio::thread_pool pool(4);
    std::atomic<int> completed = 0;
    for (int i = 0; i != operations_of_each; ++i) {
        auto const body = [&completed, i]() -> asio::awaitable<void> {
            asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::microseconds(i));
            auto const policy = retrying_at_once().max_attempts(3).attempt_timeout(100us);
            co_await timer.async_wait(retrying(policy, asio::as_tuple(asio::use_awaitable)));
            ++completed;
        };
        asio::co_spawn(asio::make_strand(pool), body, asio::detached);
    }
    pool.join();
    EXPECT_EQ(completed, operations_of_each);
}

// The step and the operation share what nobody guards.
TEST(before_retry_threads, steps_and_attempts_come_one_after_another) {
    asio::thread_pool pool(4);
    std::atomic<int> succeeded = 0, steps = 0;
    for (int i = 0; i != operations_of_each; ++i) {
        auto const made = std::make_shared<int>(0);
        auto const taken = std::make_shared<int>(0);
        auto const fetch = [&pool, made](auto token) { return async_fail_twice(pool, made, std::move(token)); };
        auto const step = [made, taken, &pool]() -> asio::awaitable<void> {
            co_await asio::post(pool, asio::use_awaitable);
            *taken += *made;
        };
        auto const note = [&, taken](error_code ec) {
            succeeded += !ec;
            steps += *taken;
        };
        auto const policy = i % 3 ? retrying_at_once() : retrying_at_once().attempt_timeout(1min);
        if (i % 2) {
            async_retry(pool, before_retry(fetch, step), policy, note);
        } else {
            auto const body = [fetch, step, policy]() -> asio::awaitable<void> {
                co_await async_retry(before_retry(fetch, step), policy);
            };
            asio::co_spawn(asio::make_strand(pool), body,
                           [note](std::exception_ptr e) { note(e ? refused() : error_code()); });
        }
    }
    pool.join();
    EXPECT_EQ(succeeded, operations_of_each);
    EXPECT_EQ(steps, (1 + 2) * operations_of_each);
}

class before_retry_and_hedges : public testing::Test, protected in_virtual_time {
protected:
    std::vector<std::string> done;
    completion_record record;

    /// Takes some time, unless it is told to stop.
    asio::awaitable<int> take(std::string what, duration d, int value) {
        done.push_back(std::move(what));
        co_await async_pause(co_await asio::this_coro::executor, d, asio::use_awaitable);
        co_return value;
    }
};

TEST_F(before_retry_and_hedges, the_step_comes_before_each_attempt_beside_the_first) {
    auto const fetch = [this](attempt a) {
        return take("fetch " + std::to_string(a.number), a.number == 3 ? 1s : 1h, static_cast<int>(a.number));
    };
    auto const step = [this](attempt a) { return take("step " + std::to_string(a.number), 5ms, 0); };
    int value = 0;
    async_hedge(io, before_retry(fetch, step), hedge_policy(10ms).max_attempts(3),
                [&](std::exception_ptr e, int v) {
                    EXPECT_FALSE(e);
                    value = v;
                });
    time.run();
    EXPECT_EQ(value, 3);
    EXPECT_EQ(time.now() - begin, 20ms + 5ms + 1s);
    EXPECT_THAT(done, elements("fetch 1", "step 2", "fetch 2", "step 3", "fetch 3"));
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(before_retry_and_hedges, the_step_comes_before_each_retry_of_a_hedged_operation) {
    int rounds = 0;
    auto const hedged = [&]() -> asio::awaitable<int> {
        bool const fails = ++rounds == 1;
        auto const fetch = [this, fails](attempt a) -> asio::awaitable<int> {
            int const value = co_await take("fetch " + std::to_string(a.number), a.number == 1 ? 1h : 1s, 7);
            if (fails)
                throw boost::system::system_error(asio::error::operation_aborted);
            co_return value;
        };
        co_return co_await async_hedge(fetch, hedge_policy(10ms), asio::use_awaitable);
    };
    auto const step = [this] { return take("step", 5ms, 0); };
    int value = 0;
    async_retry(io, before_retry(hedged, step), every_100ms().retry_if(any_failure),
                [&](std::exception_ptr e, int v) {
                    EXPECT_FALSE(e);
                    value = v;
                });
    time.run();
    EXPECT_EQ(value, 7);
    EXPECT_EQ(time.now() - begin, 1010ms + 100ms + 5ms + 1010ms);
    EXPECT_THAT(done, elements("fetch 1", "fetch 2", "step", "fetch 1", "fetch 2"));
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

} // namespace
} // namespace asio_retry::test
