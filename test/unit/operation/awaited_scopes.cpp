#include <asio_retry/async_retry.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/coroutine_ends.hpp"
#include "support/hooked_executor.hpp"
#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

// Operations in a scope whose attempts a coroutine awaits itself.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class awaited_scope : public testing::Test, protected coroutine_ends, protected in_virtual_time {
protected:
    std::optional<retry_scope> scope{std::in_place, io};
    pending_attempts attempts{io};
    int joins = 0;

    asio::awaitable<void> attempt() { co_await attempts.async_attempt(asio::use_awaitable); }

    static asio::awaitable<void> caller(awaited_scope* self, retry_policy policy) {
        auto const operation = [self] { return self->attempt(); };
        co_await async_retry(*self->scope, operation, std::move(policy));
    }

    template <typename Executor>
    void start(Executor const& executor, retry_policy policy) {
        asio::co_spawn(executor, caller(this, std::move(policy)), note_end());
        time.advance(0s);
    }
    void start(retry_policy policy) { start(io.get_executor(), std::move(policy)); }

    void join() {
        scope->async_join([this](error_code) { ++joins; });
    }

    void expect_completion(error_code const& expected) {
        EXPECT_EQ(completions, 1);
        EXPECT_EQ(result, expected);
        EXPECT_EQ(scheduler(io).pending(), 0u);
        if (scope) {
            EXPECT_EQ(scope->pending(), 0u);
        }
    }
};

// --- what a scope asks for

TEST_F(awaited_scope, decision_18_cancels_attempts_and_waits) {
    for (bool const waits : {false, true}) {
        scope.emplace(io);
        completions = 0;
        start(every_100ms());
        if (waits) {
            attempts.complete(refused());
            time.advance(50ms);
        }
        scope->cancel();
        EXPECT_EQ(completions, 0) << "told in a turn";
        time.advance(0s);
        expect_completion(aborted());
    }
    EXPECT_THAT(attempts.cancellations, testing::ElementsAre(asio::cancellation_type::terminal));
}

TEST_F(awaited_scope, cancels_from_within_an_attempt_that_fails_at_once) {
    auto const failing = [this]() -> asio::awaitable<void> {
        scope->cancel();
        throw boost::system::system_error(refused());
        co_return;
    };
    asio::co_spawn(
        io, [&]() -> asio::awaitable<void> { co_await async_retry(*scope, failing, every_100ms()); },
        note_end());
    join();
    time.advance(0s);
    expect_completion(aborted());
    EXPECT_EQ(joins, 1);
}

TEST_F(awaited_scope, a_join_of_the_parent_waits_for_an_operation_in_a_child) {
    retry_scope parent(io);
    scope.emplace(parent);
    start(every_100ms());
    parent.async_join([this](error_code) { ++joins; });
    attempts.complete({});
    time.advance(0s);
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(joins, 1);
}

// The notice is under way when the operation ends, and finds it there.
TEST_F(awaited_scope, decision_12_success_wins_over_a_notice_under_way) {
    start(every_100ms());
    attempts.on_cancel = nullptr;
    attempts.complete({});
    scope->cancel();
    join();
    time.advance(0s);
    expect_completion({});
    EXPECT_EQ(joins, 1);
}

TEST_F(awaited_scope, drains_and_counts_the_attempts_that_it_stops) {
    start(every_100ms());
    std::size_t cancelled = 0;
    scope->async_drain(5s, [&](error_code, std::size_t n) {
        ++joins;
        cancelled = n;
    });
    time.advance(4s);
    EXPECT_TRUE(attempts.cancellations.empty()) << "the attempt may finish";
    time.run();
    expect_completion(aborted());
    EXPECT_EQ(joins, 1);
    EXPECT_EQ(cancelled, 1u);
    EXPECT_EQ(time.now() - begin, 5s);
}

TEST_F(awaited_scope, a_drain_does_not_count_an_attempt_that_its_caller_had_told) {
    asio::cancellation_signal signal;
    attempts.on_cancel = nullptr;
    asio::co_spawn(io, caller(this, every_100ms()), asio::bind_cancellation_slot(signal.slot(), note_end()));
    time.advance(0s);
    signal.emit(asio::cancellation_type::terminal);
    scope->async_drain(1s, [&](error_code, std::size_t n) { joins += n == 0; });
    time.advance(2s);
    attempts.complete(aborted());
    time.advance(0s);
    expect_completion(aborted());
    EXPECT_EQ(joins, 1);
}

TEST_F(awaited_scope, what_an_attempt_throws_when_it_is_told_comes_out_of_the_context) {
    attempts.on_cancel = [](pending_attempts& self, asio::cancellation_type_t) {
        self.complete(aborted());
        throw std::runtime_error("told");
    };
    start(every_100ms());
    scope->cancel();
    EXPECT_THROW(time.advance(0s), std::runtime_error);
    time.advance(0s);
    expect_completion(aborted());
}

TEST_F(awaited_scope, a_cancellation_stops_an_attempt_that_fails_before_its_notice) {
    auto stopped = interruption::none;
    start(every_100ms().on_give_up([&](retry_event const& e) { stopped = e.stopped; }));
    attempts.complete(refused());
    scope->cancel();
    time.advance(0s);
    expect_completion(aborted());
    EXPECT_EQ(stopped, interruption::cancellation);
}

TEST_F(awaited_scope, drain_ends_a_wait_and_lets_no_attempt_begin) {
    start(every_100ms());
    attempts.complete(refused());
    time.advance(50ms);
    scope->async_drain(5s, [&](error_code, std::size_t n) { joins += n == 0; });
    time.advance(0s);
    expect_completion(aborted());
    EXPECT_EQ(joins, 1);
    EXPECT_EQ(attempts.started, 1u);
}

TEST_F(awaited_scope, retry_now_ends_waits_again_and_again) {
    start(every_100ms(10));
    for (std::size_t i = 1; i != 5; ++i) {
        EXPECT_EQ(attempts.started, i);
        attempts.complete(refused());
        time.advance(10ms);
        scope->retry_now();
        time.advance(0s);
    }
    scope->retry_now();
    time.advance(0s);
    EXPECT_TRUE(attempts.cancellations.empty()) << "a running attempt goes on";
    EXPECT_EQ(time.now() - begin, 40ms);
    attempts.complete({});
    time.run();
    expect_completion({});
}

TEST_F(awaited_scope, has_no_more_time_than_the_scope) {
    scope.emplace(io, begin + 30ms);
    start(every_100ms());
    time.run();
    expect_completion(timed_out());
    EXPECT_EQ(time.now() - begin, 30ms);
}

TEST_F(awaited_scope, that_is_cancelled_makes_no_attempt) {
    scope->cancel();
    start(every_100ms());
    expect_completion(aborted());
    EXPECT_EQ(attempts.started, 0u);
}

TEST_F(awaited_scope, decision_39_may_end_inside_what_it_runs) {
    start(every_100ms().on_retry([this](retry_event const&) { scope.reset(); }));
    attempts.complete(refused());
    time.run();
    expect_completion(aborted());
}

TEST_F(awaited_scope, decision_34_leaves_the_caller_as_it_was) {
    asio::cancellation_signal signal;
    bool was_restored = false;
    auto const outer = [&]() -> asio::awaitable<void> {
        co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
        co_await asio::this_coro::throw_if_cancelled(false);
        auto const operation = [this] { return attempt(); };
        try {
            co_await async_retry(*scope, operation, every_100ms());
        } catch (boost::system::system_error const& e) {
            EXPECT_EQ(e.code(), aborted());
        }
        signal.emit(asio::cancellation_type::total);
        auto const state = co_await asio::this_coro::cancellation_state;
        was_restored = state.cancelled() == asio::cancellation_type::total;
    };
    asio::co_spawn(io, outer, asio::bind_cancellation_slot(signal.slot(), asio::detached));
    time.advance(0s);
    scope->cancel();
    time.run();
    EXPECT_TRUE(was_restored);
}

// --- how it is counted

TEST_F(awaited_scope, decision_33_has_room_for_one_after_the_other) {
    retry_scope inner(*scope);
    scope->max_pending(1);
    for (retry_scope* const joined : {static_cast<retry_scope*>(nullptr), &*scope, &inner}) {
        std::vector<error_code> ends;
        joins = 0;
        asio::co_spawn(
            io,
            [&]() -> asio::awaitable<void> {
                auto const operation = [&]() -> asio::awaitable<error_code> {
                    if (joined && ends.empty())
                        joined->async_join([&](error_code) { joins += ends.size() == 3; });
                    co_await asio::post(asio::use_awaitable);
                    co_return error_code();
                };
                for (int i = 0; i != 3; ++i) {
                    auto [ec] = co_await async_retry(inner, operation, every_100ms(),
                                                     asio::as_tuple(asio::use_awaitable));
                    ends.push_back(ec);
                }
            },
            asio::detached);
        time.run();
        EXPECT_EQ(ends, std::vector<error_code>(3));
        EXPECT_EQ(joins, joined ? 1 : 0);
        EXPECT_EQ(scope->pending(), 0u);
    }
}

TEST_F(awaited_scope, decision_33_without_room_makes_no_attempt) {
    scope->max_pending(1);
    start(every_100ms());
    completions = 0;
    start(every_100ms());
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(result, asio::error::no_buffer_space);
    EXPECT_EQ(attempts.started, 1u);
    EXPECT_EQ(scope->pending(), 1u);
}

/// Is alive while the operation is.
struct witness {
    retry_scope* scope;
    std::size_t* pending_at_the_end;
    bool owns = true;
    witness(retry_scope& s, std::size_t& pending) noexcept
        : scope(&s)
        , pending_at_the_end(&pending) {}
    witness(witness&& other) noexcept
        : scope(other.scope)
        , pending_at_the_end(other.pending_at_the_end)
        , owns(std::exchange(other.owns, false)) {}
    witness(witness const& other) = default;
    ~witness() {
        if (owns)
            *pending_at_the_end = scope->pending();
    }
};

TEST_F(awaited_scope, counts_an_operation_as_long_as_there_is_anything_of_it) {
    std::size_t pending_at_the_end = 0;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            witness seen(*scope, pending_at_the_end);
            auto const held_by = [&](witness const&) -> asio::awaitable<void> { return attempt(); };
            co_await async_retry(*scope, std::bind_front(held_by, std::move(seen)), every_100ms());
            EXPECT_EQ(pending_at_the_end, 1u);
            EXPECT_EQ(scope->pending(), 0u);
        },
        asio::detached);
    time.advance(0s);
    attempts.complete({});
    time.run();
    EXPECT_EQ(pending_at_the_end, 1u);
}

// As it is, inline, in the handler of the group of both operands of `||`.
TEST_F(awaited_scope, decision_33_has_room_for_one_that_begins_where_another_is_completed) {
    scope->max_pending(1);
    error_code next = aborted();
    asio::co_spawn(io, caller(this, every_100ms()), [&](std::exception_ptr) {
        asio::co_spawn(io, caller(this, every_100ms()),
                       [&](std::exception_ptr e) { next = e ? code_of(e) : error_code(); });
    });
    time.advance(0s);
    attempts.complete({});
    time.advance(0s);
    attempts.complete({});
    time.run();
    EXPECT_EQ(next, error_code());
    EXPECT_EQ(attempts.started, 2u);
}

// Wherever its handler runs: what the coroutine does with the result is still to come.
TEST_F(awaited_scope, join_ends_when_the_coroutine_has_gone_on) {
    asio::io_context elsewhere;
    scope->async_join(asio::bind_executor(elsewhere, [this](error_code) { ++joins; })); // empty: at once
    elsewhere.run();
    elsewhere.restart();
    ASSERT_EQ(joins, 1);
    int seen = -1;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            auto const operation = [this] { return attempt(); };
            co_await async_retry(*scope, operation, every_100ms());
            elsewhere.poll();
            seen = joins;
            co_await asio::post(asio::use_awaitable);
            elsewhere.poll();
        },
        asio::detached);
    time.advance(0s);
    scope->async_join(asio::bind_executor(elsewhere, [this](error_code) { ++joins; }));
    attempts.complete({});
    time.run();
    EXPECT_EQ(seen, 1);
    elsewhere.restart();
    elsewhere.run();
    EXPECT_EQ(joins, 2);
}

// Which has work as long as the operation may wait there.
TEST(awaited_scopes, wait_on_the_context_of_the_scope) {
    asio::io_context own(1), other(1);
    retry_scope scope(other);
    pending_attempts attempts(own);
    bool done = false;
    asio::co_spawn(
        own,
        [&]() -> asio::awaitable<void> {
            auto const operation = [&]() -> asio::awaitable<void> {
                co_await attempts.async_attempt(asio::use_awaitable);
            };
            co_await async_retry(scope, operation, retry_policy().backoff(constant(1ms)));
            done = true;
        },
        asio::detached);
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
    EXPECT_TRUE(done);
    other.run();
    EXPECT_TRUE(other.stopped()) << "nothing is left";
}

// Between being marked and being told: it waits for the notice.
TEST_F(awaited_scope, decision_39_may_end_while_the_scope_tells_another) {
    std::function<void()> hook;
    pending_attempts others(io);
    completion_record other;
    async_retry(
        *scope, [&](auto token) { return others.async_attempt(std::move(token)); }, every_100ms(),
        asio::bind_executor(hooked_executor(io.get_executor(), hook), other.handler()));
    start(every_100ms());
    join();
    attempts.on_cancel = nullptr;
    attempts.complete({});
    hook = [&] {
        hook = nullptr;
        time.advance(0s);
        EXPECT_EQ(completions, 0);
    };
    scope->cancel();
    time.run();
    EXPECT_EQ(other.error, aborted());
    expect_completion({});
    EXPECT_EQ(joins, 1);
}

// --- the end of everything

TEST(awaited_scopes, decision_25_the_context_ends_at_any_time) {
    enum class interruption { none, cancel, drain, retry_now };
    for (auto const by :
         {interruption::none, interruption::cancel, interruption::drain, interruption::retry_now})
        for (int turns = 0; turns != 16; ++turns) {
            int destroyed = 0;
            int joined = 0;
            {
                asio::io_context ending(1);
                virtual_time clock(ending);
                retry_scope scope(ending);
                pending_attempts pending(ending);
                std::shared_ptr<void> const counted(nullptr, [&](void*) { ++destroyed; });
                auto const attempt = [&]() -> asio::awaitable<void> {
                    auto const held = counted;
                    co_await pending.async_attempt(asio::use_awaitable);
                };
                asio::co_spawn(ending, async_retry(scope, attempt, every_100ms(), asio::use_awaitable),
                               [held = counted](std::exception_ptr) {});
                ending.poll();
                ending.restart();
                scope.async_join([&](error_code) { ++joined; });
                if (turns >= 8)
                    pending.complete(refused());
                for (int i = 0; i != turns % 8; ++i) {
                    if (i == 1 && by == interruption::cancel)
                        scope.cancel();
                    else if (i == 1 && by == interruption::drain)
                        scope.async_drain(1h, [](error_code, std::size_t) {});
                    else if (i == 1 && by == interruption::retry_now)
                        scope.retry_now();
                    ending.poll_one();
                    ending.restart();
                }
                if (turns % 4 == 3)
                    scope.cancel(); // and nobody is told
            }
            EXPECT_EQ(destroyed, 1) << turns;
            EXPECT_LE(joined, 1) << turns;
        }
}

// An attempt whose handler is destroyed uncalled, before and while a notice is queued.
TEST_F(awaited_scope, decision_25_an_attempt_that_is_lost) {
    for (bool const cancels : {false, true}) {
        scope.emplace(io);
        bool loses = false;
        int destroyed = 0;
        std::shared_ptr<void> held;
        asio::co_spawn(
            io,
            [](retry_scope& in, bool& is_lost, std::shared_ptr<void>& kept,
               std::shared_ptr<void> counted) -> asio::awaitable<void> {
                auto const operation = [&, counted]() -> asio::awaitable<void> {
                    co_await asio::async_initiate<asio::use_awaitable_t<> const, void()>(
                        [&](auto handler) { // which is destroyed when it is forgotten
                            kept = std::make_shared<decltype(handler)>(std::move(handler));
                            is_lost = true;
                        },
                        asio::use_awaitable);
                };
                co_await async_retry(in, operation, every_100ms());
            }(*scope, loses, held, std::shared_ptr<void>(nullptr, [&](void*) { ++destroyed; })),
            [this](std::exception_ptr) { ++completions; });
        join();
        time.advance(0s);
        ASSERT_TRUE(loses);
        if (cancels)
            scope->cancel();
        held.reset();
        time.run();
        EXPECT_EQ(completions, 0);
        EXPECT_EQ(destroyed, 1);
        EXPECT_EQ(scope->pending(), 0u);
    }
    EXPECT_EQ(joins, 2);
}

} // namespace
} // namespace asio_retry::test
