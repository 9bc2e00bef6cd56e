// Hedges against the retries of gRPC's own channel, under a server that keeps 0.5 % of all calls waiting.
#include <asio_retry/grpc.hpp> // shows that it compiles alone

#include "greeter_server.hpp"

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr std::size_t hedge_requests = 4000;
constexpr auto between_requests = 2ms;
constexpr auto stall = 5s;
constexpr auto hedge_delay = 100ms;

// The retries that a channel can make: after a failure, of which there is none.
constexpr char own_retries[] = R"({"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4,
    "initialBackoff": "0.01s", "maxBackoff": "1s", "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"]}}]})";

/// Answers at once, but 0.5 % of the calls after `stall`.
class stalling_server {
public:
    stalling_server()
        : thread_([this](std::stop_token stop) { answer_late(stop); })
        , server_([this](greeter_server::call const& call) { answer(call); }) {}

    greeter_server const& get() const noexcept { return server_; }
    std::size_t calls() const noexcept { return calls_; }

private:
    static constexpr std::size_t each = 200;

    struct late_answer {
        time_point due;
        grpc::ServerUnaryReactor* to;
    };

    void answer(greeter_server::call const& call) {
        std::unique_lock lock(mutex_);
        if (calls_++ % each == 0)
            stalled_ = calls_ - 1 + std::uniform_int_distribution<std::size_t>(0, each - 1)(numbers_);
        if (calls_ - 1 == stalled_) {
            late_.push_back({std::chrono::steady_clock::now() + stall, &call.reactor});
            changed_.notify_one();
            return;
        }
        lock.unlock();
        call.reactor.Finish(grpc::Status());
    }

    void answer_late(std::stop_token const& stop) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, stop, [&] { return !late_.empty(); })) {
            late_answer const next = late_.front();
            late_.pop_front();
            changed_.wait_until(lock, stop, next.due, [] { return false; });
            next.to->Finish(grpc::Status());
        }
    }

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::mt19937 numbers_{1};
    std::size_t stalled_ = 0; ///< one of the present 200 calls
    std::deque<late_answer> late_;
    std::atomic<std::size_t> calls_ = 0;
    std::jthread thread_;
    greeter_server server_;
};

/// What a client saw of its requests.
struct latencies {
    std::vector<duration> all;
    std::size_t calls = 0; ///< that the server got
    std::size_t failures = 0;
    std::size_t late_ticks = 0; ///< requests that this machine began too late by half a delay

    duration quantile(double share) const {
        std::vector<duration> sorted = all;
        std::ranges::sort(sorted);
        return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * share)];
    }

    /// Whether this machine alone may have made more than a few calls late.
    bool is_of_busy_machine() const { return late_ticks > all.size() / 2000; }

    void show(char const* name) const {
        auto const ms = [](duration d) { return std::chrono::duration<double, std::milli>(d).count(); };
        std::cout << name << ": p50 " << ms(quantile(0.5)) << " ms, p99 " << ms(quantile(0.99)) << " ms, p99.9 "
                  << ms(quantile(0.999)) << " ms; " << calls << " calls for " << all.size() << " requests, "
                  << failures << " failed, " << late_ticks << " began late\n";
    }
};

/// Makes requests at a steady rate; `ask(io, stub, done)` makes one.
template <typename Ask>
latencies measure(std::string const& service_config, Ask ask) {
    stalling_server server;
    auto const stub = Greeter::NewStub(server.get().channel(service_config));
    latencies result;
    asio::io_context io;
    asio::steady_timer timer(io, std::chrono::steady_clock::now());
    std::function<void()> const begin_one = [&] {
        time_point const begin = std::chrono::steady_clock::now();
        if (begin - timer.expiry() > hedge_delay / 2)
            ++result.late_ticks;
        ask(io, *stub, [&result, begin](std::exception_ptr e, HelloReply const&) {
            result.all.push_back(std::chrono::steady_clock::now() - begin);
            result.failures += e != nullptr;
        });
    };
    std::size_t left = hedge_requests;
    std::function<void(boost::system::error_code)> const tick = [&](boost::system::error_code) {
        begin_one();
        if (--left == 0)
            return;
        timer.expires_at(timer.expiry() + between_requests);
        timer.async_wait(tick);
    };
    timer.async_wait(tick);
    io.run();
    result.calls = server.calls();
    return result;
}

latencies of_channel() {
    return measure(own_retries, [](asio::io_context& io, Greeter::Stub& stub, auto done) {
        auto call = grpc_unary(stub, &Greeter::Stub::async::SayHello, HelloRequest());
        async_retry(io, std::move(call), retry_policy().max_attempts(1), std::move(done));
    });
}

latencies of_hedge() {
    return measure("", [](asio::io_context& io, Greeter::Stub& stub, auto done) {
        auto call = grpc_unary(stub, &Greeter::Stub::async::SayHello, HelloRequest());
        async_hedge(io, std::move(call), hedge_policy(hedge_delay).max_attempts(3), std::move(done));
    });
}

// Of 4000 requests the slowest four do not count, so a busy machine may make some late. If it makes many late,
// all is measured again.
TEST(grpc_hedge, p999_is_a_twentieth_of_that_of_the_channels_own_retries) {
    latencies const channel = of_channel();
    channel.show("retries of the channel");
    ASSERT_EQ(channel.all.size(), hedge_requests);
    EXPECT_EQ(channel.failures, 0u);
    EXPECT_GE(channel.quantile(0.999), stall) << "the channel cannot hedge";
    for (int i = 0; i != 3; ++i) {
        latencies const hedge = of_hedge();
        hedge.show("async_hedge");
        ASSERT_EQ(hedge.all.size(), hedge_requests);
        EXPECT_EQ(hedge.failures, 0u);
        double const ratio = static_cast<double>(channel.quantile(0.999).count()) /
                             static_cast<double>(hedge.quantile(0.999).count());
        double const more = static_cast<double>(hedge.calls) / static_cast<double>(channel.calls) - 1;
        std::cout << "p99.9: " << ratio << " x lower, for " << more * 100 << " % more calls\n";
        if (!hedge.is_of_busy_machine() || (ratio >= 20 && more <= 0.01)) {
            EXPECT_GE(ratio, 20);
            EXPECT_LE(more, 0.01);
            EXPECT_GT(more, 0);
            return;
        }
    }
    GTEST_SKIP() << "this machine is too busy";
}

} // namespace
} // namespace asio_retry::test
