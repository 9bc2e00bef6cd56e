#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/coroutine_ends.hpp"
#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

// What is true only of a retry inside the coroutine that awaits it. What it shares with a retry that calls a
// handler, tests of both show: async_retry_limits, retry_scope_drain, cancellation_matrix.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// Where attempts run, and what may interrupt them: a time limit or a scope.
enum class where { one_thread, strand, unknown, scope };

asio::any_io_executor executor_on(asio::io_context& io, where what) {
    if (what == where::strand)
        return asio::make_strand(io);
    if (what == where::unknown)
        return asio::require(io.get_executor(), asio::execution::blocking.never);
    return io.get_executor();
}

void rethrow(std::exception_ptr const& failure) {
    if (failure)
        std::rethrow_exception(failure);
}

asio::awaitable<void> turn() {
    co_await asio::post(asio::use_awaitable);
}

class awaited : public testing::TestWithParam<where>, protected coroutine_ends, protected in_virtual_time {
protected:
    retry_scope scope{io};
    pending_attempts attempts{io};

    std::function<asio::awaitable<void>()> operation = [this]() -> asio::awaitable<void> {
        co_await attempts.async_attempt(asio::use_awaitable);
    };

    bool is_scoped() const { return GetParam() == where::scope; }
    asio::awaitable<void> retry(retry_policy policy) {
        return is_scoped() ? async_retry(scope, operation, std::move(policy))
                           : async_retry(operation, policy.attempt_timeout(1s));
    }
    void start(retry_policy policy = every_100ms()) {
        asio::co_spawn(executor_on(io, GetParam()), retry(std::move(policy)), note_end());
        time.advance(0s);
    }
    void interrupt() {
        if (is_scoped())
            scope.cancel();
        time.run();
    }
};

// What follows, of a success too, is on the executor.
TEST_P(awaited, decision_21_an_attempt_that_ends_on_other_threads) {
    asio::thread_pool elsewhere{1};
    for (bool const fails : {false, true}) {
        completions = 0;
        auto const here = std::this_thread::get_id();
        std::vector<bool> at_home;
        operation = [&]() -> asio::awaitable<void> {
            co_await asio::post(asio::bind_executor(elsewhere.get_executor(), asio::use_awaitable));
            if (fails)
                throw boost::system::system_error(refused());
        };
        auto const judge = [&](error_code) {
            at_home.push_back(std::this_thread::get_id() == here);
            return true;
        };
        auto work = asio::make_work_guard(io);
        start(every_100ms().backoff(constant(0s)).retry_if(judge));
        while (completions == 0) {
            io.restart();
            io.run_one();
        }
        EXPECT_EQ(result, fails ? refused() : error_code());
        EXPECT_EQ(at_home, std::vector(fails ? 3 : 0, true));
    }
}

// Nothing else cancels the caller: what its attempts were told is not its business.
TEST_P(awaited, decision_34_leaves_the_caller_as_it_was) {
    asio::cancellation_signal signal;
    for (auto const& slot : {asio::cancellation_slot(), signal.slot()}) {
        completions = 0;
        auto const caller = [&]() -> asio::awaitable<void> {
            co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
            co_await asio::this_coro::throw_if_cancelled(false);
            EXPECT_THROW(co_await retry(every_100ms()), boost::system::system_error);
            EXPECT_EQ((co_await asio::this_coro::cancellation_state).cancelled(),
                      asio::cancellation_type::none);
            if (slot.is_connected())
                signal.emit(asio::cancellation_type::total);
            co_await turn(); // throws nothing, and lets the executor tell it
            auto const state = co_await asio::this_coro::cancellation_state;
            EXPECT_EQ(state.slot().is_connected(), slot.is_connected());
            EXPECT_EQ(state.cancelled() == asio::cancellation_type::total, slot.is_connected());
        };
        asio::co_spawn(executor_on(io, GetParam()), caller, asio::bind_cancellation_slot(slot, note_end()));
        time.advance(0s);
        interrupt();
        EXPECT_EQ(completions, 1);
        EXPECT_FALSE(result);
    }
}

// An attempt whose handler is destroyed uncalled, before and while a notice is queued.
TEST_P(awaited, decision_25_an_attempt_that_is_lost) {
    for (bool const is_told : {false, true}) {
        int destroyed = 0;
        std::shared_ptr<void> held;
        operation = [&, counted = std::shared_ptr<void>(nullptr, [&](void*) { ++destroyed; })] {
            return [](std::shared_ptr<void>& kept, std::shared_ptr<void>) -> asio::awaitable<void> {
                co_await asio::async_initiate<asio::use_awaitable_t<> const, void()>(
                    [&](auto handler) { kept = std::make_shared<decltype(handler)>(std::move(handler)); },
                    asio::use_awaitable);
            }(held, counted);
        };
        start();
        if (is_told && is_scoped())
            scope.cancel();
        if (is_told && !is_scoped())
            time.advance(1s - 1ns);
        operation = nullptr;
        held.reset();
        time.run();
        EXPECT_EQ(completions, 0);
        EXPECT_EQ(destroyed, 1);
        EXPECT_EQ(scheduler(io).pending(), 0u);
        EXPECT_EQ(scope.pending(), 0u);
    }
}

TEST_P(awaited, what_an_attempt_throws_when_it_is_told_comes_out_of_the_context) {
    attempts.on_cancel = [](pending_attempts& self, asio::cancellation_type_t) {
        self.complete(aborted());
        throw std::runtime_error("told");
    };
    start(every_100ms().max_attempts(1));
    EXPECT_THROW(interrupt(), std::runtime_error);
    time.run();
    EXPECT_EQ(result, is_scoped() ? aborted() : timed_out());
}

INSTANTIATE_TEST_SUITE_P(executors, awaited,
                         testing::Values(where::one_thread, where::strand, where::unknown, where::scope));

// --- where attempts run

/// Whether attempts run on the very executor of their caller, or else all on one strand: as they should in a
/// scope, and under a time limit. Spawned ones find out in a scope alone.
template <typename Context, typename Executor>
void expect_stay(Context& context, Executor const& executor, bool expected, bool is_strand = false) {
    auto const caller = [&]() -> asio::awaitable<void> {
        auto const own = co_await asio::this_coro::executor;
        std::vector<asio::any_io_executor> on;
        auto const operation = [&]() -> asio::awaitable<void> {
            on.push_back(co_await asio::this_coro::executor);
            detail::executor_home const home(on.back());
            EXPECT_TRUE(on.back() == own || (home.is_strand() && home.is_here()));
            co_await turn();
            if (on.size() == 1)
                throw boost::system::system_error(refused());
        };
        retry_scope scope(own);
        auto const policy = retry_policy().backoff(constant(0s));
        co_await async_retry(scope, operation, policy);
        EXPECT_EQ(on[0] == own, expected);
        EXPECT_EQ(on[0], on[1]);
        EXPECT_EQ(co_await asio::this_coro::executor, own);
        on.clear();
        co_await async_retry(operation, policy.attempt_timeout(1h));
        EXPECT_EQ(on[0] == own, is_strand || (expected && awaits_itself));
        EXPECT_EQ(on[0], on[1]);
        EXPECT_EQ(co_await asio::this_coro::executor, own);
    };
    asio::co_spawn(executor, caller, rethrow);
    if constexpr (std::is_same_v<Context, asio::io_context>)
        context.run();
    else
        context.join();
}

TEST(awaited_on, no_strand_of_threads_where_there_is_one) {
    asio::io_context io;
    expect_stay(io, asio::make_strand(asio::any_io_executor(io.get_executor())), true, true);
    asio::thread_pool pool(2);
    expect_stay(pool, asio::make_strand(pool), true, true);
}

// From Boost 1.87 to 1.89 Asio says the same of BOOST_ASIO_CONCURRENCY_HINT_SAFE, which is for many threads.
// Where its scheduler has another name, nobody can be asked.
constexpr bool a_hint_of_1_is_ambiguous = BOOST_ASIO_VERSION >= 103300 && BOOST_ASIO_VERSION < 103800;

TEST(awaited_on, no_strand_where_one_thread_runs_the_context) {
    for (int const hint : {1, BOOST_ASIO_CONCURRENCY_HINT_UNSAFE}) {
        asio::io_context io(hint);
        if (awaits_itself && !(hint == 1 && a_hint_of_1_is_ambiguous)) {
            EXPECT_TRUE(scheduler(io).has_one_thread());
        }
        expect_stay(io, io.get_executor(), scheduler(io).has_one_thread());
    }
    asio::io_context io;
    virtual_time const time(io);
    expect_stay(io, io.get_executor(), true);
}

TEST(awaited_on, decision_46_a_strand_where_several_threads_may_run_the_context) {
    for (int const hint : {2, BOOST_ASIO_CONCURRENCY_HINT_DEFAULT, BOOST_ASIO_CONCURRENCY_HINT_SAFE,
                           BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO}) {
        asio::io_context io(hint);
        expect_stay(io, io.get_executor(), false);
    }
    asio::thread_pool pool(2);
    expect_stay(pool, pool.get_executor(), false);
}

TEST(awaited_on, a_strand_one_retry_after_the_other_does_not_grow_the_stack) {
    asio::io_context io;
    retry_scope scope(io);
    std::uintptr_t highest = 0;
    std::uintptr_t lowest = std::numeric_limits<std::uintptr_t>::max();
    auto const operation = [&]() -> asio::awaitable<void> {
        auto const address = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        highest = std::max(highest, address);
        lowest = std::min(lowest, address);
        co_return;
    };
    auto const caller = [&]() -> asio::awaitable<void> {
        for (int i = 0; i != 1000; ++i)
            co_await async_retry(scope, operation, retry_policy());
    };
    asio::co_spawn(io, caller, rethrow);
    io.run();
    EXPECT_LT(highest - lowest, 64u * 1024);
}

// --- how a scope counts it

class awaited_in_scope : public testing::Test {
protected:
    asio::io_context io; // which several threads may run
    asio::io_context other;
    retry_scope scope{io};
    int ended = 0;
};

// Wherever the handler of the join runs.
TEST_F(awaited_in_scope, a_join_waits_for_each_coroutine_that_has_a_result) {
    bool has_joined = false;
    auto const second = [&]() -> asio::awaitable<void> {
        co_await async_retry(scope, turn, retry_policy());
        ++ended;
    };
    auto const first = [&]() -> asio::awaitable<void> {
        co_await async_retry(scope, turn, retry_policy());
        other.poll(); // the second one ends meanwhile
        EXPECT_EQ(ended, 1);
        EXPECT_FALSE(has_joined);
        ++ended;
    };
    asio::co_spawn(other, second, rethrow);
    other.poll_one();
    asio::co_spawn(io, first, rethrow);
    scope.async_join(asio::bind_executor(other, [&](error_code) { has_joined = true; }));
    io.run();
    EXPECT_EQ(ended, 2);
    other.restart();
    other.run();
    EXPECT_TRUE(has_joined);
}

TEST_F(awaited_in_scope, decision_33_has_room_for_one_after_the_other) {
    retry_scope inner(scope);
    scope.max_pending(1);
    for (retry_scope* const joined : {static_cast<retry_scope*>(nullptr), &scope, &inner}) {
        int joins = 0;
        ended = 0;
        auto const operation = [&]() -> asio::awaitable<void> {
            if (joined && ended == 0)
                joined->async_join([&](error_code) { ++joins; });
            co_await turn();
        };
        auto const caller = [&]() -> asio::awaitable<void> {
            for (; ended != 3; ++ended)
                co_await async_retry(inner, operation, every_100ms());
            EXPECT_EQ(joins, 0);
        };
        asio::co_spawn(io, caller, rethrow);
        io.restart();
        io.run();
        EXPECT_EQ(ended, 3);
        EXPECT_EQ(joins, joined ? 1 : 0);
        EXPECT_EQ(scope.pending(), 0u);
    }
}

// A spawned one is counted until the coroutine that it resumes waits again: that is its handler.
TEST_F(awaited_in_scope, counts_an_operation_as_long_as_there_is_anything_of_it) {
    std::size_t at_the_end = 0;
    auto const caller = [&]() -> asio::awaitable<void> {
        std::shared_ptr<void> seen(nullptr, [&](void*) { at_the_end = scope.pending(); });
        auto const held_by = [](std::shared_ptr<void> const&) { return turn(); };
        co_await async_retry(scope, std::bind_front(held_by, std::move(seen)), every_100ms());
        EXPECT_EQ(at_the_end, 1u);
        EXPECT_EQ(scope.pending(), awaits_itself ? 0u : 1u);
        ++ended;
    };
    asio::co_spawn(io, caller, rethrow);
    io.run();
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(scope.pending(), 0u);
}

// Which has work as long as the operation may wait there.
TEST_F(awaited_in_scope, waits_on_the_context_of_the_scope) {
    pending_attempts attempts(other);
    completion_record record;
    await_attempts(other.get_executor(), attempts, retry_policy().backoff(constant(1ms)), record, scope);
    other.poll();
    io.poll();
    EXPECT_FALSE(io.stopped()) << "the attempt may fail";
    attempts.complete(refused());
    other.poll();
    EXPECT_EQ(scheduler(io).pending(), 1u);
    while (scheduler(io).pending() != 0) // io_uring counts what is not a handler too
        io.run_one();
    other.poll();
    ASSERT_EQ(attempts.started, 2u);
    attempts.complete({});
    other.run();
    EXPECT_EQ(record.count, 1);
    io.run();
    EXPECT_TRUE(io.stopped()) << "nothing is left";
}

} // namespace
} // namespace asio_retry::test
