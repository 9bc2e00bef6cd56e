// Attempts that last: they say that they are healthy and alive, or are told to stop.
#include <asio_retry/async_pause.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/in_virtual_time.hpp"
#include "support/manual_waits.hpp"
#include "support/policies.hpp"
#include "support/refuses.hpp"
#include "support/script.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;

duration renewed(machine_script const& script, duration reached) {
    return script.machine.renewed_limit(script.begin + reached) - script.begin;
}

TEST(setup_timeout, is_over_with_the_mark) {
    machine_script script(endless_every_100ms().setup_timeout(10s));
    script.machine.expect_marks();
    script.start();
    EXPECT_EQ(script.limit(), 10s);
    script.machine.on_progress(script.begin + 9s);
    EXPECT_EQ(renewed(script, 10s), 10s) << "it is still not healthy";
    script.machine.on_healthy(script.begin + 9s);
    EXPECT_EQ(script.machine.renewed_limit(script.begin + 10s), time_point::max());
    EXPECT_THAT(script.fail(20s), is_wait(100ms));
    script.wake(30s);
    EXPECT_EQ(script.limit(30s), 40s) << "each attempt anew";
    EXPECT_THAT(script.expire(30s, 40s), is_wait(100ms));
    EXPECT_EQ(script.retries.back().error, detail::timed_out_error());
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(setup_timeout, has_its_earlier_name_until_0_5) {
    EXPECT_EQ(retry_policy().set_up_within(10s).settings().setup_timeout, 10s);
    EXPECT_THAT(calling([] { (void)retry_policy().set_up_within(0s); }),
                refuses("setup_timeout", "0", "must be positive"));
    static_assert(time_limit::set_up_within == time_limit::setup_timeout);
}
#pragma GCC diagnostic pop

TEST(idle_timeout, counts_from_the_last_sign) {
    machine_script script(endless_every_100ms().idle_timeout(5s).attempt_timeout(1min).total_timeout(70s));
    script.machine.expect_marks();
    script.start();
    EXPECT_EQ(script.limit(), 5s);
    script.machine.on_progress(script.begin + 4s);
    EXPECT_EQ(renewed(script, 5s), 9s);
    script.machine.on_healthy(script.begin + 8s);
    EXPECT_EQ(renewed(script, 9s), 13s) << "health is a sign of life";
    script.machine.on_progress(script.begin + 59s);
    EXPECT_EQ(renewed(script, 13s), 1min) << "within the limit of the attempt";
    script.fail(60s);
    script.wake(61s);
    EXPECT_EQ(script.limit(61s), 66s);
    script.machine.on_progress(script.begin + 66s);
    EXPECT_EQ(renewed(script, 66s), 70s) << "within that of the operation";
}

TEST(idle_timeout, holds_for_no_operation_that_cannot_say_anything) {
    machine_script script(endless_every_100ms().idle_timeout(5s).setup_timeout(1s));
    script.start();
    EXPECT_EQ(script.machine.attempt_limit(script.begin), time_point::max());
    EXPECT_FALSE(script.machine.hears_attempt());
}

TEST(idle_timeout, zero_is_refused) {
    EXPECT_THAT(calling([] { (void)retry_policy().idle_timeout(0s); }),
                refuses("idle_timeout", "0", "must be positive"));
    EXPECT_THAT(calling([] { (void)retry_policy().idle_timeout(-1s); }),
                refuses("idle_timeout", "-1", "must be positive"));
    EXPECT_THAT(calling([] { (void)retry_policy().setup_timeout(0s); }),
                refuses("setup_timeout", "0", "must be positive"));
}

/// Connections in virtual time, of each form and in each place.
class lasting : public testing::Test, protected in_virtual_time {
protected:
    std::vector<retry_event> failures;
    std::optional<error_code> ended;

    asio::awaitable<void> wait(duration d) {
        co_await async_pause(co_await asio::this_coro::executor, d, asio::use_awaitable);
    }

    retry_policy policy() {
        return every_100ms().on_retry([this](retry_event const& e) { failures.push_back(e); });
    }

    auto note() {
        return [this](std::exception_ptr e) { ended = e ? code_of_thrown(e) : error_code(); };
    }
    static error_code code_of_thrown(std::exception_ptr const& e) {
        try {
            std::rethrow_exception(e);
        } catch (boost::system::system_error const& thrown) {
            return thrown.code();
        }
    }

    /// Expects of each form that it takes `took` and ends with `ec`.
    template <typename Connection>
    void expect(Connection connection, retry_policy const& with, duration took, error_code ec = {}) {
        auto const token_form = [&](attempt const& a, auto token) {
            return asio::co_spawn(io, connection(a), std::move(token));
        };
        retry_scope scope(io);
        std::vector<std::pair<char const*, std::function<void()>>> const forms = {
            {"with a handler", [&] { async_retry(io, connection, with, note()); }},
            {"in a scope", [&] { async_retry(scope, connection, with, note()); }},
            {"a token", [&] { async_retry(io, token_form, with, note()); }},
            {"judged", [&] { async_retry(io, fail_if(connection, [] { return false; }), with, note()); }},
            {"awaited",
             [&] {
                 asio::co_spawn(
                     io, [&]() -> asio::awaitable<void> { co_await async_retry(connection, with); }, note());
             }},
            {"awaited in a scope",
             [&] {
                 asio::co_spawn(
                     io, [&]() -> asio::awaitable<void> { co_await async_retry(scope, connection, with); },
                     note());
             }},
        };
        for (auto const& [name, start] : forms) {
            SCOPED_TRACE(name);
            ended.reset();
            failures.clear();
            time_point const began = time.now();
            start();
            time.run();
            EXPECT_EQ(time.now() - began, took);
            EXPECT_EQ(ended, ec);
            EXPECT_EQ(scheduler(io).pending(), 0u);
            for (retry_event const& e : failures) {
                EXPECT_EQ(e.error, timed_out());
                EXPECT_EQ(e.stopped, interruption::attempt_timeout);
            }
        }
    }
};

TEST_F(lasting, what_is_not_set_up_in_time_is_tried_again) {
    auto const connection = [this](attempt a) -> asio::awaitable<void> {
        co_await wait(a.number < 3 ? 1h : 5s);
        a.mark_healthy();
        co_await wait(1h);
    };
    expect(connection, policy().setup_timeout(10s), 20s + 200ms + 5s + 1h);
    EXPECT_THAT(failures, SizeIs(2));
}

TEST_F(lasting, what_falls_silent_is_tried_again) {
    auto const connection = [this](attempt a) -> asio::awaitable<void> {
        for (int i = 0; i != (a.number == 1 ? 3 : 10); ++i) {
            co_await wait(4s);
            a.progress();
        }
        if (a.number == 1)
            co_await wait(1h);
    };
    expect(connection, policy().idle_timeout(5s), 12s + 5s + 100ms + 40s);
    EXPECT_THAT(failures, SizeIs(1));
}

TEST_F(lasting, both_hold_and_neither_beyond_the_other_limits) {
    auto const connection = [this](attempt a) -> asio::awaitable<void> {
        for (int i = 0;; ++i) {
            co_await wait(1s);
            a.progress();
            if (a.number == 2 && i == 1)
                a.mark_healthy();
        }
    };
    retry_policy const with = policy().idle_timeout(2s).setup_timeout(3s).attempt_timeout(1min);
    expect(connection, with, 3s + 100ms + 1min + 100ms + 3s, timed_out());
    expect(connection, with.total_timeout(30s), 30s, timed_out());
}

TEST_F(lasting, what_takes_no_attempt_has_no_such_limit) {
    auto const connection = [this]() -> asio::awaitable<void> { co_await wait(1h); };
    async_retry(io, connection, policy().idle_timeout(5s).setup_timeout(1s), note());
    time_point const began = time.now();
    time.run();
    EXPECT_EQ(ended, error_code());
    EXPECT_EQ(time.now() - began, 1h);
}

TEST_F(lasting, is_cancelled_after_its_limit_has_moved) {
    auto const connection = [this](attempt a) -> asio::awaitable<void> {
        for (;;) {
            co_await wait(4s);
            a.progress();
        }
    };
    retry_policy const with = policy().idle_timeout(5s);
    asio::cancellation_signal signal;
    async_retry(io, connection, with, asio::bind_cancellation_slot(signal.slot(), note()));
    time.advance(1min);
    EXPECT_FALSE(ended);
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_EQ(std::exchange(ended, std::nullopt), aborted());

    retry_scope scope(io);
    async_retry(scope, connection, with, note());
    asio::co_spawn(
        io, [&]() -> asio::awaitable<void> { co_await async_retry(scope, connection, with); }, note());
    io.restart();
    time.advance(1min);
    EXPECT_FALSE(ended);
    scope.cancel();
    time.run();
    EXPECT_EQ(ended, aborted());
    EXPECT_TRUE(failures.empty());
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(lasting, is_destroyed_with_its_context_after_its_limit_has_moved) {
    auto const kept = std::make_shared<int>(0);
    {
        asio::io_context other;
        virtual_time at(other);
        auto const connection = [](attempt a) -> asio::awaitable<void> {
            asio::steady_timer never(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
            a.progress();
            co_await never.async_wait(asio::use_awaitable);
        };
        async_retry(other, connection, policy().idle_timeout(5s).unlimited_attempts(),
                    [kept](std::exception_ptr) {});
        at.advance(12s);
        EXPECT_EQ(kept.use_count(), 2);
    }
    EXPECT_EQ(kept.use_count(), 1);
}

TEST(blocking_lasting, is_looked_at_when_the_attempt_has_ended) {
    manual_waits waits;
    std::vector<error_code> errors;
    auto const policy = every_100ms().idle_timeout(5s).setup_timeout(10s).retry_if([&](error_code const& ec) {
        errors.push_back(ec);
        return true;
    });
    auto const connection = [&](attempt a) {
        waits.time += 4s;
        if (a.number != 2)
            a.progress();
        waits.time += 4s;
        if (a.number == 3)
            a.mark_healthy();
        waits.time += 4s;
        return refused();
    };
    EXPECT_EQ(retry(connection, policy.max_attempts(4), waits), timed_out());
    EXPECT_THAT(errors, testing::ElementsAre(timed_out(), timed_out(), refused(), timed_out()));
}

// What an attempt says on one thread is looked at on another.
TEST(lasting_threads, signs_meet_their_limits) {
    constexpr int operations = 500;
    asio::thread_pool pool(4);
    std::atomic<int> completed = 0;
    auto const policy = retry_policy()
                            .backoff(constant(20us))
                            .max_attempts(4)
                            .idle_timeout(100us)
                            .setup_timeout(150us)
                            .total_timeout(1min);
    for (int i = 0; i != operations; ++i) {
        auto const connection = [&pool, i](attempt const& a, auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [&pool, i](auto handler, attempt const* which) {
                    for (int turn = 0; turn != 20 + i % 50; ++turn) {
                        which->progress();
                        if (turn == i % 70)
                            which->mark_healthy();
                    }
                    auto const timer = std::make_shared<asio::steady_timer>(pool, std::chrono::microseconds(i));
                    auto const slot = asio::get_associated_cancellation_slot(handler);
                    timer->async_wait(asio::bind_cancellation_slot(
                        slot, [timer, which, handler = std::move(handler)](error_code ec) mutable {
                            which->progress();
                            std::move(handler)(ec);
                        }));
                },
                token, &a);
        };
        asio::post(
            pool, [&, connection] { async_retry(pool, connection, policy, [&](error_code) { ++completed; }); });
    }
    pool.join();
    EXPECT_EQ(completed, operations);
    EXPECT_EQ(scheduler(pool).pending(), 0u);
}

} // namespace
} // namespace asio_retry::test
