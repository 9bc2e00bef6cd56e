#include <asio_retry/retry_scope.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include "support/coroutine_ends.hpp"
#include "support/hooked_executor.hpp"
#include "support/in_virtual_time.hpp"
#include "support/script.hpp"
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
#include <thread>

namespace asio_retry::test {
namespace {

class retry_scope_drain : public testing::Test, protected in_virtual_time {
protected:
    std::optional<retry_scope> scope{std::in_place, io.get_executor()};
    pending_attempts attempts{io};
    script failing = script::failures(1000);
    completion_record waiting, running;
    bool is_awaited = false; // what runs
    struct {
        int count = 0;
        error_code error;
        std::size_t cancelled = 0;
        time_point at;
    } drained;

    void start_waiting(retry_scope& in) {
        async_retry(
            in, [this](auto token) { return async_scripted(io, failing, std::move(token)); },
            endless_every_100ms(), waiting.handler());
    }
    void start_running(retry_scope& in, retry_policy policy = endless_every_100ms()) {
        if (is_awaited) {
            await_attempts(io.get_executor(), attempts, policy, running, in);
            time.advance(0s);
        } else {
            async_retry(
                in, [this](auto token) { return attempts.async_attempt(std::move(token)); }, policy,
                running.handler());
        }
    }
    auto note_drain() {
        return [this](error_code ec, std::size_t cancelled) {
            ++drained.count;
            drained.error = ec;
            drained.cancelled = cancelled;
            drained.at = time.now();
        };
    }
};

/// Of what a handler or a coroutine waits for.
class retry_scope_drain_of : public retry_scope_drain, public testing::WithParamInterface<bool> {
protected:
    retry_scope_drain_of() { is_awaited = GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(forms, retry_scope_drain_of, testing::Bool());

TEST_P(retry_scope_drain_of, waits_end_now_and_attempts_may_finish) {
    start_waiting(*scope);
    start_running(*scope);
    time.advance(50ms);
    auto const began = time.now();
    scope->async_drain(5s, note_drain());
    EXPECT_EQ(waiting.count, 0) << "never completed inside";
    time.advance(0s);
    EXPECT_EQ(waiting.error, aborted());
    EXPECT_EQ(failing.attempts, 1u);
    EXPECT_TRUE(attempts.cancellations.empty());
    time.advance(4s);
    EXPECT_EQ(drained.count, 0);
    attempts.complete(error_code(), 7);
    time.run();
    EXPECT_FALSE(running.error);
    EXPECT_EQ(running.value, 7);
    EXPECT_EQ(drained.count, 1);
    EXPECT_FALSE(drained.error);
    EXPECT_EQ(drained.cancelled, 0u);
    EXPECT_EQ(drained.at - began, 4s) << "not later than the last operation";
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

// Without the drain there would have been another attempt.
TEST_F(retry_scope_drain, an_attempt_that_fails_meanwhile_is_not_retried) {
    retry_report report;
    async_retry(*scope,
                with_report([&](auto token) { return attempts.async_attempt(std::move(token)); }, report),
                endless_every_100ms(), running.handler());
    time.advance(0s);
    scope->async_drain(5s, note_drain());
    time.advance(1s);
    attempts.complete(refused());
    time.run();
    EXPECT_EQ(running.error, aborted());
    EXPECT_EQ(attempts.started, 1u);
    EXPECT_EQ(report.reason, stop_reason::cancelled);
    EXPECT_EQ(report.last_error, refused());
    EXPECT_EQ(drained.cancelled, 0u);
}

TEST_P(retry_scope_drain_of, what_runs_at_the_timeout_is_cancelled_and_counted) {
    retry_scope child(*scope);
    pending_attempts others(io);
    completion_record other;
    start_waiting(*scope);
    start_running(*scope);
    async_retry(
        child, [&](auto token) { return others.async_attempt(std::move(token)); }, endless_every_100ms(),
        other.handler());
    auto const began = time.now();
    scope->async_drain(5s, note_drain());
    time.advance(5s - 1ns);
    EXPECT_TRUE(attempts.cancellations.empty());
    time.run();
    EXPECT_THAT(attempts.cancellations, testing::ElementsAre(asio::cancellation_type::terminal));
    EXPECT_THAT(others.cancellations, testing::ElementsAre(asio::cancellation_type::terminal));
    EXPECT_EQ(running.error, aborted());
    EXPECT_EQ(other.error, aborted());
    EXPECT_EQ(drained.cancelled, 2u);
    EXPECT_FALSE(drained.error);
    EXPECT_EQ(drained.at - began, 5s);
    EXPECT_TRUE(scope->cancelled());
}

// The timeout comes again when there is memory to tell the others. What was stopped the first time counts too.
TEST_F(retry_scope_drain, counts_what_it_has_stopped_before_memory_ran_out) {
    std::function<void()> hook;
    pending_attempts others(io);
    completion_record other;
    start_running(*scope);
    async_retry(
        *scope, [&](auto token) { return others.async_attempt(std::move(token)); }, endless_every_100ms(),
        asio::bind_executor(hooked_executor(io.get_executor(), hook), other.handler()));
    scope->async_drain(5s, note_drain());
    hook = out_of_memory;
    EXPECT_THROW(time.run(), std::bad_alloc);
    io.restart();
    io.poll();
    EXPECT_EQ(running.error, aborted());
    EXPECT_EQ(drained.count, 0);
    hook = nullptr;
    time.run();
    EXPECT_EQ(other.error, aborted());
    EXPECT_EQ(drained.count, 1);
    EXPECT_EQ(drained.cancelled, 2u);
}

// Whoever was not told of the cancellation for want of memory is told of it by the next request, though that
// asks for less.
TEST_F(retry_scope_drain, after_a_cancellation_without_memory_cancels) {
    std::function<void()> hook = out_of_memory;
    async_retry(
        *scope, [&](auto token) { return attempts.async_attempt(std::move(token)); }, endless_every_100ms(),
        asio::bind_executor(hooked_executor(io.get_executor(), hook), running.handler()));
    EXPECT_THROW(scope->cancel(), std::bad_alloc);
    hook = nullptr;
    scope->async_drain(1h, note_drain());
    EXPECT_TRUE(scope->cancelled());
    time.advance(0s);
    EXPECT_EQ(running.error, aborted());
    EXPECT_EQ(drained.count, 1);
}

TEST_F(retry_scope_drain, a_cancellation_that_has_been_made_up_for_is_told_no_more) {
    std::function<void()> hook = out_of_memory;
    attempts.on_cancel = nullptr;
    async_retry(
        *scope, [&](auto token) { return attempts.async_attempt(std::move(token)); }, endless_every_100ms(),
        asio::bind_executor(hooked_executor(io.get_executor(), hook), running.handler()));
    EXPECT_THROW(scope->cancel(), std::bad_alloc);
    hook = nullptr;
    scope->async_drain(1h, note_drain()); // makes up for it
    time.advance(0s);
    scope->async_drain(1h, note_drain());
    time.advance(0s);
    EXPECT_EQ(attempts.cancellations.size(), 1u);
    scope.reset(); // whose destructor repeats nothing
    time.advance(0s);
    EXPECT_EQ(attempts.cancellations.size(), 1u);
    attempts.complete(aborted());
    time.run();
}

TEST_P(retry_scope_drain_of, does_not_count_what_was_stopped_before) {
    retry_scope child(*scope);
    start_running(child);
    child.cancel();
    time.advance(0s);
    EXPECT_EQ(running.error, aborted());
    start_running(*scope);
    scope->async_drain(1s, note_drain());
    time.run();
    EXPECT_EQ(drained.count, 1);
    EXPECT_EQ(drained.cancelled, 1u);
}

TEST_F(retry_scope_drain, does_not_count_an_attempt_that_its_caller_had_told) {
    asio::cancellation_signal signal;
    attempts.on_cancel = nullptr;
    async_retry(
        *scope, [this](auto token) { return attempts.async_attempt(std::move(token)); }, endless_every_100ms(),
        asio::bind_cancellation_slot(signal.slot(), running.handler()));
    signal.emit(asio::cancellation_type::terminal);
    scope->async_drain(1s, note_drain());
    time.advance(2s);
    attempts.complete(aborted());
    time.run();
    EXPECT_EQ(drained.count, 1);
    EXPECT_EQ(drained.cancelled, 0u);
}

TEST_F(retry_scope_drain, does_not_count_waits_that_it_has_cut_short) {
    for (int i = 0; i != 10; ++i)
        start_waiting(*scope);
    time.advance(10ms);
    scope->async_drain(0s, note_drain());
    time.run();
    EXPECT_EQ(waiting.count, 10);
    EXPECT_EQ(drained.count, 1);
    EXPECT_EQ(drained.cancelled, 0u);
}

// It waits for an attempt that does not stop at once.
TEST_P(retry_scope_drain_of, ends_when_the_last_attempt_has_acknowledged) {
    attempts.on_cancel = nullptr;
    start_running(*scope);
    scope->async_drain(1s, note_drain());
    time.run();
    EXPECT_EQ(attempts.cancellations.size(), 1u);
    EXPECT_EQ(drained.count, 0);
    attempts.complete(error_code(), 7);
    time.run();
    EXPECT_EQ(running.value, 7);
    EXPECT_EQ(drained.count, 1);
    EXPECT_EQ(drained.cancelled, 1u);
}

TEST_P(retry_scope_drain_of, nothing_begins_afterwards) {
    scope->async_drain(5s, note_drain());
    start_waiting(*scope);
    retry_scope late(*scope);
    start_running(late);
    time.run();
    EXPECT_EQ(waiting.error, aborted());
    EXPECT_EQ(running.error, aborted());
    EXPECT_EQ(failing.attempts, 0u);
    EXPECT_EQ(attempts.started, 0u);
    EXPECT_EQ(drained.count, 1);
    EXPECT_FALSE(scope->cancelled());
}

TEST_P(retry_scope_drain_of, cancel_comes_on_top) {
    start_running(*scope);
    scope->async_drain(5s, note_drain());
    time.advance(1s);
    scope->cancel();
    time.run();
    EXPECT_EQ(attempts.cancellations.size(), 1u);
    EXPECT_EQ(running.error, aborted());
    EXPECT_EQ(drained.cancelled, 0u) << "not by the drain";
    EXPECT_EQ(time.now() - drained.at, 0s);
    EXPECT_EQ(scheduler(io).pending(), 0u) << "its timeout has gone";
}

TEST_P(retry_scope_drain_of, can_be_cancelled_itself) {
    asio::cancellation_signal signal;
    start_running(*scope);
    scope->async_drain(5s, asio::bind_cancellation_slot(signal.slot(), note_drain()));
    time.advance(1s);
    signal.emit(asio::cancellation_type::total);
    time.run();
    EXPECT_EQ(drained.error, aborted());
    EXPECT_TRUE(attempts.cancellations.empty());
    EXPECT_EQ(scheduler(io).pending(), 0u);
    attempts.complete(refused());
    time.run();
    EXPECT_EQ(running.error, aborted()) << "and still nothing begins";
    EXPECT_EQ(attempts.started, 1u);
}

TEST_F(retry_scope_drain, awaited_and_with_an_empty_scope) {
    bool done = false;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            EXPECT_EQ(co_await scope->async_drain(5s), 0u);
            done = true;
        },
        asio::detached);
    time.run();
    EXPECT_TRUE(done);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_P(retry_scope_drain_of, outlives_the_scope) {
    start_running(*scope);
    attempts.on_cancel = nullptr;
    scope->async_drain(5s, note_drain());
    scope.reset();
    time.run();
    attempts.complete(refused());
    time.run();
    EXPECT_EQ(running.error, aborted());
    EXPECT_EQ(drained.count, 1);
}

// Nothing had told it to stop.
TEST_F(retry_scope_drain, is_not_what_the_report_of_a_failed_attempt_blames) {
    for (bool const cancelled : {false, true}) {
        scope.emplace(io.get_executor());
        retry_report report;
        async_retry(*scope,
                    with_report([&](auto token) { return attempts.async_attempt(std::move(token)); }, report),
                    endless_every_100ms(), running.handler());
        scope->async_drain(5s, note_drain());
        time.advance(0s);
        if (cancelled)
            scope->cancel();
        else
            attempts.complete(aborted()); // closed elsewhere
        time.run();
        EXPECT_EQ(report.history.back().stopped, cancelled ? interruption::cancellation : interruption::none);
        EXPECT_EQ(report.reason, stop_reason::cancelled);
    }
}

TEST_P(retry_scope_drain_of, is_not_needed_for_a_cancellation_to_stop_an_attempt_that_fails_before_its_notice) {
    auto stopped = interruption::none;
    start_running(*scope, endless_every_100ms().on_give_up([&](retry_event const& e) { stopped = e.stopped; }));
    attempts.complete(refused());
    scope->cancel();
    time.run();
    EXPECT_EQ(stopped, interruption::cancellation);
}

TEST_F(retry_scope_drain, goes_together_with_the_slot_of_an_operation) {
    asio::cancellation_signal signal;
    async_retry(
        *scope, [this](auto token) { return attempts.async_attempt(std::move(token)); }, endless_every_100ms(),
        asio::bind_cancellation_slot(signal.slot(), running.handler()));
    scope->async_drain(5s, note_drain());
    time.advance(1s);
    signal.emit(asio::cancellation_type::partial);
    time.run();
    EXPECT_THAT(attempts.cancellations, testing::ElementsAre(asio::cancellation_type::partial));
    EXPECT_EQ(running.error, aborted());
    EXPECT_EQ(drained.cancelled, 0u);
}

// --- requests that follow one another before the operation has heard of the first

TEST_P(retry_scope_drain_of, cancel_right_after_it_counts) {
    start_running(*scope);
    scope->async_drain(5s, note_drain());
    scope->cancel();
    time.advance(0s);
    EXPECT_EQ(attempts.cancellations.size(), 1u);
}

TEST_P(retry_scope_drain_of, lesser_requests_right_after_a_greater_one_do_not_replace_it) {
    start_running(*scope);
    scope->cancel();
    scope->retry_now();
    scope->async_drain(5s, note_drain());
    time.advance(0s);
    EXPECT_EQ(attempts.cancellations.size(), 1u);
    EXPECT_EQ(running.error, aborted());
}

TEST_P(retry_scope_drain_of, right_after_a_cancellation_counts_what_has_not_ended) {
    attempts.on_cancel = nullptr;
    start_running(*scope);
    scope->async_drain(0s, note_drain());
    for (int i = 0; i != 3; ++i)
        scope->retry_now(); // the notice is under way
    time.run();
    attempts.complete(refused());
    time.run();
    EXPECT_EQ(drained.cancelled, 1u);
}

// --- what is left of joins and drains that are over

TEST_F(retry_scope_drain, decision_18_late_emits_do_nothing) {
    asio::cancellation_signal joining, draining;
    int joined = 0;
    start_waiting(*scope);
    scope->async_join(asio::bind_cancellation_slot(joining.slot(), [&](error_code ec) { joined += !ec; }));
    scope->async_drain(5s, asio::bind_cancellation_slot(draining.slot(), note_drain()));
    time.run();
    scope.reset();
    for (int i = 0; i != 2; ++i) {
        joining.emit(asio::cancellation_type::terminal);
        draining.emit(asio::cancellation_type::terminal);
    }
    time.run();
    EXPECT_EQ(joined, 1);
    EXPECT_EQ(drained.count, 1);
    EXPECT_FALSE(drained.error);
}

// A scope may not outlive its context, but their handlers may, on another one.
TEST(retry_scope_drains, have_handlers_that_may_outlive_the_context_of_the_scope) {
    asio::io_context other;
    int joined = 0, drained = 0;
    {
        asio::io_context io;
        retry_scope scope(asio::make_strand(io));
        async_retry(scope, [] { return error_code(); }, endless_every_100ms(), [](error_code) {});
        scope.async_join(asio::bind_executor(other, [&](error_code ec) { joined += !ec; }));
        scope.async_drain(5s, asio::bind_executor(other, [&](error_code ec, std::size_t) { drained += !ec; }));
        io.run();
    }
    EXPECT_EQ(joined + drained, 0);
    other.run();
    EXPECT_EQ(joined, 1);
    EXPECT_EQ(drained, 1);
}

TEST(retry_scope_drains, keep_the_context_of_their_handler_running) {
    asio::io_context io, other;
    retry_scope scope(io.get_executor());
    bool drained = false;
    pending_attempts attempts(io);
    attempts.on_cancel = nullptr;
    async_retry(
        scope, [&](auto token) { return attempts.async_attempt(std::move(token)); }, endless_every_100ms(),
        asio::detached);
    scope.async_drain(0s, asio::bind_executor(other, [&](error_code, std::size_t) { drained = true; }));
    other.poll();
    EXPECT_FALSE(other.stopped());
    attempts.complete(error_code());
    io.run();
    other.run();
    EXPECT_TRUE(drained);
}

TEST_F(retry_scope_drain, negative_timeout_is_refused) {
    EXPECT_THROW((void)scope->async_drain(-1ns), std::invalid_argument);
}

TEST(retry_scope_drains, of_a_destroyed_context_are_destroyed_uncalled) {
    auto const held = std::make_shared<int>();
    int calls = 0;
    for (bool const expired : {false, true}) {
        asio::io_context io;
        retry_scope scope(io.get_executor());
        pending_attempts attempts(io);
        attempts.on_cancel = nullptr;
        async_retry(
            scope, [&](auto token) { return attempts.async_attempt(std::move(token)); }, endless_every_100ms(),
            [held, &calls](error_code, int) { ++calls; });
        scope.async_drain(expired ? 0s : 1h, [held, &calls](error_code, std::size_t) { ++calls; });
        io.poll();
        EXPECT_EQ(held.use_count(), 3);
    }
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(calls, 0);
}

// The timeout and the end of the last operation meet on two threads.
TEST(retry_scope_drains, on_two_threads) {
    for (int round = 0; round != 200; ++round) {
        asio::thread_pool pool(2);
        retry_scope scope(pool.get_executor());
        std::atomic<int> ended = 0, drained = 0;
        auto const policy = retry_policy().backoff(constant(20us)).unlimited_attempts();
        for (int i = 0; i != 10; ++i)
            async_retry(
                scope, refusing_operation(), policy,
                asio::bind_executor(asio::make_strand(pool), [&](error_code ec) { ended += ec == aborted(); }));
        std::thread other([&] {
            scope.retry_now();
            scope.async_drain(std::chrono::microseconds(round),
                              [&](error_code ec, std::size_t) { drained += !ec; });
        });
        scope.retry_now();
        other.join();
        pool.join();
        EXPECT_EQ(ended, 10);
        EXPECT_EQ(drained, 1);
        EXPECT_EQ(scope.pending(), 0u);
    }
}

} // namespace
} // namespace asio_retry::test
