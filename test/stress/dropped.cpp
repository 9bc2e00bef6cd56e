#include "stress/watchdog.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <ostream>
#include <random>
#include <thread>
#include <utility>

// Attempts that are destroyed, on their strand, just as their time limit is reached or their scope is
// cancelled: what they wait for drops its handler, as a service does that ends. Their coroutines, and the
// retry, end with them.

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using std::chrono::microseconds;

class dropped : public testing::Test {
protected:
    static constexpr int rounds = 20'000;
    static constexpr int at_once = 64;

    using strand = asio::strand<asio::thread_pool::executor_type>;
    template <typename T>
    using awaitable = asio::awaitable<T, strand>;
    static constexpr asio::use_awaitable_t<strand> use_awaitable{};

    /// What an attempt waits for, until it is dropped.
    struct session {
        explicit session(strand const& executor)
            : end(executor) {}

        std::shared_ptr<void> handler;
        asio::steady_timer end;
    };

    awaitable<void> attempt(session& of) {
        co_await asio::async_initiate<asio::use_awaitable_t<strand> const, void()>(
            [&of](auto handler) { of.handler = std::make_shared<decltype(handler)>(std::move(handler)); },
            use_awaitable);
    }

    awaitable<void> run(std::shared_ptr<session> of, retry_scope* scope, std::shared_ptr<void>) {
        auto const operation = [&] { return attempt(*of); };
        retry_policy const policy = retry_policy().attempt_timeout(microseconds(100));
        if (scope)
            co_await async_retry(*scope, operation, policy);
        else
            co_await async_retry(operation, policy);
        ADD_FAILURE() << "nothing completes";
    }

    void start(int after_microseconds, retry_scope* scope) {
        strand const executor(pool.get_executor());
        auto const one = std::make_shared<session>(executor);
        ++live;
        std::shared_ptr<void> const counted(nullptr, [this](void*) {
            --live;
            dog.moved();
        });
        asio::co_spawn(executor, run(one, scope, counted), asio::detached);
        one->end.expires_after(microseconds(after_microseconds));
        one->end.async_wait([one](boost::system::error_code) { auto const gone = std::move(one->handler); });
    }

    void wait_for(int most) const {
        while (live > most)
            std::this_thread::yield();
    }

    std::atomic<int> live = 0;
    watchdog dog{[this](std::ostream& out) { out << live << " live"; }};
    asio::thread_pool pool{4};
};

TEST_F(dropped, as_its_time_limit_is_reached) {
    std::minstd_rand engine(7);
    for (int i = 0; i != rounds; ++i) {
        start(int(engine() % 200), nullptr);
        wait_for(at_once);
    }
    wait_for(0);
}

TEST_F(dropped, as_its_scope_is_cancelled) {
    std::minstd_rand engine(8);
    for (int i = 0; i != rounds / at_once; ++i) {
        retry_scope scope(pool.get_executor());
        for (int j = 0; j != at_once; ++j)
            start(int(engine() % 200), &scope);
        for (int const most = int(engine() % at_once); live > most;)
            scope.retry_now();
        scope.cancel();
        wait_for(0);
    }
}

} // namespace
} // namespace asio_retry::test
