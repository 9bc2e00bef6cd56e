#include <asio_retry/virtual_time.hpp>

#include <asio_retry/async_retry.hpp>

#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"
#include "support/test_wait.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <stdexcept>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// An operation that is retried hourly, as often as it fails.
struct hourly_retries : in_virtual_time {
    explicit hourly_retries(std::size_t failures)
        : played(script::failures(failures)) {
        async_retry(
            io, [&](auto token) { return async_scripted(io, played, std::move(token)); }, hourly(),
            record.handler());
    }

    script played;
    completion_record record;
};

TEST(virtual_time, advance_runs_what_becomes_due_and_nothing_else) {
    hourly_retries all(3);
    all.time.advance(0s);
    EXPECT_EQ(all.played.attempts, 1u);
    all.time.advance(1h - 1ns);
    EXPECT_EQ(all.played.attempts, 1u);
    all.time.advance(1ns);
    EXPECT_EQ(all.played.attempts, 2u);
    all.time.advance(5h);
    EXPECT_EQ(all.played.attempts, 4u);
    EXPECT_EQ(all.record.count, 1);
    EXPECT_EQ(all.time.now() - all.begin, 6h);
    EXPECT_THROW(all.time.advance(-1ns), std::invalid_argument);
}

// Slack shares wake-ups, of which there are none here.
TEST(virtual_time, is_exact_whatever_the_slack) {
    asio::io_context io;
    virtual_time time(io);
    scheduler(io).slack(1h);
    auto const begin = time.now();
    std::vector<duration> ends;
    for (int i = 100; i != 0; --i)
        async_retry(
            io, [] { return error_code(asio::error::connection_refused); },
            retry_policy().backoff(constant(i * 1ms)).jitter(no_jitter()).max_attempts(2),
            [&](error_code) { ends.push_back(time.now() - begin); });
    time.run();
    ASSERT_EQ(ends.size(), 100u);
    for (int i = 0; i != 100; ++i)
        EXPECT_EQ(ends[static_cast<std::size_t>(i)], (i + 1) * 1ms);
}

// A year of hourly retries takes no time worth speaking of; the test would hang if anything were waited for.
TEST(virtual_time, run_jumps_from_expiry_to_expiry) {
    hourly_retries all(8760);
    EXPECT_GT(all.time.run(), 8760u);
    EXPECT_EQ(all.record.value, 8761);
    EXPECT_EQ(all.time.now() - all.begin, 8760h);
}

TEST(virtual_time, waits_that_end_together_end_in_the_order_they_began) {
    asio::io_context io;
    virtual_time time(io);
    std::vector<int> order;
    std::vector<script> scripts(50, script::failures(2));
    for (int i = 0; i != 50; ++i)
        async_retry(
            io,
            [&io, &s = scripts[static_cast<std::size_t>(i)]](auto token) {
                return async_scripted(io, s, std::move(token));
            },
            hourly(), [&order, i](error_code, int) { order.push_back(i); });
    time.run();
    EXPECT_EQ(order.size(), 50u);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

std::vector<duration> delays_of_a_run(std::size_t operations) {
    asio::io_context io;
    virtual_time time(io);
    std::vector<duration> delays;
    auto const policy =
        retry_policy().max_attempts(6).on_retry([&](retry_event const& e) { delays.push_back(e.delay); });
    script failing = script::failures(1000);
    for (std::size_t i = 0; i != operations; ++i)
        async_retry(
            io, [&](auto token) { return async_scripted(io, failing, std::move(token)); }, policy,
            asio::detached);
    time.run();
    return delays;
}

// Decision 3: the same delays every time, one stream per operation.
TEST(virtual_time, decision_3_same_delays_every_time) {
    auto const delays = delays_of_a_run(3);
    ASSERT_EQ(delays.size(), 15u);
    EXPECT_EQ(delays, delays_of_a_run(3));
    EXPECT_NE(delays[0], delays[1]);
    EXPECT_EQ(delays_of_a_run(1)[0], delays[0]) << "a stream does not depend on the other operations";
}

/// Two operations, begun one after the other, whose first attempts fail in that order or in the other one: when
/// their second ones begin.
template <typename Begin>
std::array<duration, 2> delays_of_two(bool in_order, Begin begin) {
    asio::io_context io;
    virtual_time time(io);
    auto const start = time.now();
    std::array<pending_attempts, 2> attempts = {pending_attempts(io), pending_attempts(io)};
    std::array<duration, 2> delays{};
    for (std::size_t i = 0; i != 2; ++i) {
        begin(io, [&, i](auto token) {
            delays[i] = time.now() - start;
            return attempts[i].async_attempt(std::move(token));
        });
        time.advance(0s);
    }
    for (std::size_t i = 0; i != 2; ++i) {
        attempts[in_order ? i : 1 - i].complete(refused());
        time.advance(0s);
    }
    time.run();
    return delays;
}

// Of a policy that needs neither time nor hooks.
TEST(virtual_time, decision_3_the_first_operation_has_the_first_stream_whichever_fails_first) {
    auto const with_handlers = [](asio::io_context& io, auto operation) {
        async_retry(io, std::move(operation), retry_policy(), asio::detached);
    };
    auto const awaited = [](asio::io_context& io, auto operation) {
        auto const caller = [](auto own) -> asio::awaitable<void> {
            auto awaitable = [&]() -> asio::awaitable<void> { co_await own(asio::use_awaitable); };
            co_await async_retry(awaitable, retry_policy());
        };
        asio::co_spawn(io, caller(std::move(operation)), asio::detached);
    };
    EXPECT_EQ(delays_of_two(true, with_handlers), delays_of_two(false, with_handlers));
    EXPECT_EQ(delays_of_two(true, awaited), delays_of_two(false, awaited));
    EXPECT_EQ(delays_of_two(true, awaited), delays_of_two(true, with_handlers));
    EXPECT_NE(delays_of_two(true, awaited)[0], delays_of_two(true, awaited)[1]);
}

TEST(virtual_time, refuses_a_context_with_waits_or_another_virtual_time) {
    asio::io_context io;
    {
        virtual_time first(io);
        EXPECT_THROW(virtual_time second(io), std::logic_error);
    }
    script failing = script::failures(100);
    async_retry(
        io, [&](auto token) { return async_inline(failing, std::move(token)); }, hourly(), asio::detached);
    io.poll();
    EXPECT_EQ(scheduler(io).pending(), 1u);
    EXPECT_THROW(virtual_time late(io), std::logic_error);
}

/// An operation that waits by the steady clock, until its scope cuts the wait short.
struct wait_to_cut_short {
    wait_to_cut_short() {
        async_retry(
            scope, [this](auto token) { return async_inline(played, std::move(token)); }, hourly(),
            record.handler());
        io.poll();
    }

    asio::io_context io;
    retry_scope scope{io.get_executor()};
    script played = script::failures(3);
    completion_record record;
};

// Nothing is pending then, and how they go on is up to the clock that there is.
TEST(virtual_time, waits_that_were_cut_short_before_it_end_in_it) {
    wait_to_cut_short one;
    one.scope.retry_now();
    one.io.poll_one(); // the notice
    EXPECT_EQ(scheduler(one.io).pending(), 0u);
    EXPECT_EQ(one.played.attempts, 1u);
    virtual_time time(one.io);
    auto const begin = time.now();
    time.advance(0s);
    EXPECT_EQ(one.played.attempts, 2u);
    time.run();
    EXPECT_EQ(one.record.count, 1);
    EXPECT_EQ(one.record.value, 4);
    EXPECT_EQ(time.now() - begin, 2h);
}

TEST(virtual_time, waits_that_were_cut_short_may_outlast_it) {
    wait_to_cut_short one;
    one.scope.cancel();
    one.io.poll_one(); // the notice
    {
        virtual_time const time(one.io);
    }
    EXPECT_EQ(one.record.count, 0);
    one.io.run();
    EXPECT_EQ(one.record.count, 1);
    EXPECT_EQ(one.record.error, aborted());
}

TEST(virtual_time, waits_left_behind_go_on_by_the_steady_clock) {
    asio::io_context io;
    script played = script::failures(1);
    completion_record record;
    auto const policy = retry_policy().backoff(constant(2ms)).jitter(no_jitter());
    {
        virtual_time time(io);
        async_retry(
            io, [&](auto token) { return async_inline(played, std::move(token)); }, policy, record.handler());
    }
    io.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_FALSE(record.error);
}

TEST(virtual_time, gives_the_scheduler_back_as_it_was) {
    asio::io_context io;
    scheduler(io).slack(5ms).seed(7);
    EXPECT_EQ(scheduler(io).next_random()(), random(7, 0)());
    {
        virtual_time time(io);
        EXPECT_EQ(scheduler(io).slack(), 0ns);
        EXPECT_EQ(scheduler(io).next_random()(), random(0, 0)());
        scheduler(io).slack(1h).seed(8).next_random();
        scheduler(io).next_random();
    }
    EXPECT_EQ(scheduler(io).slack(), 5ms);
    EXPECT_EQ(scheduler(io).next_random()(), random(7, 1)()) << "the streams go on";
    EXPECT_TRUE(retry_scheduler::any_seeded());
}

TEST(virtual_time, leaves_a_pending_wait_to_the_timer) {
    asio::io_context io;
    test_wait node;
    bool ended = false;
    node.expired = [&] { ended = true; };
    {
        virtual_time time(io);
        scheduler(io).schedule(node, time.now() + 1ms);
    }
    io.run();
    EXPECT_TRUE(ended);
}

TEST(virtual_time, leaves_a_scheduler_unseeded_that_was_so) {
    ASSERT_FALSE(retry_scheduler::any_seeded());
    asio::io_context io;
    {
        virtual_time time(io);
        EXPECT_TRUE(retry_scheduler::any_seeded());
    }
    EXPECT_FALSE(retry_scheduler::any_seeded());
    EXPECT_NE(scheduler(io).next_random()(), random(0, 0)());
    {
        virtual_time again(io);
        EXPECT_TRUE(retry_scheduler::any_seeded());
    }
    EXPECT_FALSE(retry_scheduler::any_seeded());
    auto const before = scheduler(io).next_random()();
    io.notify_fork(asio::io_context::fork_child);
    EXPECT_NE(scheduler(io).next_random()(), before);
    scheduler(io).seed(1);
    EXPECT_TRUE(retry_scheduler::any_seeded());
}

TEST(virtual_time, leaves_nothing_for_the_timer_to_wait_for) {
    asio::io_context io;
    virtual_time time(io);
    test_wait node;
    scheduler(io).schedule(node, time.now() + 1h);
    io.run(); // would last for an hour
    EXPECT_EQ(scheduler(io).pending(), 1u);
    scheduler(io).cancel(node);
}

TEST(virtual_time, looks_at_however_many_waits_for_the_next_one) {
    asio::io_context io;
    virtual_time time(io);
    time_point const begin = time.now();
    std::deque<test_wait> nodes(100);
    std::vector<duration> ends;
    for (std::size_t i = 0; i != nodes.size(); ++i) {
        nodes[i].expired = [&] { ends.push_back(time.now() - begin); };
        scheduler(io).schedule(nodes[i], begin + 1000h + i * 1s);
    }
    time.run();
    ASSERT_EQ(ends.size(), 100u);
    for (std::size_t i = 0; i != ends.size(); ++i)
        EXPECT_EQ(ends[i], 1000h + i * 1s);
}

TEST(virtual_time, does_not_go_back_where_a_handler_has_advanced_it) {
    asio::io_context io;
    virtual_time time(io);
    time_point const begin = time.now();
    test_wait node;
    node.expired = [&] { time.advance(2h); };
    scheduler(io).schedule(node, begin + 30min);
    time.advance(1h);
    EXPECT_EQ(time.now() - begin, 2h + 30min);
}

TEST(virtual_time, returns_how_many_handlers_ran) {
    asio::io_context io;
    virtual_time time(io);
    int left = 10;
    std::function<void()> const go_on = [&] {
        if (--left != 0)
            asio::post(io, go_on);
    };
    asio::post(io, go_on);
    EXPECT_EQ(time.advance(0s), 10u);
    EXPECT_EQ(time.advance(1h), 0u);
    for (int i = 0; i != 3; ++i)
        asio::post(io, [] {});
    EXPECT_EQ(time.jump(0s), 3u);
    asio::post(io, [] {});
    EXPECT_EQ(time.run(), 1u);
}

// The pause counted by the manual clock, which was ahead.
TEST(virtual_time, leaves_no_pause_behind_for_want_of_memory) {
    asio::io_context io;
    test_wait node;
    int tries = 0;
    node.expired = [&] { ++tries; };
    node.has_memory = false;
    {
        virtual_time time(io);
        time.advance(1000h);
        scheduler(io).schedule(node, time.now() + 1h);
        scheduler(io).end_early(node, io);
        io.restart();
        io.poll();
        EXPECT_EQ(tries, 1);
    }
    node.has_memory = true;
    io.restart();
    io.run(); // would last for 1000 hours
    EXPECT_EQ(tries, 2);
}

TEST(virtual_time, ends_with_the_next_step_what_there_was_no_memory_to_end_early) {
    asio::io_context io;
    virtual_time time(io);
    time_point const begin = time.now();
    test_wait node;
    int tries = 0;
    node.expired = [&] { node.has_memory = ++tries == 2; };
    scheduler(io).schedule(node, begin + 1h);
    scheduler(io).end_early(node, io);
    time.advance(0s);
    EXPECT_EQ(tries, 2);
    EXPECT_EQ(time.now(), begin);
}

TEST(virtual_time, leaves_behind_what_was_ended_early_and_has_not_run) {
    asio::io_context io;
    test_wait throwing, other;
    int ended = 0;
    throwing.expired = [] { throw std::runtime_error("a handler"); };
    other.expired = [&] { ++ended; };
    {
        virtual_time time(io);
        for (test_wait* const node : {&throwing, &other}) {
            scheduler(io).schedule(*node, time.now() + 1h);
            scheduler(io).end_early(*node, io);
        }
        EXPECT_THROW(time.run(), std::runtime_error);
        EXPECT_EQ(ended, 0);
    }
    io.restart();
    io.run();
    EXPECT_EQ(ended, 1);
}

TEST(virtual_time, has_one_thread_as_long_as_there_is_one) {
    asio::io_context io;
    {
        virtual_time const time(io);
        EXPECT_TRUE(scheduler(io).has_one_thread());
    }
    EXPECT_FALSE(scheduler(io).has_one_thread());
}

// Nothing that begins later is as late as the manual clock was ahead.
TEST(virtual_time, takes_back_how_far_it_has_come) {
    asio::io_context io;
    test_wait reached, later;
    {
        virtual_time time(io);
        scheduler(io).schedule(reached, time.now() + 1000h);
        time.run();
    }
    bool ended = false;
    later.expired = [&] { ended = true; };
    io.restart();
    scheduler(io).schedule(later, scheduler(io).now() + 1ms);
    io.run(); // would last for 1000 hours
    EXPECT_TRUE(ended);
}

TEST(virtual_time, is_kept_by_time_limits_too) {
    asio::io_context io;
    virtual_time time(io);
    auto const begin = time.now();
    pending_attempts attempts(io);
    completion_record record;
    async_retry(
        io, [&](auto token) { return attempts.async_attempt(std::move(token)); }, hourly().total_timeout(90min),
        record.handler());
    time.run();
    EXPECT_EQ(record.error, timed_out());
    EXPECT_EQ(time.now() - begin, 90min);
}

TEST(virtual_time, ends_its_run_when_the_context_is_stopped) {
    asio::io_context io;
    virtual_time time(io);
    int attempts = 0;
    auto const operation = [&] {
        if (++attempts == 3)
            io.stop();
        return error_code(asio::error::connection_refused);
    };
    async_retry(io, operation, retry_policy().backoff(constant(1h)).unlimited_attempts(), asio::detached);
    time.run();
    EXPECT_EQ(attempts, 3);
    time.advance(1h);
    EXPECT_EQ(attempts, 4) << "and goes on with the next";
}

} // namespace
} // namespace asio_retry::test
