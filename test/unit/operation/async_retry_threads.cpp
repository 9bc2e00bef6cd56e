#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>

#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

constexpr int operations = 2000;

/// Fails `failures` times, then succeeds, each time completing on whichever thread of the pool is free.
auto pool_operation(asio::thread_pool& pool, int failures) {
    return [&pool, failures, made = 0](auto token) mutable {
        return asio::async_initiate<decltype(token), void(error_code)>(
            [&pool](auto handler, bool fails) {
                asio::post(pool, asio::append(std::move(handler), fails ? refused() : error_code()));
            },
            token, made++ < failures);
    };
}

retry_policy quickly() {
    return retry_policy().backoff(constant(20us)).unlimited_attempts();
}

// An executor that is no strand: completions meet the initiating function on other threads.
TEST(async_retry_threads, completions_on_other_threads_while_the_initiation_returns) {
    asio::thread_pool pool(4);
    std::atomic<int> succeeded = 0;
    for (int i = 0; i != operations; ++i) {
        auto const policy = i % 2 ? quickly() : quickly().backoff(constant(0ns));
        async_retry(pool, pool_operation(pool, 3), policy, [&](error_code ec) { succeeded += !ec; });
    }
    pool.join();
    EXPECT_EQ(succeeded, operations);
}

/// Counts, without a lock, where it has to be called.
struct strand_counter {
    asio::strand<asio::thread_pool::executor_type> strand;
    int* calls;
    bool* elsewhere;

    void operator()(error_code) const {
        ++*calls;
        *elsewhere |= !strand.running_in_this_thread();
    }
};

// What ends in its initiating function, on any thread of one pool, is delivered on the strand of another one,
// which may be at it before that function has returned.
TEST(async_retry_threads, what_ends_at_once_is_delivered_on_a_strand_of_another_pool) {
    asio::thread_pool waits_on(2), pool(2);
    auto const strand = asio::make_strand(pool);
    int calls = 0;
    bool elsewhere = false;
    retry_scope scope(waits_on.get_executor());
    auto const handler = [&] {
        return asio::bind_executor(strand, strand_counter{strand, &calls, &elsewhere});
    };
    for (int i = 0; i != operations; ++i)
        asio::post(waits_on, [&] {
            auto const succeed = [owned = std::make_shared<int>()] { return error_code(); };
            async_retry(waits_on, succeed, quickly(), handler());
            async_retry(scope, succeed, quickly().attempt_timeout(1h), handler());
            async_hedge(scope, succeed, hedge_policy(1h), handler());
        });
    waits_on.join();
    pool.join();
    EXPECT_EQ(calls, 3 * operations);
    EXPECT_FALSE(elsewhere);
    EXPECT_EQ(scope.pending(), 0u);
}

// Time limits meet completions on an executor that is no strand; each operation completes once all the same.
TEST(async_retry_threads, attempt_timeouts_meet_completions) {
    asio::thread_pool pool(4);
    std::atomic<int> completed = 0;
    auto const policy = quickly().max_attempts(4).attempt_timeout(50us).total_timeout(10s);
    for (int i = 0; i != operations; ++i) {
        auto timer = std::make_shared<asio::steady_timer>(pool);
        auto const sleeping = [timer, i](auto token) {
            timer->expires_after(std::chrono::microseconds(30 + i % 50));
            return timer->async_wait(std::move(token));
        };
        async_retry(pool, fail_if(sleeping, [] { return true; }), policy, [&](error_code) { ++completed; });
    }
    pool.join();
    EXPECT_EQ(completed, operations);
    EXPECT_EQ(scheduler(pool).pending(), 0u);
}

/// An operation that somebody else completes, on any thread.
class foreign_operation {
public:
    /// Calls `when_told` when an attempt is told to stop.
    template <typename WhenTold>
    auto operation(WhenTold when_told) {
        return [this, when_told](auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [this, when_told](auto handler) {
                    if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
                        slot.assign([when_told](asio::cancellation_type_t) { when_told(); });
                    auto const kept = std::make_shared<decltype(handler)>(std::move(handler));
                    complete_ = [kept] { std::move (*kept)(aborted()); };
                },
                token);
        };
    }

    void complete() { std::exchange(complete_, nullptr)(); }

private:
    std::function<void()> complete_;
};

/// Begins to tell an attempt to stop, and meanwhile, after `first`, another thread completes it.
void expect_completion_waits(auto&& begin, std::function<void()> first = [] {}) {
    asio::thread_pool pool(4);
    foreign_operation foreign;
    std::atomic<bool> completing = false;
    std::atomic<bool> completed = false;
    std::optional<std::thread> completer;
    bool waited = false;
    bool is_told = false;
    auto const when_told = [&] {
        if (std::exchange(is_told, true))
            return;
        first();
        completer.emplace([&] {
            completing = true;
            foreign.complete();
            completed = true; // and here an I/O object that belongs to the attempt would end
        });
        while (!completing)
            std::this_thread::yield();
        for (int i = 0; i != 1000 && !completed; ++i)
            std::this_thread::yield();
        waited = !completed;
    };
    std::atomic<int> ended = 0;
    begin(pool, foreign.operation(when_told), [&](error_code) { ++ended; });
    pool.join();
    ASSERT_TRUE(completer);
    completer->join();
    EXPECT_TRUE(waited);
    EXPECT_EQ(ended, 1);
}

TEST(async_retry_threads, decision_35_a_completion_waits_while_a_time_limit_stops_its_attempt) {
    expect_completion_waits([](auto& pool, auto operation, auto handler) {
        async_retry(pool, operation, quickly().attempt_timeout(1ms).max_attempts(1), handler);
    });
}

TEST(async_retry_threads, decision_35_a_completion_waits_while_a_scope_stops_its_attempt) {
    std::optional<retry_scope> scope;
    expect_completion_waits([&](auto& pool, auto operation, auto handler) {
        scope.emplace(pool.get_executor());
        async_retry(*scope, operation, quickly(), handler);
        asio::post(pool, [&] { scope->cancel(); });
    });
}

TEST(async_retry_threads, decision_35_a_completion_waits_while_a_drain_stops_its_attempt) {
    std::optional<retry_scope> scope;
    expect_completion_waits([&](auto& pool, auto operation, auto handler) {
        scope.emplace(pool.get_executor());
        async_retry(*scope, operation, quickly(), handler);
        scope->async_drain(0s, asio::detached);
    });
}

// Told a second time inside, by its caller, it is still being told the first time.
TEST(async_retry_threads, decision_35_a_completion_waits_for_whoever_told_its_attempt_first) {
    asio::cancellation_signal signal;
    auto const begin = [&](auto& pool, auto operation, auto handler) {
        async_retry(pool, operation, quickly().attempt_timeout(1ms).max_attempts(1),
                    asio::bind_cancellation_slot(signal.slot(), handler));
    };
    expect_completion_waits(begin, [&] { signal.emit(asio::cancellation_type::terminal); });
}

// It would wait for itself.
TEST(async_retry_threads, decision_35_an_attempt_may_end_where_it_is_told_to_stop) {
    asio::thread_pool pool(4);
    foreign_operation foreign;
    std::atomic<int> ended = 0;
    async_retry(pool, foreign.operation([&] { foreign.complete(); }),
                quickly().attempt_timeout(1ms).max_attempts(3),
                [&](error_code ec) { ended += ec == timed_out(); });
    pool.join();
    EXPECT_EQ(ended, 1);
}

// --- the right way to cancel on a pool: the operation is started, runs and is cancelled on one strand

using pool_strand = asio::strand<asio::thread_pool::executor_type>;

/// Calls `start` with a slot on a strand for each operation, and cancels it there from another thread.
template <typename Start>
void cancel_on_strands(asio::thread_pool& pool, Start const& start) {
    for (int i = 0; i != operations; ++i) {
        auto const strand = asio::make_strand(pool);
        auto const signal = std::make_shared<asio::cancellation_signal>();
        asio::post(strand, [&start, strand, signal] { start(strand, signal); });
        asio::post(pool, [strand, signal] {
            asio::post(strand, [signal] { signal->emit(asio::cancellation_type::terminal); });
        });
    }
    pool.join();
}

TEST(async_retry_threads, decision_46_slots_emitted_on_the_strand_of_the_handler) {
    for (bool const is_limited : {false, true}) {
        asio::thread_pool pool(4);
        std::atomic<int> aborted_count = 0;
        auto const policy = is_limited ? quickly().attempt_timeout(1s) : quickly();
        cancel_on_strands(pool, [&](pool_strand const& strand, auto const& signal) {
            auto handler = [&, signal](error_code ec) { aborted_count += ec == aborted(); };
            async_retry(
                pool, pool_operation(pool, 1'000'000), policy,
                asio::bind_cancellation_slot(signal->slot(), asio::bind_executor(strand, std::move(handler))));
        });
        EXPECT_EQ(aborted_count, operations);
    }
}

TEST(async_retry_threads, decision_46_slots_emitted_on_the_strand_of_the_coroutine) {
    for (bool const is_limited : {false, true}) {
        asio::thread_pool pool(4);
        std::atomic<int> aborted_count = 0;
        auto const policy = is_limited ? quickly().attempt_timeout(1s) : quickly();
        auto const attempt = []() -> asio::awaitable<void> {
            asio::steady_timer timer(co_await asio::this_coro::executor, 10us);
            co_await timer.async_wait(asio::use_awaitable);
            throw std::runtime_error("failure");
        };
        auto const session = [&]() -> asio::awaitable<void> {
            try {
                co_await async_retry(attempt, policy);
            } catch (boost::system::system_error const& e) {
                aborted_count += e.code() == aborted();
            }
        };
        cancel_on_strands(pool, [&](pool_strand const& strand, auto const& signal) {
            asio::co_spawn(strand, session,
                           asio::bind_cancellation_slot(signal->slot(), [signal](std::exception_ptr) {}));
        });
        EXPECT_EQ(aborted_count, operations);
    }
}

// An attempt that fails on another executor, awaited directly or not, or with a callback: what follows is
// decided on the operation's own.
void expect_callables_at_home(asio::cancellation_slot slot, bool is_awaited) {
    asio::io_context io;
    asio::thread_pool elsewhere(1);
    auto const here = std::this_thread::get_id();
    std::vector<bool> at_home;
    auto const policy =
        quickly()
            .max_attempts(3)
            .retry_if([&](error_code) {
                at_home.push_back(std::this_thread::get_id() == here);
                return true;
            })
            .on_give_up([&](retry_event const&) { at_home.push_back(std::this_thread::get_id() == here); });
    auto operation = [&]() -> asio::awaitable<void> {
        co_await asio::post(asio::bind_executor(elsewhere.get_executor(), asio::use_awaitable));
        throw boost::system::system_error(refused());
    };
    auto work = asio::make_work_guard(io);
    auto done = asio::bind_cancellation_slot(slot, [&](std::exception_ptr) { work.reset(); });
    if (is_awaited)
        asio::co_spawn(io, async_retry(operation, policy, asio::use_awaitable), done);
    else
        async_retry(io, operation, policy, done);
    io.run();
    elsewhere.join();
    EXPECT_EQ(at_home, std::vector(4, true));
}

TEST(async_retry_threads, decision_21_callables_run_on_the_executor_wherever_an_attempt_failed) {
    asio::cancellation_signal signal;
    for (auto const& slot : {asio::cancellation_slot(), signal.slot()})
        for (bool is_awaited : {true, false})
            expect_callables_at_home(slot, is_awaited);
}

// Awaitable attempts under time limits, cancelled through a scope from another thread.
TEST(async_retry_threads, awaitable_attempts_in_a_scope) {
    asio::thread_pool pool(4);
    retry_scope scope(pool.get_executor());
    std::atomic<int> completed = 0;
    auto const failing = [&]() -> asio::awaitable<void> {
        asio::steady_timer timer(co_await asio::this_coro::executor, 40us);
        co_await timer.async_wait(asio::use_awaitable);
        throw std::runtime_error("failure");
    };
    auto const policy = quickly().attempt_timeout(60us);
    for (int i = 0; i != 100; ++i)
        async_retry(scope, failing, policy,
                    [&](std::exception_ptr e) { completed += e != nullptr; }); // no strand
    for (int i = 0; i != 100; ++i)
        async_retry(scope, failing, policy,
                    asio::bind_executor(asio::make_strand(pool),
                                        [&](std::exception_ptr e) { completed += e != nullptr; }));
    asio::steady_timer timer(pool, 20ms);
    timer.async_wait([&](error_code) { scope.cancel(); });
    pool.join();
    EXPECT_EQ(completed, 200);
    EXPECT_EQ(scope.pending(), 0u);
}

// --- the executor that handlers without one of their own have in Asio

/// Outlives its handler's call, as a promise on the test's stack might not.
using noted_thread = std::shared_ptr<std::promise<std::thread::id>>;

auto handler_that_notes(noted_thread const& thread) {
    return [thread](error_code) { thread->set_value(std::this_thread::get_id()); };
}

// An operation of Asio's calls such a handler where it completes, which is on the executor that it waited on.
TEST(async_retry_threads, system_executor_of_a_handler_counts_as_none) {
    asio::io_context io;
    auto const timer_thread = std::make_shared<noted_thread::element_type>();
    asio::steady_timer timer(io, 1ns);
    timer.async_wait(asio::bind_executor(asio::system_executor(), handler_that_notes(timer_thread)));
    auto const retry_thread = std::make_shared<noted_thread::element_type>();
    async_retry(
        io, [] { return refused(); }, quickly().max_attempts(2),
        asio::bind_executor(asio::system_executor(), handler_that_notes(retry_thread)));
    io.run();
    EXPECT_EQ(timer_thread->get_future().get(), std::this_thread::get_id());
    EXPECT_EQ(retry_thread->get_future().get(), std::this_thread::get_id());
}

TEST(async_retry_threads, given_the_system_executor_it_runs_on_the_threads_of_the_system) {
    auto const thread = std::make_shared<noted_thread::element_type>();
    async_retry(
        asio::system_executor(), [] { return refused(); }, quickly().max_attempts(2),
        handler_that_notes(thread));
    EXPECT_NE(thread->get_future().get(), std::this_thread::get_id());
}

// Type-erased it is one like any other: it queues what it is given.
TEST(async_retry_threads, type_erased_system_executor_of_a_handler_is_one) {
    asio::io_context io;
    auto const thread = std::make_shared<noted_thread::element_type>();
    async_retry(
        io, [] { return refused(); }, quickly().max_attempts(2),
        asio::bind_executor(asio::any_io_executor(asio::system_executor()), handler_that_notes(thread)));
    io.run();
    EXPECT_NE(thread->get_future().get(), std::this_thread::get_id());
}

} // namespace
} // namespace asio_retry::test
