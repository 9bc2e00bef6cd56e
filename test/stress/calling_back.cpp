#include "stress/watchdog.hpp"

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <set>
#include <utility>

// A client with threads of its own, made an asynchronous operation as doc/guide/other_threads.md says.

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

/// Refuses every question but each third. It calls back once for each: on one of its threads, or, when it is
/// cancelled, sometimes on the thread that cancels.
class calling_client {
public:
    using callback = std::function<void(error_code, int)>;

    int ask(callback done) {
        int const number = ++asked_;
        if (number % 7 == 0) { // before this returns
            done(asio::error::try_again, number);
            return number;
        }
        {
            std::lock_guard const lock(mutex_);
            unanswered_.emplace(number, std::move(done));
        }
        auto const timer =
            std::make_shared<asio::steady_timer>(threads_, std::chrono::microseconds(number * 37 % 200));
        timer->async_wait([=, this](error_code) {
            static_cast<void>(timer);
            answer(number, number % 3 == 0 ? error_code() : error_code(asio::error::try_again));
        });
        return number;
    }

    void cancel(int number) {
        {
            std::lock_guard const lock(mutex_);
            cancelled_.insert(number);
        }
        if (number % 2 == 0)
            answer(number, asio::error::operation_aborted);
        else
            asio::post(threads_, [=, this] { answer(number, asio::error::operation_aborted); });
    }

    bool was_cancelled(int number) {
        std::lock_guard const lock(mutex_);
        return cancelled_.contains(number);
    }
    int asked() const noexcept { return asked_; }
    int answered() const noexcept { return answered_; }

private:
    void answer(int number, error_code ec) {
        callback done;
        {
            std::lock_guard const lock(mutex_);
            auto const found = unanswered_.find(number);
            if (found == unanswered_.end())
                return;
            done = std::move(found->second);
            unanswered_.erase(found);
        }
        ++answered_;
        done(ec, number);
    }

    std::atomic<int> asked_ = 0;
    std::atomic<int> answered_ = 0; // but for those that were refused at once
    std::mutex mutex_;
    std::map<int, callback> unanswered_;
    std::set<int> cancelled_;
    asio::thread_pool threads_{2};
};

template <typename Token>
auto async_ask(calling_client& of, Token&& token) {
    auto const initiate = [&of](auto given_handler) {
        auto slot = asio::get_associated_cancellation_slot(given_handler);
        auto work = asio::make_work_guard(given_handler);
        auto const waiting = std::make_shared<std::pair<decltype(given_handler), decltype(work)>>(
            std::move(given_handler), std::move(work));
        auto done = [waiting](error_code ec, int number) {
            asio::post(asio::append(std::move(waiting->first), ec, number));
            waiting->second.reset();
        };
        int const number = of.ask(std::move(done));
        if (slot.is_connected())
            slot.assign([&of, number](asio::cancellation_type_t) { of.cancel(number); });
    };
    return asio::async_initiate<Token, void(error_code, int)>(initiate, token);
}

struct asking {
    calling_client& of;

    template <typename Token>
    auto operator()(attempt, Token token) const {
        return async_ask(of, std::move(token));
    }
};

class calling_back : public testing::Test {
protected:
    static constexpr int sessions = 8;
    static constexpr int operations = 500; // of each

    static retry_policy policy() {
        return retry_policy()
            .backoff(constant(50us))
            .max_attempts(3)
            .attempt_timeout(100us)
            .retry_if([](error_code) { return true; });
    }

    asking operation() { return {client}; }

    /// What ends at some time, on whichever thread, begins the next.
    template <typename Start>
    void repeat(int count, Start start) {
        if (count == 0)
            return;
        start([=, this](auto const&...) {
            ++ended;
            dog.moved();
            repeat(count - 1, start);
        });
    }

    template <typename Start>
    void run(Start start) {
        for (int i = 0; i != sessions; ++i)
            asio::post(pool, [=, this] { repeat(operations, start); });
        pool.join();
        EXPECT_EQ(ended, sessions * operations);
    }

    calling_client client;
    asio::thread_pool pool{4};
    std::atomic<int> ended = 0;
    watchdog dog{[this](std::ostream& out) {
        out << ended << " have ended, of " << client.asked() << " questions " << client.answered()
            << " were answered";
    }};
};

TEST_F(calling_back, attempts_that_call_back_end_as_their_limit_is_reached) {
    run([this](auto then) { async_retry(pool, operation(), policy(), std::move(then)); });
}

TEST_F(calling_back, only_attempts_that_were_told_to_stop_are_timed_out) {
    run([this](auto then) {
        async_retry(pool, operation(), policy().max_attempts(1), [=, this](error_code ec, int number) {
            EXPECT_TRUE(ec != asio::error::timed_out || client.was_cancelled(number)) << number;
            then();
        });
    });
}

TEST_F(calling_back, attempts_that_call_back_end_as_their_scope_is_cancelled) {
    run([this](auto then) {
        auto const scope = std::make_shared<retry_scope>(pool.get_executor());
        async_retry(*scope, operation(), policy(), asio::consign(std::move(then), scope));
        asio::post(pool, [scope] { scope->cancel(); });
    });
}

TEST_F(calling_back, attempts_that_call_back_end_as_their_caller_cancels) {
    run([this](auto then) {
        auto const strand = asio::make_strand(pool);
        auto const signal = std::make_shared<asio::cancellation_signal>();
        asio::post(strand, [=, this] {
            async_retry(pool, operation(), policy(),
                        asio::bind_cancellation_slot(signal->slot(),
                                                     asio::bind_executor(strand, asio::consign(then, signal))));
        });
        asio::post(strand, [signal] { signal->emit(asio::cancellation_type::terminal); });
    });
}

TEST_F(calling_back, attempts_that_are_awaited_end_as_their_limit_is_reached) {
    asio::io_context io(1);
    auto session = [this]() -> asio::awaitable<void> {
        auto const ask = operation();
        for (int i = 0; i != operations; ++i) {
            auto const [ec, number] = co_await async_retry(ask, policy(), asio::as_tuple(asio::use_awaitable));
            EXPECT_TRUE(ec || number % 3 == 0) << ec << ' ' << number;
            ++ended;
            dog.moved();
        }
    };
    for (int i = 0; i != sessions; ++i)
        asio::co_spawn(io, session, asio::detached);
    io.run();
    EXPECT_EQ(ended, sessions * operations);
}

TEST_F(calling_back, attempts_of_a_hedge_call_back) {
    static auto const hedging = hedge_policy(50us).max_attempts(3);
    run([this](auto then) { async_hedge(pool, operation(), hedging, std::move(then)); });
}

} // namespace
} // namespace asio_retry::test
