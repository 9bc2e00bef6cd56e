// `grpc_unary` and threads that call back: those of this test, because ThreadSanitizer does not see into gRPC.
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/grpc.hpp>

#include "support/hooked_executor.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct fake_request {
    std::string text;
};
struct fake_reply {
    std::string text;
};

/// Stands for the callback interface of a generated stub: three threads call back. Each third call fails.
class fake_calls {
public:
    fake_calls() {
        for (int i = 0; i != 3; ++i)
            threads_.emplace_back([this](std::stop_token stop) { call_back(stop); });
    }

    void ask(grpc::ClientContext*, fake_request const* request, fake_reply* reply,
             std::function<void(grpc::Status)> callback) {
        std::scoped_lock const lock(mutex_);
        bool const fails = ++count_ % 3 == 0;
        waiting_.push_back([=, callback = std::move(callback)] {
            reply->text = request->text;
            callback(fails ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "the third") : grpc::Status());
        });
        changed_.notify_one();
    }

    std::size_t count() const {
        std::scoped_lock const lock(mutex_);
        return count_;
    }

private:
    void call_back(std::stop_token const& stop) {
        for (;;) {
            std::unique_lock lock(mutex_);
            if (!changed_.wait(lock, stop, [&] { return !waiting_.empty(); }))
                return;
            auto const next = std::move(waiting_.front());
            waiting_.pop_front();
            lock.unlock();
            next();
        }
    }

    std::mutex mutable mutex_;
    std::condition_variable_any changed_;
    std::deque<std::function<void()>> waiting_;
    std::size_t count_ = 0;
    std::vector<std::jthread> threads_;
};

struct fake_stub {
    fake_calls* async() { return &calls; }
    fake_calls calls;
};

auto ask_fake(fake_stub& stub, int number) {
    return grpc_unary(stub, &fake_calls::ask, fake_request{std::to_string(number)});
}

retry_policy many_attempts_of_fake() {
    return retry_policy().backoff(constant(0s)).jitter(no_jitter()).max_attempts(100);
}

/// Counts the handlers that live.
class living_handler {
public:
    explicit living_handler(std::atomic<int>& alive)
        : alive_(&alive, [](std::atomic<int>* counted) { --*counted; }) {
        ++alive;
    }
    void operator()(std::exception_ptr, fake_reply const&) const {}

private:
    std::shared_ptr<std::atomic<int>> alive_;
};

TEST(grpc_threads, operations_on_several_threads_get_their_own_replies) {
    fake_stub stub;
    asio::thread_pool pool(2);
    std::atomic<int> wrong = 0, failed = 0, done = 0;
    for (int i = 0; i != 500; ++i) {
        bool const is_hedge = i % 2 == 1;
        auto const handler = [&, i, is_hedge](std::exception_ptr e, fake_reply const& reply) {
            failed += e && !is_hedge; // all attempts of a hedge may be third calls
            wrong += !e && reply.text != std::to_string(i);
            ++done;
        };
        if (is_hedge)
            async_hedge(asio::make_strand(pool), ask_fake(stub, i), hedge_policy(0s).max_attempts(3), handler);
        else
            async_retry(asio::make_strand(pool), ask_fake(stub, i), many_attempts_of_fake().total_timeout(1h),
                        handler);
    }
    pool.join();
    EXPECT_EQ(done, 500);
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(wrong, 0);
    EXPECT_GE(stub.calls.count(), 500u);
}

/// Calls back when the test says so, on a thread of gRPC.
struct kept_call {
    kept_call* async() { return this; }
    void ask(grpc::ClientContext*, fake_request const* request, fake_reply* reply,
             std::function<void(grpc::Status)> callback) {
        ++count;
        reply->text = request->text;
        call_back = std::move(callback);
    }
    void end(grpc::Status const& status) {
        std::thread([&] { std::exchange(call_back, nullptr)(status); }).join();
    }

    int count = 0;
    std::function<void(grpc::Status)> call_back;
};

// Otherwise the exception would leave a thread of gRPC, and end the program.
TEST(grpc_threads, decision_59_calls_end_without_memory_for_a_turn) {
    for (bool const fails : {false, true}) {
        kept_call stub;
        asio::io_context io;
        std::function<void()> hook;
        hooked_executor const executor(io.get_executor(), hook);
        std::string said;
        std::vector<std::exception_ptr> ends;
        async_retry(io, grpc_unary(stub, &kept_call::ask, fake_request{"1"}), many_attempts_of_fake(),
                    asio::bind_executor(executor, [&](std::exception_ptr e, fake_reply const& reply) {
                        ends.push_back(e);
                        said = reply.text;
                    }));
        hook = out_of_memory;
        stub.end(fails ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "no") : grpc::Status());
        hook = nullptr;
        io.run();
        EXPECT_EQ(stub.count, 1);
        ASSERT_EQ(ends.size(), 1u);
        EXPECT_EQ(static_cast<bool>(ends[0]), fails);
        EXPECT_EQ(fails ? "1" : said, "1");
    }
}

TEST(grpc_threads, decision_25_a_context_may_be_destroyed_after_a_call_that_ended_without_memory) {
    kept_call stub;
    std::atomic<int> alive = 0;
    std::function<void()> hook;
    {
        asio::io_context io;
        async_retry(io, grpc_unary(stub, &kept_call::ask, fake_request{"1"}), many_attempts_of_fake(),
                    asio::bind_executor(hooked_executor(io.get_executor(), hook), living_handler(alive)));
        hook = out_of_memory;
        stub.end(grpc::Status(grpc::StatusCode::UNAVAILABLE, "no"));
        hook = nullptr;
    }
    if (stub.call_back)
        stub.end(grpc::Status());
    EXPECT_EQ(alive, 0);
}

TEST(grpc_threads, calls_end_while_they_are_cancelled) {
    fake_stub stub;
    for (int i = 0; i != 300; ++i) {
        asio::io_context io;
        asio::cancellation_signal signal;
        int calls = 0;
        async_retry(io, ask_fake(stub, i), many_attempts_of_fake(),
                    asio::bind_cancellation_slot(signal.slot(),
                                                 [&](std::exception_ptr, fake_reply const&) { ++calls; }));
        if (i % 2 == 1)
            io.poll_one();
        signal.emit(asio::cancellation_type::terminal);
        io.run();
        EXPECT_EQ(calls, 1);
    }
}

TEST(grpc_threads, calls_end_while_their_context_is_destroyed) {
    fake_stub stub;
    std::atomic<int> alive = 0;
    for (int i = 0; i != 300; ++i) {
        asio::io_context io;
        for (int k = 0; k != 5; ++k)
            async_retry(asio::make_strand(io), ask_fake(stub, k), many_attempts_of_fake(),
                        living_handler(alive));
        for (int k = 0; k != i % 8; ++k)
            io.poll_one();
    }
    EXPECT_EQ(alive, 0);
}

TEST(grpc_threads, calls_end_while_their_pool_is_stopped) {
    fake_stub stub;
    std::atomic<int> alive = 0;
    for (int i = 0; i != 100; ++i) {
        asio::thread_pool pool(2);
        for (int k = 0; k != 10; ++k)
            async_retry(asio::make_strand(pool), ask_fake(stub, k), many_attempts_of_fake(),
                        living_handler(alive));
        pool.stop();
    }
    EXPECT_EQ(alive, 0);
}

} // namespace
} // namespace asio_retry::test
