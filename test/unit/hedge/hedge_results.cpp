#include <asio_retry/async_hedge.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/hooked_executor.hpp"
#include "support/in_virtual_time.hpp"
#include "support/many_attempts.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

// How long a hedge keeps what its attempts came to, and itself.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// Attempts that complete with something of which can be seen how long it is kept, and ignore being told.
struct weighty_attempts {
    using result = std::shared_ptr<int>;
    std::map<std::uint64_t, std::function<void(error_code, result)>> pending;

    template <typename Token>
    auto operator()(attempt const& which, Token&& token) {
        return asio::async_initiate<Token, void(error_code, result)>(
            [](auto handler, weighty_attempts* self, std::uint64_t number) {
                auto const shared = std::make_shared<decltype(handler)>(std::move(handler));
                self->pending[number] = [shared](error_code ec, result value) {
                    std::move (*shared)(ec, std::move(value));
                };
            },
            token, this, which.number);
    }

    /// Completes an attempt here; returns what becomes of its result.
    std::weak_ptr<int> complete(std::uint64_t number, error_code ec) {
        auto const finish = std::exchange(pending[number], nullptr);
        auto value = std::make_shared<int>(static_cast<int>(number));
        std::weak_ptr<int> const seen = value;
        finish(ec, std::move(value));
        return seen;
    }
};

struct hedge_of_weighty_results : testing::Test, in_virtual_time {
    weighty_attempts attempts;
    int completions = 0;
    error_code error;
    std::shared_ptr<int> value;

    void start(hedge_policy const& policy) {
        async_hedge(io, std::ref(attempts), policy, [this](error_code ec, std::shared_ptr<int> v) {
            ++completions;
            error = ec;
            value = std::move(v);
        });
    }
};

TEST_F(hedge_of_weighty_results, decision_20_a_failed_attempt_leaves_nothing_while_others_run) {
    start(hedge_policy(10ms).max_attempts(3));
    time.advance(10ms);
    auto const failed = attempts.complete(1, refused());
    EXPECT_TRUE(failed.expired()) << "attempts 2 and 3 run";
    EXPECT_EQ(completions, 0);
    attempts.complete(2, refused());
    EXPECT_TRUE(attempts.pending[3]);
    auto const won = attempts.complete(3, {});
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(value, won.lock()) << "the result itself is delivered";
}

TEST_F(hedge_of_weighty_results, decision_20_a_loser_leaves_nothing_while_another_is_waited_for) {
    start(hedge_policy(10ms).max_attempts(3));
    time.advance(20ms);
    auto const won = attempts.complete(2, {});
    EXPECT_FALSE(won.expired()) << "it is delivered when the losers have ended";
    EXPECT_TRUE(attempts.complete(1, {}).expired());
    EXPECT_EQ(completions, 0);
    attempts.complete(3, {});
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(value, won.lock());
}

TEST_F(hedge_of_weighty_results, decision_20_a_loser_leaves_nothing_after_the_delivery) {
    start(hedge_policy(10ms).max_attempts(3).deliver_at_once());
    time.advance(20ms);
    attempts.complete(2, {});
    EXPECT_EQ(completions, 1);
    EXPECT_TRUE(attempts.complete(1, {}).expired()) << "attempt 3 runs";
    attempts.complete(3, {});
    EXPECT_EQ(completions, 1);
}

// The last loser may end while the handler runs, there or on another thread. What the handler was called from
// is still needed then.
TEST(hedge_results, an_operation_stays_while_its_handler_runs) {
    asio::io_context io;
    virtual_time time(io);
    many_attempts attempts(io);
    attempts.on_cancel = nullptr;
    auto alive = std::make_shared<int>();
    std::weak_ptr<int> const operation_alive = alive;
    bool is_there = false;
    int completions = 0;
    auto operation = [&attempts, alive = std::move(alive)](attempt a, auto token) {
        return attempts(a, std::move(token));
    };
    async_hedge(io, std::move(operation), hedge_policy(10ms).deliver_at_once(), [&](error_code, int) {
        ++completions;
        attempts.complete_here(1, aborted());
        is_there = !operation_alive.expired();
    });
    time.advance(10ms);
    attempts.complete_here(2, {}, 2);
    EXPECT_EQ(completions, 1);
    EXPECT_TRUE(is_there);
    EXPECT_TRUE(operation_alive.expired()) << "and goes when it has returned";
}

// The scope has begun to tell the operation, which ends meanwhile and waits for the notice, when it turns out
// that there is no memory for that.
TEST(hedge_results, a_handler_is_not_called_inside_a_cancellation) {
    asio::io_context io;
    virtual_time time(io);
    retry_scope scope(io);
    many_attempts attempts(io);
    std::function<void()> hook;
    int completions = 0;
    bool is_cancelling = false;
    bool is_called_inside = false;
    auto handler = [&](error_code ec, int value) {
        ++completions;
        is_called_inside = is_cancelling;
        EXPECT_FALSE(ec);
        EXPECT_EQ(value, 7);
    };
    async_hedge(scope, std::ref(attempts), hedge_policy(1h),
                asio::bind_executor(hooked_executor(io.get_executor(), hook), std::move(handler)));
    auto const fail_once_more = [&] {
        hook = nullptr;
        out_of_memory();
    };
    hook = [&] {
        hook = fail_once_more;
        attempts.complete_here(1, {}, 7);
        EXPECT_EQ(completions, 0) << "it waits for the notice";
        out_of_memory();
    };
    is_cancelling = true;
    EXPECT_THROW(scope.cancel(), std::bad_alloc);
    is_cancelling = false;
    EXPECT_EQ(completions, 0);
    time.run();
    EXPECT_EQ(completions, 1);
    EXPECT_FALSE(is_called_inside);
}

TEST_F(hedge_of_weighty_results, decision_20_a_failed_attempt_leaves_nothing_in_its_slot) {
    std::weak_ptr<int> left;
    bool is_gone_later = false;
    auto const operation = [&](attempt which, auto token) {
        return asio::async_initiate<decltype(token), void(error_code, int)>(
            [&](auto handler, std::uint64_t number) {
                if (number == 1) {
                    auto const owned = std::make_shared<int>();
                    left = owned;
                    asio::get_associated_cancellation_slot(handler).assign(
                        [owned](asio::cancellation_type_t) {});
                }
                is_gone_later = left.expired();
                asio::post(io, [handler = std::move(handler), number]() mutable {
                    std::move(handler)(number == 1 ? refused() : error_code(), 0);
                });
            },
            token, which.number);
    };
    completion_record record;
    async_hedge(io, operation, hedge_policy(10ms), record.handler());
    time.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_TRUE(is_gone_later);
}

TEST_F(hedge_of_weighty_results, decision_21_a_predicate_that_throws_decides_the_end) {
    many_attempts many(io);
    completion_record record;
    async_hedge(io, fail_if(std::ref(many), [](int) -> bool { throw std::runtime_error("predicate"); }),
                hedge_policy(10ms), record.handler());
    many.complete(1, error_code(), 1);
    time.run();
    EXPECT_EQ(record.error, error::predicate_threw);
    EXPECT_EQ(many.started, 1u);
}

} // namespace
} // namespace asio_retry::test
