#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/scripted_operation.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/cobalt/op.hpp>
#include <boost/cobalt/race.hpp>
#include <boost/cobalt/spawn.hpp>
#include <boost/cobalt/task.hpp>
#include <gtest/gtest.h>

// Operations that are awaited in Boost.Cobalt's tasks.
namespace asio_retry::test {
namespace {

namespace cobalt = boost::cobalt;
using namespace std::chrono_literals;

struct use_op : testing::Test {
    retry_policy policy = retry_policy().backoff(constant(1h)).jitter(no_jitter());

    auto scripted() {
        return [this](auto token) { return async_scripted(io, played, std::move(token)); };
    }

    // A task is only awaited, and so ends when the context has nothing to do.
    template <typename Value>
    void start(cobalt::task<Value> task) {
        cobalt::spawn(io.get_executor(), std::move(task), [this](std::exception_ptr e, auto... values) {
            thrown = e;
            ((result = values), ...);
        });
    }

    error_code thrown_code() const {
        try {
            std::rethrow_exception(thrown);
        } catch (boost::system::system_error const& e) {
            return e.code();
        }
    }

    asio::io_context io;
    virtual_time time{io};
    time_point const begin = time.now();
    script played;
    int result = 0;
    std::exception_ptr thrown;
};

cobalt::task<int> awaits(use_op& test) {
    co_return co_await async_retry(test.io.get_executor(), test.scripted(), test.policy, cobalt::use_op);
}

cobalt::task<int> awaits_on_its_own_executor(use_op& test) {
    co_return co_await async_retry(test.scripted(), test.policy, cobalt::use_op);
}

TEST_F(use_op, in_a_task_gives_the_result) {
    played = script::failures(2);
    start(awaits(*this));
    time.run();
    EXPECT_FALSE(thrown);
    EXPECT_EQ(result, 3);
    EXPECT_EQ(time.now() - begin, 2h);
}

TEST_F(use_op, in_a_task_throws_the_last_error) {
    played = script::failures(9);
    start(awaits(*this));
    time.run();
    ASSERT_TRUE(thrown);
    EXPECT_EQ(thrown_code(), refused());
    EXPECT_EQ(played.attempts, 3u);
}

// The handler of the task brings its executor along.
TEST_F(use_op, needs_no_executor_in_a_task) {
    played = script::failures(1);
    start(awaits_on_its_own_executor(*this));
    time.run();
    EXPECT_FALSE(thrown);
    EXPECT_EQ(result, 2);
}

// An attempt of an awaitable: its signature is that of a coroutine, whose exception Cobalt throws.
cobalt::task<int> awaits_coroutines(use_op& test) {
    auto const attempt = [&test]() -> asio::awaitable<int> {
        co_return co_await async_scripted(test.io, test.played, asio::use_awaitable);
    };
    co_return co_await async_retry(test.io.get_executor(), attempt, test.policy, cobalt::use_op);
}

TEST_F(use_op, of_attempts_that_are_coroutines_of_asio) {
    played = script::failures(2);
    start(awaits_coroutines(*this));
    time.run();
    EXPECT_FALSE(thrown);
    EXPECT_EQ(result, 3);
    played = script::failures(9);
    start(awaits_coroutines(*this));
    time.run();
    ASSERT_TRUE(thrown);
    EXPECT_EQ(thrown_code(), refused());
}

// A race cancels what loses it, and waits for its end.
cobalt::task<int> loses(use_op& test) {
    asio::steady_timer soon(test.io, 0s);
    auto const raced = co_await cobalt::race(awaits(test), soon.async_wait(cobalt::use_op));
    co_return static_cast<int>(raced.index());
}

TEST_F(use_op, of_a_task_that_loses_a_race_ends_in_its_wait) {
    played = script::failures(9);
    policy = policy.unlimited_attempts();
    start(loses(*this));
    io.run();
    EXPECT_FALSE(thrown);
    EXPECT_EQ(result, 1);
    EXPECT_EQ(played.attempts, 1u);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

} // namespace
} // namespace asio_retry::test
