#include "stress/sanitized.hpp"
#include "stress/watchdog.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <ostream>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

// Operations that call their handler on a thread of their own, as is written by whoever does not know of
// associated executors: the attempt ends there, and may meet on its way back what its executor has to tell it.

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using std::chrono::microseconds;
using namespace std::chrono_literals;

class elsewhere : public testing::Test {
protected:
    static constexpr int sessions = 4;
    static constexpr int retries = 1000; // of each
    static constexpr int rounds = 50;    // with a scope for each

    template <typename Token>
    auto async_do_something(int for_microseconds, Token&& token) {
        return asio::async_initiate<Token, void()>(
            [=, this](auto handler) {
                auto const timer = std::make_shared<asio::steady_timer>(others, microseconds(for_microseconds));
                timer->async_wait([timer, handler = std::move(handler)](boost::system::error_code) mutable {
                    std::move(handler)();
                });
            },
            token);
    }

    asio::awaitable<void> attempt(int for_microseconds) {
        co_await async_do_something(for_microseconds, asio::use_awaitable);
        throw std::runtime_error("in vain");
    }

    static retry_policy policy() {
        return retry_policy()
            .backoff(constant(duration::zero()))
            .max_attempts(2)
            .attempt_timeout(microseconds(100))
            .retry_if([](std::exception_ptr const&) { return true; });
    }

    asio::awaitable<void> session(unsigned seed, int count, retry_scope* scope) {
        std::minstd_rand engine(seed);
        for (int i = 0; i != count; ++i) {
            auto const operation = [&] { return attempt(int(engine() % 200)); };
            try {
                if (scope)
                    co_await async_retry(*scope, operation, policy());
                else
                    co_await async_retry(operation, policy());
            } catch (std::exception const&) {
            }
            ++ended;
            dog.moved();
        }
    }

    /// With the other form, in which a coroutine is made for the attempts.
    void retry_with_callbacks(asio::any_io_executor const& executor, int count, std::atomic<int>& left) {
        if (count == 0) {
            --left;
            return;
        }
        async_retry(
            executor, [this, count] { return attempt(count * 7 % 200); }, policy(),
            [=, this, &left](std::exception_ptr const&) {
                ++ended;
                dog.moved();
                retry_with_callbacks(executor, count - 1, left);
            });
    }

    /// `disturb` is called over and over, from when the first retry has ended.
    template <typename Disturb>
    void run(asio::any_io_executor const& executor, int count, retry_scope* scope, Disturb disturb) {
        int const before = ended;
        std::atomic<int> left = sessions;
        for (int i = 0; i != sessions; ++i)
            asio::co_spawn(executor, session(unsigned(before + i + 1), count, scope),
                           [&](std::exception_ptr) { --left; });
        while (left != 0 && ended == before)
            std::this_thread::yield();
        while (left != 0)
            disturb();
        EXPECT_EQ(ended, before + sessions * count);
    }

    void run(asio::any_io_executor const& executor) {
        run(executor, retries, nullptr, [] { std::this_thread::yield(); });
    }

    template <typename Disturb>
    void run_in_scopes(asio::any_io_executor const& executor, Disturb disturb) {
        for (int round = 0; round != rounds; ++round) {
            retry_scope scope(executor);
            run(executor, retries / rounds, &scope, [&] { disturb(scope); });
        }
    }

    asio::thread_pool others{2};
    std::atomic<int> ended = 0;
    watchdog dog{[this](std::ostream& out) { out << ended << " have ended"; }};
};

/// A context that one thread runs, and which knows it.
class of_one_thread {
public:
    ~of_one_thread() {
        work_.reset();
        thread_.join();
    }
    asio::any_io_executor executor() { return io_.get_executor(); }

private:
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    std::thread thread_{[this] { io_.run(); }};
};

TEST_F(elsewhere, attempts_of_a_context_of_one_thread_end_as_their_limit_is_reached) {
    of_one_thread context;
    run(context.executor());
}

TEST_F(elsewhere, attempts_with_a_callback_end_as_their_limit_is_reached) {
    of_one_thread context;
    std::atomic<int> left = sessions;
    for (int i = 0; i != sessions; ++i)
        asio::post(context.executor(), [&] { retry_with_callbacks(context.executor(), retries, left); });
    while (left != 0)
        std::this_thread::yield();
    EXPECT_EQ(ended, sessions * retries);
}

TEST_F(elsewhere, attempts_of_a_context_of_one_thread_end_as_their_scope_is_drained) {
    of_one_thread context;
    run_in_scopes(context.executor(),
                  [](retry_scope& scope) { scope.async_drain(1h, asio::use_future).get(); });
}

TEST_F(elsewhere, attempts_of_a_context_of_one_thread_end_as_their_scope_lets_retry_now) {
    of_one_thread context;
    run_in_scopes(context.executor(), [](retry_scope& scope) { scope.retry_now(); });
}

TEST_F(elsewhere, attempts_of_a_context_of_one_thread_end_as_their_scope_is_cancelled) {
    of_one_thread context;
    run_in_scopes(context.executor(), [](retry_scope& scope) { scope.cancel(); });
}

// Not for ThreadSanitizer, which does not know the fences by which a strand in an any_io_executor counts its
// owners.
#if !defined(ASIO_RETRY_TEST_THREAD_SANITIZER)
TEST_F(elsewhere, attempts_of_a_pool_end_as_their_limit_is_reached) {
    asio::thread_pool pool(2);
    run(pool.get_executor());
}

TEST_F(elsewhere, attempts_on_a_strand_end_as_their_scope_is_cancelled) {
    asio::thread_pool pool(2);
    run_in_scopes(asio::make_strand(pool), [](retry_scope& scope) { scope.cancel(); });
}
#endif

} // namespace
} // namespace asio_retry::test
