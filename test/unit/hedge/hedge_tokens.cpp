#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/in_virtual_time.hpp"
#include "support/many_attempts.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <tuple>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// A hedge whose first attempt is slow and whose second one succeeds, started with a token of the test's.
struct hedge_with_token : testing::Test, in_virtual_time {
    many_attempts attempts{io};
    hedge_policy const policy{10ms};

    /// Precondition: the hedge has been started, or posted.
    void let_the_second_win() {
        poll();
        time.advance(10ms);
        ASSERT_EQ(attempts.started, 2u);
        attempts.complete(2, {}, 7);
        poll();
        EXPECT_EQ(attempts.told[1].size(), 1u);
        EXPECT_EQ(scheduler(io).pending(), 0u);
        poll();
        EXPECT_TRUE(io.stopped()) << "no work is left";
    }
    void poll() {
        io.restart();
        io.poll();
    }
};

TEST_F(hedge_with_token, completes_a_future) {
    std::future<int> result = async_hedge(io, std::ref(attempts), policy, asio::use_future);
    let_the_second_win();
    EXPECT_EQ(result.get(), 7);
}

TEST_F(hedge_with_token, begins_when_a_deferred_one_is_started) {
    auto later = async_hedge(io, std::ref(attempts), policy, asio::deferred);
    poll();
    EXPECT_EQ(attempts.started, 0u);
    int value = 0;
    std::move(later)([&](error_code ec, int v) { value = ec ? -1 : v; });
    let_the_second_win();
    EXPECT_EQ(value, 7);
}

TEST_F(hedge_with_token, is_detached) {
    async_hedge(io, std::ref(attempts), policy, asio::detached);
    let_the_second_win();
}

TEST_F(hedge_with_token, is_awaited) {
    int value = 0;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            value = co_await async_hedge(std::ref(attempts), policy, asio::use_awaitable);
        },
        asio::detached);
    let_the_second_win();
    EXPECT_EQ(value, 7);
}

TEST_F(hedge_with_token, is_awaited_as_a_tuple_by_default) {
    int value = 0;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            auto const [ec, v] =
                co_await async_hedge(std::ref(attempts), policy, asio::as_tuple(asio::deferred));
            value = ec ? -1 : v;
        },
        asio::detached);
    let_the_second_win();
    EXPECT_EQ(value, 7);
}

TEST_F(hedge_with_token, redirects_its_error) {
    error_code ec = asio::error::eof;
    int value = 0;
    async_hedge(io, std::ref(attempts), policy, asio::redirect_error([&](int v) { value = v; }, ec));
    let_the_second_win();
    EXPECT_EQ(ec, error_code());
    EXPECT_EQ(value, 7);
}

TEST_F(hedge_with_token, completes_on_the_strand_of_its_handler) {
    auto const strand = asio::make_strand(io);
    int value = 0;
    async_hedge(io, std::ref(attempts), policy, asio::bind_executor(strand, [&](error_code ec, int v) {
                    EXPECT_TRUE(strand.running_in_this_thread());
                    value = ec ? -1 : v;
                }));
    let_the_second_win();
    EXPECT_EQ(value, 7);
}

TEST_F(hedge_with_token, runs_in_a_scope_with_any_token) {
    retry_scope scope(io.get_executor());
    std::future<int> result = async_hedge(scope, std::ref(attempts), policy, asio::use_future);
    let_the_second_win();
    EXPECT_EQ(result.get(), 7);
    EXPECT_EQ(scope.pending(), 0u);
}

// The attempts of the hedge are those of the retry: where the first fails, the retry makes another hedge.
TEST_F(hedge_with_token, is_tried_again_by_a_retry_around_it) {
    auto const hedged = [&](attempt const& outer, auto token) {
        return async_hedge(outer, std::ref(attempts), policy, std::move(token));
    };
    std::future<int> result = async_retry(io, hedged, retry_policy().backoff(constant(0s)), asio::use_future);
    attempts.complete(1, asio::error::connection_reset);
    poll();
    ASSERT_EQ(attempts.started, 2u) << "at once, as a hedge";
    attempts.complete(2, asio::error::connection_reset);
    poll();
    time.advance(1ms);
    poll();
    ASSERT_EQ(attempts.started, 3u) << "the second attempt of the retry makes a single one";
    ASSERT_TRUE(attempts.pending(1)) << "its numbers count from 1 again";
    attempts.complete(1, {}, 7);
    poll();
    EXPECT_EQ(result.get(), 7);
}

} // namespace
} // namespace asio_retry::test
