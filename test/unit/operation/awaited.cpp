#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>
#include <handler/serial_executor.hpp>

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
#include <new>
#include <optional>
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

template <typename Operation>
asio::awaitable<void> await_under(retry_scope* scope, Operation& operation, retry_policy policy) {
    if (scope)
        co_await async_retry(*scope, operation, policy);
    else
        co_await async_retry(operation, policy.attempt_timeout(1s));
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
        return await_under(is_scoped() ? &scope : nullptr, operation, std::move(policy));
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
    for (bool const can_be_cancelled : {false, true}) {
        completions = 0;
        bool was_restored = false;
        auto const caller = [&]() -> asio::awaitable<void> {
            co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
            co_await asio::this_coro::throw_if_cancelled(false);
            EXPECT_THROW(co_await retry(every_100ms()), boost::system::system_error);
            EXPECT_EQ((co_await asio::this_coro::cancellation_state).cancelled(),
                      asio::cancellation_type::none);
            if (can_be_cancelled)
                signal.emit(asio::cancellation_type::total);
            co_await asio::post(asio::use_awaitable); // throws nothing, and lets the executor tell it
            auto const state = co_await asio::this_coro::cancellation_state;
            was_restored = can_be_cancelled ? state.cancelled() == asio::cancellation_type::total
                                            : !state.slot().is_connected();
        };
        auto const slot = can_be_cancelled ? signal.slot() : asio::cancellation_slot();
        asio::co_spawn(executor_on(io, GetParam()), caller, asio::bind_cancellation_slot(slot, note_end()));
        time.advance(0s);
        interrupt();
        EXPECT_EQ(completions, 1);
        EXPECT_FALSE(result);
        EXPECT_TRUE(was_restored);
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

INSTANTIATE_TEST_SUITE_P(executors, awaited,
                         testing::Values(where::one_thread, where::strand, where::unknown, where::scope));

// --- where attempts run

/// Whether an attempt runs on the very executor of its caller: as it should in a scope, and under a time limit.
/// A spawned one finds out in a scope alone.
template <typename Context, typename Executor>
void expect_stay(Context& context, Executor const& executor, bool expected, bool is_strand = false) {
    auto const caller = [&]() -> asio::awaitable<void> {
        auto const own = co_await asio::this_coro::executor;
        bool stays = false;
        auto attempt = [&]() -> asio::awaitable<void> { stays = own == co_await asio::this_coro::executor; };
        retry_scope scope(own);
        co_await async_retry(scope, attempt, retry_policy());
        EXPECT_EQ(stays, expected);
        co_await async_retry(attempt, retry_policy().attempt_timeout(1h));
        EXPECT_EQ(stays, is_strand || (expected && awaits_itself));
        EXPECT_EQ(co_await asio::this_coro::executor, own);
    };
    asio::co_spawn(executor, caller, [](std::exception_ptr const& e) { EXPECT_FALSE(e); });
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

TEST(awaited_on, a_strand_where_several_threads_may_run_the_context) {
    for (int const hint : {2, BOOST_ASIO_CONCURRENCY_HINT_DEFAULT, BOOST_ASIO_CONCURRENCY_HINT_SAFE,
                           BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO}) {
        asio::io_context io(hint);
        expect_stay(io, io.get_executor(), false);
    }
    asio::thread_pool pool(2);
    expect_stay(pool, pool.get_executor(), false);
}

/// There is no memory for what keeps it running.
struct workless_executor {
    asio::io_context* context;

    asio::io_context& query(asio::execution::context_t) const noexcept { return *context; }
    workless_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
    [[noreturn]] workless_executor prefer(asio::execution::outstanding_work_t::tracked_t) const {
        throw std::bad_alloc();
    }
    template <typename Function>
    void execute(Function function) const {
        asio::post(*context, std::move(function));
    }
    bool operator==(workless_executor const&) const noexcept = default;
};

TEST(awaited_on, no_strand_where_an_operation_could_not_begin) {
    asio::io_context io;
    asio::io_context other; // of its own context a coroutine is work already
    bool went_on = false;
    auto const caller = [&]() -> asio::awaitable<void> {
        auto const own = co_await asio::this_coro::executor;
        auto const attempt = []() -> asio::awaitable<void> { co_return; };
        EXPECT_THROW(co_await async_retry(workless_executor{&other}, attempt,
                                          retry_policy().attempt_timeout(1h), asio::use_awaitable),
                     std::bad_alloc);
        EXPECT_EQ(co_await asio::this_coro::executor, own);
        went_on = true;
    };
    asio::co_spawn(io, caller, asio::detached);
    for (int turns = 0; turns != 9 && !went_on; ++turns) { // a spawned one ends by way of the other context
        other.poll();
        other.restart();
        io.poll();
        io.restart();
    }
    EXPECT_TRUE(went_on);
}

void rethrow(std::exception_ptr const& failure) {
    if (failure)
        std::rethrow_exception(failure);
}

asio::awaitable<void> turn() {
    co_await asio::post(asio::use_awaitable);
}

/// On a context that several threads may run.
class awaited_on_threads : public testing::Test {
protected:
    asio::io_context io;
    retry_scope scope{io};
    retry_policy const limited = retry_policy().backoff(constant(0s)).attempt_timeout(1h);
};

TEST_F(awaited_on_threads, decision_46_attempts_run_on_one_strand_which_the_coroutine_leaves) {
    asio::any_io_executor attempts_on;
    auto const operation = [&](attempt a) -> asio::awaitable<void> {
        asio::any_io_executor const on = co_await asio::this_coro::executor;
        auto const* const strand = on.target<detail::serial_executor<asio::io_context::executor_type>>();
        EXPECT_TRUE(strand && strand->running_in_this_thread());
        EXPECT_TRUE(a.number == 1 || on == attempts_on) << "one for all of them";
        attempts_on = on;
        co_await turn();
        throw boost::system::system_error(asio::error::connection_refused);
    };
    auto const caller = [&]() -> asio::awaitable<void> {
        asio::any_io_executor const own = co_await asio::this_coro::executor;
        EXPECT_THROW(co_await async_retry(scope, operation, limited), boost::system::system_error);
        EXPECT_EQ(co_await asio::this_coro::executor, own);
        EXPECT_THROW(co_await async_retry(operation, limited), boost::system::system_error);
        EXPECT_EQ(co_await asio::this_coro::executor, own);
    };
    asio::co_spawn(io, caller(), rethrow);
    io.run();
    EXPECT_EQ(scope.pending(), 0u);
}

TEST_F(awaited_on_threads, one_retry_after_the_other_does_not_grow_the_stack) {
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
            co_await async_retry(scope, operation, limited);
    };
    asio::co_spawn(io, caller(), rethrow);
    io.run();
    EXPECT_LT(highest - lowest, 64u * 1024);
}

// --- how a scope counts it

// Wherever the handler of the join runs.
TEST_F(awaited_on_threads, a_join_waits_for_each_coroutine_that_has_a_result) {
    asio::io_context other;
    bool has_joined = false;
    int went_on = 0;
    auto const second = [&]() -> asio::awaitable<void> {
        co_await async_retry(scope, turn, retry_policy());
        ++went_on;
    };
    auto const first = [&]() -> asio::awaitable<void> {
        co_await async_retry(scope, turn, retry_policy());
        other.poll(); // the second one ends meanwhile
        EXPECT_EQ(went_on, 1);
        EXPECT_FALSE(has_joined);
        ++went_on;
    };
    asio::co_spawn(other, second(), rethrow);
    other.poll_one();
    asio::co_spawn(io, first(), rethrow);
    scope.async_join(asio::bind_executor(other, [&](error_code) { has_joined = true; }));
    io.run();
    EXPECT_EQ(went_on, 2);
    other.restart();
    other.run();
    EXPECT_TRUE(has_joined);
}

class awaited_in_scope : public testing::Test, protected coroutine_ends, protected in_virtual_time {
protected:
    std::optional<retry_scope> scope{std::in_place, io};
    pending_attempts attempts{io};
    completion_record record;
    int joins = 0;

    void start() {
        await_attempts(io.get_executor(), attempts, every_100ms(), record, *scope);
        time.advance(0s);
    }
    void join(retry_scope& in) {
        in.async_join([this](error_code) { ++joins; });
    }
};

TEST_F(awaited_in_scope, decision_33_has_room_for_one_after_the_other) {
    retry_scope inner(*scope);
    scope->max_pending(1);
    for (retry_scope* const joined : {static_cast<retry_scope*>(nullptr), &*scope, &inner}) {
        joins = 0;
        int ended = 0;
        auto const operation = [&]() -> asio::awaitable<void> {
            if (joined && ended == 0)
                join(*joined);
            co_await turn();
        };
        auto const caller = [&]() -> asio::awaitable<void> {
            for (; ended != 3; ++ended)
                co_await async_retry(inner, operation, every_100ms());
            EXPECT_EQ(joins, 0);
        };
        asio::co_spawn(io, caller, note_end());
        time.run();
        EXPECT_FALSE(result);
        EXPECT_EQ(ended, 3);
        EXPECT_EQ(joins, joined ? 1 : 0);
        EXPECT_EQ(scope->pending(), 0u);
    }
}

// A spawned one is counted until the coroutine that it resumes waits again: that is its handler.
TEST_F(awaited_in_scope, counts_an_operation_as_long_as_there_is_anything_of_it) {
    std::size_t at_the_end = 0;
    auto const caller = [&]() -> asio::awaitable<void> {
        std::shared_ptr<void> seen(nullptr, [&](void*) { at_the_end = scope->pending(); });
        auto const held_by = [](std::shared_ptr<void> const&) { return turn(); };
        co_await async_retry(*scope, std::bind_front(held_by, std::move(seen)), every_100ms());
        EXPECT_EQ(at_the_end, 1u);
        EXPECT_EQ(scope->pending(), awaits_itself ? 0u : 1u);
    };
    asio::co_spawn(io, caller, note_end());
    time.run();
    EXPECT_EQ(at_the_end, 1u);
    EXPECT_EQ(scope->pending(), 0u);
}

// Which has work as long as the operation may wait there.
TEST(awaited_in_scopes, waits_on_the_context_of_the_scope) {
    asio::io_context own(1), other(1);
    retry_scope scope(other);
    pending_attempts attempts(own);
    completion_record record;
    await_attempts(own.get_executor(), attempts, retry_policy().backoff(constant(1ms)), record, scope);
    own.poll();
    other.poll();
    EXPECT_FALSE(other.stopped()) << "the attempt may fail";
    attempts.complete(refused());
    own.poll();
    EXPECT_EQ(scheduler(other).pending(), 1u);
    while (scheduler(other).pending() != 0) // io_uring counts what is not a handler too
        other.run_one();
    own.poll();
    ASSERT_EQ(attempts.started, 2u);
    attempts.complete({});
    own.run();
    EXPECT_EQ(record.count, 1);
    other.run();
    EXPECT_TRUE(other.stopped()) << "nothing is left";
}

TEST_F(awaited_in_scope, what_an_attempt_throws_when_it_is_told_comes_out_of_the_context) {
    attempts.on_cancel = [](pending_attempts& self, asio::cancellation_type_t) {
        self.complete(aborted());
        throw std::runtime_error("told");
    };
    start();
    scope->cancel();
    EXPECT_THROW(time.advance(0s), std::runtime_error);
    time.advance(0s);
    EXPECT_EQ(record.error, aborted());
}

} // namespace
} // namespace asio_retry::test
