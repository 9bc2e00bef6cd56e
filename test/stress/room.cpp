#include "stress/watchdog.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <ostream>

// Chains of operations on a pool of threads, each of which begins where the one before it ends, under a ceiling
// that has room for one of each chain; and joins all the while.

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;

// Typed: ThreadSanitizer does not know the fences by which an erased one counts its owners.
using pool_executor = asio::thread_pool::executor_type;
using pool_awaitable = asio::awaitable<void, pool_executor>;
constexpr asio::use_awaitable_t<pool_executor> use_pool_awaitable;

class room_of_a_scope : public testing::Test {
protected:
    static constexpr int chains = 8;
    static constexpr int links = 500;

    asio::thread_pool pool{4};
    retry_scope outer{pool}, scope{outer};
    std::atomic<int> succeeded = 0, refused = 0, joins = 0;
    watchdog dog{[this](std::ostream& out) { out << succeeded << " succeeded, " << refused << " refused"; }};

    room_of_a_scope() {
        outer.max_pending(chains);
        scope.max_pending(chains);
    }

    void join_now_and_then() {
        dog.moved();
        if (succeeded % 16 == 0)
            (succeeded % 32 == 0 ? scope : outer).async_join([this](error_code) { ++joins; });
    }

    void expect_no_refusal() {
        pool.join();
        EXPECT_EQ(refused, 0);
        EXPECT_EQ(succeeded, chains * links);
        EXPECT_GT(joins, 0);
        EXPECT_EQ(outer.pending(), 0u);
    }

    void begin_from_a_handler(int left) {
        async_retry(
            scope, [] { return error_code(); }, retry_policy(),
            [this, left](error_code ec) {
                ++(ec ? refused : succeeded);
                join_now_and_then();
                if (left > 1)
                    begin_from_a_handler(left - 1);
            });
    }

    pool_awaitable begin_from_a_coroutine() {
        auto const operation = [this]() -> pool_awaitable { co_await asio::post(pool, use_pool_awaitable); };
        for (int i = 0; i != links; ++i) {
            bool has_failed = false;
            try {
                co_await async_retry(scope, operation, retry_policy());
            } catch (std::exception const&) {
                has_failed = true;
            }
            ++(has_failed ? refused : succeeded);
            join_now_and_then();
        }
    }
};

TEST_F(room_of_a_scope, is_there_for_what_a_handler_begins) {
    for (int i = 0; i != chains; ++i)
        begin_from_a_handler(links);
    expect_no_refusal();
}

TEST_F(room_of_a_scope, is_there_for_what_a_coroutine_begins) {
    for (int i = 0; i != chains; ++i)
        asio::co_spawn(pool, begin_from_a_coroutine(), asio::detached);
    expect_no_refusal();
}

} // namespace
} // namespace asio_retry::test
