#include <asio_retry/async_retry.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/coroutine_ends.hpp"
#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Time limits of attempts that a coroutine awaits: what interrupts them must not meet their running.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

// --- where attempts run

/// Whether an attempt under a time limit, or in a scope, runs on the very executor of its caller.
template <typename Context, typename Executor>
bool stays_on(Context& context, Executor const& executor) {
    bool stays = false;
    bool stays_in_scope = false;
    auto const caller = [&]() -> asio::awaitable<void> {
        auto const own = co_await asio::this_coro::executor;
        auto attempt = [&]() -> asio::awaitable<void> { stays = own == co_await asio::this_coro::executor; };
        co_await async_retry(attempt, retry_policy().attempt_timeout(1h));
        auto scoped = [&]() -> asio::awaitable<void> {
            stays_in_scope = own == co_await asio::this_coro::executor;
        };
        retry_scope scope(own);
        co_await async_retry(scope, scoped, retry_policy());
    };
    asio::co_spawn(executor, caller, asio::detached);
    if constexpr (std::is_same_v<Context, asio::io_context>)
        context.run();
    else
        context.join();
    EXPECT_EQ(stays_in_scope, stays);
    return stays;
}

TEST(awaited_limits, no_strand_where_there_is_one) {
    asio::io_context io;
    EXPECT_TRUE(stays_on(io, asio::make_strand(io)));
    asio::io_context again;
    EXPECT_TRUE(stays_on(again, asio::make_strand(asio::any_io_executor(again.get_executor()))));
    asio::thread_pool pool(2);
    EXPECT_TRUE(stays_on(pool, asio::make_strand(pool)));
}

// From Boost 1.87 to 1.89 Asio says the same of BOOST_ASIO_CONCURRENCY_HINT_SAFE, which is for many threads.
constexpr bool a_hint_of_1_is_ambiguous = BOOST_ASIO_VERSION >= 103300 && BOOST_ASIO_VERSION < 103800;

TEST(awaited_limits, no_strand_where_one_thread_runs_the_context) {
    for (int const hint : {1, BOOST_ASIO_CONCURRENCY_HINT_UNSAFE}) {
        if (hint == 1 && a_hint_of_1_is_ambiguous)
            continue;
        asio::io_context io(hint);
        EXPECT_TRUE(stays_on(io, io.get_executor()));
    }
    asio::io_context io;
    virtual_time const time(io);
    EXPECT_TRUE(stays_on(io, io.get_executor()));
}

TEST(awaited_limits, a_strand_where_several_threads_may_run_the_context) {
    for (int const hint : {2, BOOST_ASIO_CONCURRENCY_HINT_DEFAULT, BOOST_ASIO_CONCURRENCY_HINT_SAFE,
                           BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO}) {
        asio::io_context io(hint);
        EXPECT_FALSE(stays_on(io, io.get_executor()));
    }
    asio::thread_pool pool(2);
    EXPECT_FALSE(stays_on(pool, pool.get_executor()));
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

TEST(awaited_limits, no_strand_where_an_operation_could_not_begin) {
    asio::io_context io;
    asio::io_context other;
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
    io.run();
    EXPECT_TRUE(went_on);
}

// --- what a limit does, wherever the attempts run

enum class where { one_thread, strand, unknown };

class awaited_limit : public testing::TestWithParam<where>,
                      protected coroutine_ends,
                      protected in_virtual_time {
protected:
    pending_attempts attempts{io};
    asio::thread_pool elsewhere{1};

    std::function<asio::awaitable<void>()> operation = [this]() -> asio::awaitable<void> {
        co_await attempts.async_attempt(asio::use_awaitable);
    };

    asio::any_io_executor executor() {
        switch (GetParam()) {
        case where::one_thread:
            return io.get_executor();
        case where::strand:
            return asio::make_strand(io);
        case where::unknown:
            return asio::require(io.get_executor(), asio::execution::blocking.never);
        }
        return {};
    }

    void start(retry_policy policy) {
        auto const caller = [](awaited_limit* self, retry_policy p) -> asio::awaitable<void> {
            co_await async_retry(self->operation, p);
        };
        asio::co_spawn(executor(), caller(this, std::move(policy)), note_end());
        time.advance(0s);
    }

    void expect_completion(error_code const& expected) {
        EXPECT_EQ(completions, 1);
        EXPECT_EQ(result, expected);
        EXPECT_EQ(scheduler(io).pending(), 0u);
    }

    void expect_timed_out(std::size_t started, duration after) {
        time.run();
        expect_completion(timed_out());
        EXPECT_EQ(attempts.started, started);
        EXPECT_EQ(time.now() - begin, after);
    }
};

TEST_P(awaited_limit, decision_10_ends_one_attempt) {
    start(every_100ms().attempt_timeout(1s));
    EXPECT_EQ(scheduler(io).pending(), 1u);
    time.advance(1s);
    EXPECT_EQ(attempts.cancellations.size(), 1u);
    time.advance(100ms);
    EXPECT_EQ(attempts.started, 2u);
    attempts.complete({});
    time.advance(0s);
    expect_completion({});
    EXPECT_EQ(time.now() - begin, 1100ms);
}

TEST_P(awaited_limit, decision_10_of_every_attempt) {
    start(every_100ms().attempt_timeout(1s));
    expect_timed_out(3, 3200ms);
}

TEST_P(awaited_limit, decision_10_of_the_operation) {
    start(every_100ms().total_timeout(1s));
    expect_timed_out(1, 1s);
}

TEST_P(awaited_limit, decision_8_that_has_passed_at_the_start) {
    start(every_100ms().deadline(time.now() - 1s));
    time.run();
    expect_completion(timed_out());
    EXPECT_EQ(attempts.started, 0u);
}

TEST_P(awaited_limit, decision_12_meets_a_success) {
    start(every_100ms().attempt_timeout(1s));
    attempts.on_cancel = [](pending_attempts& self, asio::cancellation_type_t) { self.complete({}); };
    time.run();
    expect_completion({});
    EXPECT_EQ(attempts.started, 1u);
}

// The attempt has ended when the notice of its limit arrives, which must not reach the next one.
TEST_P(awaited_limit, decision_12_meets_a_completion_that_is_queued) {
    start(every_100ms().backoff(constant(0s)).attempt_timeout(1s));
    time.advance(1s - 1ns);
    attempts.complete(refused());
    time.advance(1ns);
    EXPECT_EQ(attempts.started, 2u);
    EXPECT_TRUE(attempts.cancellations.empty());
    attempts.complete({});
    time.run();
    expect_completion({});
}

TEST_P(awaited_limit, decision_38_whatever_the_attempt_makes_of_it) {
    operation = [this]() -> asio::awaitable<void> {
        try {
            co_await attempts.async_attempt(asio::use_awaitable);
        } catch (boost::system::system_error const&) {
        }
        co_await asio::this_coro::reset_cancellation_state();
        throw std::runtime_error("said goodbye");
    };
    start(every_100ms().attempt_timeout(1s));
    time.run();
    expect_completion(timed_out());
    EXPECT_EQ(attempts.started, 3u);
}

TEST_P(awaited_limit, decision_35_an_attempt_that_ends_where_it_is_told) {
    int told = 0;
    bool is_telling = false;
    bool decided_inside = false;
    operation = [&]() -> asio::awaitable<void> {
        ++attempts.started;
        co_await asio::async_initiate<asio::use_awaitable_t<> const, void(error_code)>(
            [&](auto handler) {
                auto slot = asio::get_associated_cancellation_slot(handler);
                auto shared = std::make_shared<decltype(handler)>(std::move(handler));
                slot.assign([&told, &is_telling, shared](asio::cancellation_type_t) {
                    auto own = std::move(*shared);
                    int& counted = told; // the slot may be cleared meanwhile
                    bool& telling = is_telling;
                    telling = true;
                    std::move(own)(aborted());
                    telling = false;
                    ++counted;
                });
            },
            asio::use_awaitable);
    };
    start(every_100ms().attempt_timeout(1s).on_retry(
        [&](retry_event const&) { decided_inside = decided_inside || is_telling; }));
    time.run();
    expect_completion(timed_out());
    EXPECT_EQ(attempts.started, 3u);
    EXPECT_EQ(told, 3);
    EXPECT_FALSE(decided_inside);
}

// An attempt that ends on another thread: what follows, of a success too, is on the executor.
TEST_P(awaited_limit, decision_21_an_attempt_that_ends_elsewhere) {
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
        auto const policy = every_100ms().backoff(constant(0s)).attempt_timeout(1h).retry_if(judge);
        start(policy);
        while (completions == 0) {
            io.restart();
            io.run_one();
        }
        expect_completion(fails ? refused() : error_code());
        EXPECT_EQ(at_home, std::vector(fails ? 3 : 0, true));
    }
}

// Nothing else cancels the caller: what its attempts were told is not its business.
TEST_P(awaited_limit, decision_34_leaves_the_caller_as_it_was) {
    bool found_nothing = false;
    auto const caller = [&]() -> asio::awaitable<void> {
        try {
            co_await async_retry(operation, every_100ms().attempt_timeout(1s));
        } catch (boost::system::system_error const&) {
        }
        auto const state = co_await asio::this_coro::cancellation_state;
        found_nothing = state.cancelled() == asio::cancellation_type::none && !state.slot().is_connected();
        co_await asio::post(asio::use_awaitable);
        ++completions;
    };
    asio::co_spawn(executor(), caller, asio::detached);
    time.run();
    EXPECT_EQ(completions, 1);
    EXPECT_TRUE(found_nothing);
}

// A retry inside an attempt, under limits of its own.
TEST_P(awaited_limit, decision_10_of_a_retry_inside_another) {
    operation = [this]() -> asio::awaitable<void> {
        auto inner = [this]() -> asio::awaitable<void> {
            co_await attempts.async_attempt(asio::use_awaitable);
        };
        co_await async_retry(inner, every_100ms().max_attempts(2).attempt_timeout(300ms));
    };
    start(every_100ms().max_attempts(2).attempt_timeout(500ms).retry_if(any_failure));
    time.run();
    expect_completion(timed_out());
    EXPECT_EQ(attempts.started, 4u); // at 0 and 400 ms, and so again from 600 ms on
    EXPECT_EQ(time.now() - begin, 1100ms);
}

// --- the end of everything

TEST_P(awaited_limit, decision_25_the_context_ends_at_any_time) {
    for (int turns = 0; turns != 12; ++turns) {
        int destroyed = 0;
        {
            asio::io_context ending;
            virtual_time clock(ending);
            pending_attempts pending(ending);
            auto const on = [&]() -> asio::any_io_executor {
                if (GetParam() == where::one_thread)
                    return ending.get_executor();
                if (GetParam() == where::strand)
                    return asio::make_strand(ending);
                return asio::require(ending.get_executor(), asio::execution::blocking.never);
            }();
            std::shared_ptr<void> const counted(nullptr, [&](void*) { ++destroyed; });
            auto const attempt = [&]() -> asio::awaitable<void> {
                auto const held = counted;
                co_await pending.async_attempt(asio::use_awaitable);
            };
            pending.on_cancel = nullptr;
            asio::co_spawn(on, async_retry(attempt, every_100ms().attempt_timeout(1s), asio::use_awaitable),
                           [held = counted](std::exception_ptr) {});
            ending.poll();
            scheduler(ending).pending();
            if (turns >= 6)
                pending.complete(refused());
            clock.advance(0s);
            for (int i = 0; i != turns % 6; ++i) {
                if (i == 1)
                    clock.advance(1s - 1ns);
                ending.restart();
                ending.poll_one();
            }
        }
        EXPECT_EQ(destroyed, 1) << turns;
    }
}

// The limit is reached, and its notice queued on the strand, when the context is destroyed.
TEST_P(awaited_limit, decision_25_the_context_ends_while_a_notice_is_queued) {
    for (bool const ends_first : {false, true}) {
        int destroyed = 0;
        {
            asio::io_context ending(ends_first ? 1 : 2);
            std::shared_ptr<void> const counted(nullptr, [&](void*) { ++destroyed; });
            auto const strand = asio::make_strand(ending);
            pending_attempts pending(ending);
            auto const attempt = [&]() -> asio::awaitable<void> {
                auto const held = counted;
                co_await pending.async_attempt(asio::use_awaitable);
            };
            asio::co_spawn(strand,
                           async_retry(attempt, every_100ms().attempt_timeout(1ms), asio::use_awaitable),
                           [held = counted](std::exception_ptr) {});
            while (pending.started == 0)
                ending.run_one();
            if (ends_first)
                pending.complete(refused()); // queued before the notice, whose frame it destroys
            // The strand is busy; the scheduler's turn queues the notice behind that.
            asio::post(strand, [&] {
                while (scheduler(ending).pending() != 0)
                    ending.poll_one();
                ending.stop();
            });
            ending.run();
        }
        EXPECT_EQ(destroyed, 1) << ends_first;
    }
}

struct losing {
    void operator()(auto) const {}
};

asio::awaitable<void> lost_attempt(std::shared_ptr<void>) {
    losing const lose;
    co_await asio::async_initiate<asio::use_awaitable_t<> const, void()>(lose, asio::use_awaitable);
}

// An attempt whose handler is destroyed uncalled, and its limit: both end with the operation.
TEST_P(awaited_limit, decision_25_an_attempt_that_is_lost) {
    int destroyed = 0;
    operation = [&] { return lost_attempt(std::shared_ptr<void>(nullptr, [&](void*) { ++destroyed; })); };
    start(every_100ms().attempt_timeout(1s));
    time.run();
    EXPECT_EQ(completions, 0);
    EXPECT_EQ(destroyed, 1);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

INSTANTIATE_TEST_SUITE_P(executors, awaited_limit,
                         testing::Values(where::one_thread, where::strand, where::unknown));

} // namespace
} // namespace asio_retry::test
