// Operations on four threads wait in the queue of a gate, while some of them are cancelled, others reach a
// limit, and all are told to retry now.

#include "stress/operations_of_threads.hpp"
#include "stress/sanitized.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct two_at_a_time {
    std::uint32_t limit() const noexcept { return 2; }
    void update(duration, std::uint32_t, bool) noexcept {}
};

constexpr int queued_operations = ASIO_RETRY_TEST_SANITIZED ? 4'000 : 20'000;

class queueing final : public operations_of_threads {
public:
    queueing()
        : limit(std::make_shared<concurrency_limit<two_at_a_time>>(
              two_at_a_time(), queue_options{.greatest = 100, .longest_wait = 20ms})) {}

    std::shared_ptr<concurrency_limit<two_at_a_time>> limit;
    std::atomic<int> running = 0, most = 0, made = 0, refused = 0, aborted = 0, ended = 0;

private:
    /// Two places for all, and every other attempt takes a turn of its own.
    auto attempt_of(int number) {
        return [this, number](auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [this, number](auto handler) {
                    int const now = ++running;
                    int seen = most;
                    while (seen < now && !most.compare_exchange_weak(seen, now))
                        ;
                    ++made;
                    auto end = [this, handler = std::move(handler)]() mutable {
                        --running;
                        std::move(handler)(error_code());
                    };
                    if (number % 2 == 0)
                        return asio::post(io_, std::move(end));
                    auto const timer = std::make_shared<asio::steady_timer>(io_, 20us);
                    timer->async_wait([timer, end = std::move(end)](error_code) mutable { end(); });
                },
                token);
        };
    }

    void note(error_code ec) {
        ++ended;
        refused += ec == error::too_many_in_flight;
        aborted += ec && ec != error::too_many_in_flight;
        start_next();
    }

    retry_scope scope_{io_.get_executor()};

    void start(int number) override {
        retry_policy policy =
            retry_policy().max_attempts(1).gate(limit).priority(static_cast<request_priority>(number % 3));
        if (number % 5 == 0)
            policy = policy.total_timeout(200us);
        auto const strand = asio::make_strand(io_);
        if (number % 2 == 0) // those in the queue go on waiting
            at(std::chrono::microseconds(number % 50), [this] { scope_.retry_now(); });
        if (number % 7 == 0) {
            asio::co_spawn(
                strand,
                [this, number, policy]() -> asio::awaitable<void> {
                    error_code ec;
                    co_await async_retry(attempt_of(number), policy,
                                         asio::redirect_error(asio::use_awaitable, ec));
                    note(ec);
                },
                asio::detached);
            return;
        }
        auto const signal = std::make_shared<asio::cancellation_signal>();
        asio::dispatch(strand, [this, number, policy, strand, signal] {
            async_retry(
                scope_, attempt_of(number), policy,
                asio::bind_cancellation_slot(
                    signal->slot(), asio::bind_executor(strand, [this, signal](error_code ec) { note(ec); })));
            if (number % 3 == 0)
                at(std::chrono::microseconds(number % 300), [strand, signal] {
                    asio::dispatch(strand, [signal] { signal->emit(asio::cancellation_type::terminal); });
                });
        });
    }
};

TEST(queues_of_four_threads, decision_69_keep_to_the_limit_and_lose_no_place) {
    queueing all;
    all.run(queued_operations, 60);
    EXPECT_EQ(all.ended, queued_operations);
    EXPECT_LE(all.most, 2);
    EXPECT_EQ(all.limit->in_flight(), 0u);
    EXPECT_EQ(all.limit->queued(), 0u);
    EXPECT_EQ(all.made + all.refused + all.aborted >= queued_operations, true);
    EXPECT_GT(all.made, 0);
    EXPECT_GT(all.aborted, 0);
    EXPECT_EQ(all.pending(), 0u);
}

/// Operations of two contexts wait at one gate. One context ends while the attempts of the other one end, and
/// so while the gate grants places to operations that are being destroyed.
class two_contexts {
    static constexpr std::uint32_t of_each = 50;

    auto holding() {
        return [this](auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [this](auto handler) { held_.emplace_back(std::move(handler)); }, token);
        };
    }

public:
    void run() {
        asio::io_context staying;
        auto ending = std::make_unique<asio::io_context>();
        for (int i = 0; i != of_each; ++i)
            async_retry(staying, holding(), policy, [this](error_code) { ++ended_; });
        for (int i = 0; i != of_each; ++i)
            async_retry(
                *ending, [] { return error_code(); }, policy,
                [this, alive = std::make_shared<int>()](error_code) { ++called_in_vain_; });
        ending->poll();
        EXPECT_EQ(limit->queued(), of_each);

        std::thread other([this, &staying] {
            ready_.arrive_and_wait();
            for (auto& handler : std::exchange(held_, {}))
                std::move(handler)(error_code());
            staying.run();
        });
        ready_.arrive_and_wait();
        ending.reset();
        other.join();
        EXPECT_EQ(ended_, of_each);
        EXPECT_EQ(called_in_vain_, 0u);
        EXPECT_EQ(limit->in_flight(), 0u);
        EXPECT_EQ(limit->queued(), 0u);
    }

private:
    std::shared_ptr<concurrency_limit<aimd>> const limit = std::make_shared<concurrency_limit<aimd>>(
        aimd({.initial = of_each, .least = of_each, .greatest = of_each}),
        queue_options{.greatest = of_each, .longest_wait = 1h});
    retry_policy const policy = retry_policy().max_attempts(1).gate(limit);
    std::vector<asio::any_completion_handler<void(error_code)>> held_;
    std::barrier<> ready_{2};
    std::uint32_t ended_ = 0, called_in_vain_ = 0;
};

TEST(queues_of_two_contexts, decision_69_grant_no_operation_that_is_being_destroyed) {
    for (int round = 0; round != (ASIO_RETRY_TEST_SANITIZED ? 200 : 1'000); ++round)
        two_contexts().run();
}

} // namespace
} // namespace asio_retry::test
