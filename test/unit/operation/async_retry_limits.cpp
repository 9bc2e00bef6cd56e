#include <asio_retry/async_retry.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/coroutine_ends.hpp"
#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class async_retry_limit : public testing::Test, protected in_virtual_time {
protected:
    pending_attempts attempts{io};
    completion_record record;
    std::vector<stop_reason> reasons;

    retry_policy noting_its_end(retry_policy const& policy) {
        return policy.on_give_up([this](stop_reason r) { reasons.push_back(r); });
    }

    void expect_timed_out(std::size_t started, duration after, stop_reason why) {
        time.run();
        EXPECT_EQ(record.error, timed_out());
        EXPECT_EQ(attempts.started, started);
        EXPECT_EQ(time.now() - begin, after);
        EXPECT_THAT(reasons, testing::ElementsAre(why));
    }

    void TearDown() override {
        EXPECT_EQ(record.count, 1);
        EXPECT_EQ(scheduler(io).pending(), 0u);
    }
};

/// Whoever awaits attempts: a handler, or a coroutine on one thread, on a strand, or on an executor that does
/// not say whether it runs one function at a time.
enum class awaited_on { nothing, one_thread, strand, unknown };

class async_retry_limit_of : public async_retry_limit, public testing::WithParamInterface<awaited_on> {
protected:
    void start(retry_policy const& given) {
        retry_policy const policy = noting_its_end(given);
        auto const await = [&](auto const& on) { await_attempts(on, attempts, policy, record); };
        switch (GetParam()) {
        case awaited_on::nothing:
            async_retry(
                io, [this](auto token) { return attempts.async_attempt(std::move(token)); }, policy,
                record.handler());
            break;
        case awaited_on::one_thread:
            await(io.get_executor());
            break;
        case awaited_on::strand:
            await(asio::make_strand(io));
            break;
        case awaited_on::unknown:
            await(asio::require(io.get_executor(), asio::execution::blocking.never));
        }
        time.advance(0s);
    }
};

// Decision 10: the attempt timeout ends one attempt, which may be retried.
TEST_P(async_retry_limit_of, decision_10_attempt_timeout_ends_one_attempt) {
    start(every_100ms().attempt_timeout(1s));
    time.advance(1s);
    EXPECT_EQ(attempts.cancellations.size(), 1u);
    time.advance(100ms);
    EXPECT_EQ(attempts.started, 2u);
    attempts.complete({}, 5);
    time.run();
    EXPECT_FALSE(record.error);
    EXPECT_EQ(record.value, 5);
    EXPECT_EQ(time.now() - begin, 1100ms);
}

TEST_P(async_retry_limit_of, decision_10_attempt_timeout_exhausted_reports_timed_out) {
    start(every_100ms().attempt_timeout(1s));
    expect_timed_out(3, 3200ms, stop_reason::attempts);
}

TEST_P(async_retry_limit_of, decision_10_total_timeout_ends_the_operation) {
    start(every_100ms().total_timeout(1s));
    expect_timed_out(1, 1s, stop_reason::deadline);
}

TEST_P(async_retry_limit_of, both_timeouts_the_earlier_one_counts) {
    start(every_100ms().unlimited_attempts().attempt_timeout(300ms).total_timeout(1s));
    expect_timed_out(3, 1s, stop_reason::deadline); // at 0, 400 and 800 ms; the third one has 200 ms left
}

// Decision 8: a deadline already passed at the start: no attempt.
TEST_P(async_retry_limit_of, decision_8_deadline_passed_at_the_start) {
    start(every_100ms().deadline(time.now() - 1s));
    EXPECT_EQ(attempts.started, 0u);
    time.run();
    EXPECT_EQ(record.error, timed_out());
    EXPECT_THAT(reasons, testing::ElementsAre(stop_reason::deadline));
}

// Decision 12: a success wins over a deadline that passes meanwhile.
TEST_P(async_retry_limit_of, decision_12_success_wins_over_the_deadline) {
    attempts.on_cancel = [](pending_attempts& self, asio::cancellation_type_t) { self.complete({}, 9); };
    start(every_100ms().deadline(time.now() + 1s));
    time.run();
    EXPECT_FALSE(record.error);
    EXPECT_EQ(record.value, 9);
}

TEST_P(async_retry_limit_of, success_queued_behind_the_timeout_notice_wins) {
    start(every_100ms().attempt_timeout(1s));
    time.advance(999ms);
    attempts.complete({}, 4); // queued before the limit is reached
    time.run();
    EXPECT_FALSE(record.error);
    EXPECT_EQ(record.value, 4);
    EXPECT_TRUE(attempts.cancellations.empty());
}

// The attempt has ended when the notice of its limit arrives, which must not reach the next one.
TEST_P(async_retry_limit_of, decision_12_a_failure_queued_behind_the_timeout_notice_is_retried) {
    start(every_100ms().backoff(constant(0s)).attempt_timeout(1s));
    time.advance(1s - 1ns);
    attempts.complete(refused());
    time.advance(1ns);
    EXPECT_EQ(attempts.started, 2u);
    EXPECT_TRUE(attempts.cancellations.empty());
    attempts.complete({});
    time.run();
    EXPECT_FALSE(record.error);
}

TEST_F(async_retry_limit, a_failure_before_the_notice_of_the_timeout_is_none) {
    asio::io_context other;
    async_retry(
        io, [this](auto token) { return attempts.async_attempt(std::move(token)); },
        every_100ms(1).attempt_timeout(1s), asio::bind_executor(other, record.handler()));
    attempts.complete(refused());
    time.advance(1s);
    other.run();
    EXPECT_EQ(record.error, refused());
}

TEST_F(async_retry_limit, what_an_attempt_left_in_its_slot_is_not_told_of_the_next_timeout) {
    for (bool const ends_when_told : {false, true}) {
        record.count = 0;
        int number = 0, told = 0;
        std::function<void()> complete;
        auto const operation = [&](auto token) {
            return asio::async_initiate<decltype(token), void(error_code, int)>(
                [&](auto handler) {
                    auto slot = asio::get_associated_cancellation_slot(handler);
                    auto const shared = std::make_shared<decltype(handler)>(std::move(handler));
                    complete = [shared] { std::move (*shared)(refused(), 0); };
                    if (++number == 1)
                        slot.assign([&](asio::cancellation_type_t) {
                            ++told;
                            complete();
                        });
                },
                token);
        };
        async_retry(io, operation, every_100ms(2).attempt_timeout(1s), record.handler());
        if (!ends_when_told)
            complete();
        time.advance(3s);
        EXPECT_EQ(told, ends_when_told ? 1 : 0);
        EXPECT_EQ(number, 2);
        if (record.count == 0)
            complete();
        time.run();
    }
}

TEST_P(async_retry_limit_of, attempt_that_ignores_its_timeout_is_waited_for) {
    attempts.on_cancel = nullptr;
    start(every_100ms().attempt_timeout(1s));
    time.advance(5s);
    EXPECT_EQ(attempts.started, 1u);
    EXPECT_EQ(record.count, 0);
    attempts.complete(refused());
    time.advance(100ms);
    EXPECT_EQ(attempts.started, 2u);
    attempts.complete({});
    time.run();
    EXPECT_FALSE(record.error);
}

// Decision 7: when the next delay would end after the deadline, stop now with the last real error.
TEST(async_retry_limits, decision_7_no_wait_that_would_end_after_the_deadline) {
    for (bool const clamped : {false, true}) {
        asio::io_context io;
        virtual_time time(io);
        auto const begin = time.now();
        script played = script::failures(100);
        completion_record record;
        auto policy = every_100ms().unlimited_attempts().total_timeout(250ms);
        if (clamped)
            policy = policy.clamp();
        async_retry(
            io, [&](auto token) { return async_inline(played, std::move(token)); }, policy, record.handler());
        time.run();
        EXPECT_EQ(record.error, refused());
        EXPECT_EQ(played.attempts, clamped ? 4u : 3u);
        EXPECT_EQ(time.now() - begin, clamped ? 245ms : 200ms);
    }
}

// Decision 9: elapsed time includes the attempts, and the delay starts when the attempt completed.
TEST_P(async_retry_limit_of, decision_9_elapsed_includes_attempts_and_delay_starts_at_completion) {
    start(every_100ms().unlimited_attempts().max_elapsed(1s));
    time.advance(500ms);
    attempts.complete(refused());
    time.advance(99ms);
    EXPECT_EQ(attempts.started, 1u);
    time.advance(1ms);
    EXPECT_EQ(attempts.started, 2u);
    time.advance(5s);
    EXPECT_TRUE(attempts.cancellations.empty()) << "max_elapsed interrupts nothing";
    attempts.complete(refused());
    time.run();
    EXPECT_EQ(record.error, refused());
    EXPECT_THAT(reasons, testing::ElementsAre(stop_reason::elapsed));
}

INSTANTIATE_TEST_SUITE_P(forms, async_retry_limit_of,
                         testing::Values(awaited_on::nothing, awaited_on::one_thread, awaited_on::strand,
                                         awaited_on::unknown));

asio::awaitable<int> hang(int& calls) {
    ++calls;
    asio::steady_timer timer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    co_await timer.async_wait(asio::use_awaitable);
    co_return 0;
}

// Decision 15: a coroutine that is told to stop before it began does not begin.
TEST(async_retry_limits, decision_15_awaitable_attempt_cancelled_before_its_coroutine_begins) {
    for (bool const by_scope : {false, true}) {
        asio::io_context io;
        virtual_time time(io);
        retry_scope scope(io.get_executor());
        asio::cancellation_signal signal;
        int calls = 0, completions = 0;
        error_code result;
        async_retry(
            scope, [&] { return hang(calls); }, every_100ms(),
            asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e, int) {
                ++completions;
                result = code_of(e);
            }));
        if (by_scope)
            scope.cancel();
        else
            signal.emit(asio::cancellation_type::terminal);
        time.run();
        EXPECT_EQ(calls, 0);
        EXPECT_EQ(completions, 1);
        EXPECT_EQ(result, aborted());
    }
}

TEST(async_retry_limits, awaitable_attempt_with_a_callback_under_a_total_timeout) {
    asio::io_context io;
    virtual_time time(io);
    auto const begin = time.now();
    int calls = 0;
    error_code result;
    async_retry(
        io, [&] { return hang(calls); }, every_100ms().total_timeout(700ms),
        [&](std::exception_ptr e, int) { result = code_of(e); });
    time.run();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(result, timed_out());
    EXPECT_EQ(time.now() - begin, 700ms);
}

} // namespace
} // namespace asio_retry::test
