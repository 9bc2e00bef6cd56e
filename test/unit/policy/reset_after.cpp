#include <asio_retry/async_pause.hpp>
#include <asio_retry/retry_policy.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/elements.hpp"
#include "support/in_virtual_time.hpp"
#include "support/script.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace asio_retry::test {
namespace {

/// 100, 200, 400 ms ...
retry_policy doubling_for_ever() {
    return retry_policy().backoff(exponential(100ms).cap(1h)).jitter(no_jitter()).unlimited_attempts();
}

// An attempt that lasted long enough is followed by the first delay, as if nothing had failed before.
TEST(reset_after, a_stable_attempt_resets_the_backoff) {
    machine_script script(doubling_for_ever().reset_after(10s));
    script.start();
    EXPECT_THAT(script.fail(1s), is_wait(100ms));
    script.wake(2s);
    EXPECT_THAT(script.fail(3s), is_wait(200ms));
    script.wake(4s);
    EXPECT_THAT(script.fail(14s), is_wait(100ms));
    script.wake(15s);
    EXPECT_THAT(script.fail(16s), is_wait(200ms));
}

// The jitter begins anew too: no delay of another outage is its previous one.
TEST(reset_after, a_stable_attempt_resets_the_jitter) {
    std::vector<duration> previous;
    auto const note = [&](backoff_step step, random&) {
        previous.push_back(step.previous);
        return step.ceiling;
    };
    machine_script script(doubling_for_ever().jitter(note).reset_after(10s));
    script.start();
    script.fail(1s);
    script.wake(2s);
    script.fail(3s);
    script.wake(4s);
    script.fail(14s);
    EXPECT_THAT(previous, elements(100ms, 100ms, 100ms));
}

// One nanosecond less is flapping.
TEST(reset_after, flapping_does_not_reset_the_backoff) {
    machine_script script(doubling_for_ever().reset_after(10s));
    script.start();
    script.fail(1s);
    script.wake(2s);
    EXPECT_THAT(script.fail(12s - 1ns), is_wait(200ms));

    machine_script without(doubling_for_ever());
    without.start();
    without.fail(1s);
    without.wake(2s);
    EXPECT_THAT(without.fail(1h), is_wait(200ms)) << "nothing resets it unasked";
}

// The attempts and the time of an outage are those since the connection was lost.
TEST(reset_after, limits_start_over) {
    machine_script script(doubling_for_ever().max_attempts(2).max_elapsed(5s).reset_after(10s));
    script.start();
    EXPECT_THAT(script.fail(1s), is_wait(100ms));
    script.wake(2s);
    EXPECT_THAT(script.fail(20s), is_wait(100ms));
    script.wake(21s);
    EXPECT_EQ(script.machine.current_attempt().number, 3u);
    EXPECT_THAT(script.fail(22s), is_completion(stop_reason::attempts, no_replacement));
}

// The total_timeout is that of the whole operation.
TEST(reset_after, total_timeout_does_not_start_over) {
    machine_script script(doubling_for_ever().total_timeout(30s).reset_after(10s));
    script.start();
    EXPECT_THAT(script.fail(29s), is_wait(100ms));
    EXPECT_EQ(script.limit(29s), 30s);
}

TEST(reset_after, health_counts_from_the_first_mark_of_the_attempt) {
    machine_script script(doubling_for_ever().reset_after(10s));
    script.machine.expect_marks();
    script.start();
    EXPECT_THAT(script.fail(1h), is_wait(100ms));
    script.wake(1h);
    EXPECT_THAT(script.fail(2h), is_wait(200ms)) << "an hour without a mark";
    script.wake(2h);
    script.machine.on_healthy(script.begin + 2h + 1s);
    script.machine.on_healthy(script.begin + 2h + 8s);
    EXPECT_THAT(script.fail(2h + 11s), is_wait(100ms));
    script.wake(3h);
    EXPECT_THAT(script.fail(4h), is_wait(200ms)) << "the mark was of the attempt before";
}

// The attempt at the edge was the last one of an outage that is over.
TEST(reset_after, lets_a_new_outage_have_its_retries_after_a_clamped_wait) {
    machine_script script(doubling_for_ever().max_elapsed(50ms).clamp().reset_after(10s));
    script.start();
    EXPECT_THAT(script.fail(), is_wait(50ms));
    EXPECT_THAT(script.wake(50ms), is_attempt());
    EXPECT_THAT(script.fail(1h), is_wait(50ms));
}

// What hangs until its time is up is not healthy, unless it said so.
TEST(reset_after, an_attempt_that_timed_out_is_no_good_connection) {
    machine_script script(doubling_for_ever().attempt_timeout(60s).reset_after(30s));
    script.start();
    EXPECT_THAT(script.expire(0s, 60s), is_wait(100ms));
    script.wake(61s);
    EXPECT_THAT(script.expire(61s, 121s), is_wait(200ms));

    machine_script marking(doubling_for_ever().attempt_timeout(60s).reset_after(30s));
    marking.machine.expect_marks();
    marking.start();
    marking.fail();
    marking.wake(1s);
    marking.machine.on_healthy(marking.begin + 2s);
    EXPECT_THAT(marking.expire(1s, 61s), is_wait(100ms));
}

TEST(reset_after, a_negative_duration_is_refused) {
    EXPECT_THROW((void)retry_policy().reset_after(-1ns), std::invalid_argument);
}

/// A connection that is lost again and again.
class reconnecting : public testing::Test, protected in_virtual_time {
protected:
    std::vector<duration> delays;

    /// For how long it connects, and for how long it is connected then.
    struct session {
        duration connecting;
        duration connected;
    };
    std::vector<session> sessions;
    std::size_t next = 0;

    asio::awaitable<void> wait(duration d) {
        co_await async_pause(co_await asio::this_coro::executor, d, asio::as_tuple(asio::use_awaitable));
    }

    retry_policy policy() {
        return doubling_for_ever().reset_after(10s).on_retry(
            [this](retry_event const& e) { delays.push_back(e.delay); });
    }
};

TEST_F(reconnecting, an_attempt_marks_its_health) {
    sessions = {{1min, 1s}, {1min, 1s}, {1min, 10s}, {1min, 9s}};
    auto const connection = [&](attempt a) -> asio::awaitable<void> {
        if (next == sessions.size())
            co_return;
        session const s = sessions[next++];
        co_await wait(s.connecting);
        a.mark_healthy();
        co_await wait(s.connected);
        throw boost::system::system_error(refused());
    };
    auto const expect_one_reset = [&](auto start) {
        next = 0;
        delays.clear();
        start();
        time.run();
        EXPECT_THAT(delays, elements(100ms, 200ms, 100ms, 200ms));
    };
    expect_one_reset([&] { async_retry(io, connection, policy(), asio::detached); });
    expect_one_reset([&] { async_retry(io, connection, policy().attempt_timeout(1h), asio::detached); });
    expect_one_reset([&] {
        asio::co_spawn(
            io, [&]() -> asio::awaitable<void> { co_await async_retry(connection, policy()); }, asio::detached);
    });
}

TEST_F(reconnecting, without_an_attempt_health_begins_with_the_attempt) {
    sessions = {{0s, 1s}, {0s, 1s}, {0s, 10s}, {0s, 9s}};
    auto const connection = [&]() -> asio::awaitable<void> {
        if (next == sessions.size())
            co_return;
        auto const lasts = sessions[next++].connected;
        co_await wait(lasts);
        throw boost::system::system_error(refused());
    };
    async_retry(io, connection, policy(), asio::detached);
    time.run();
    EXPECT_THAT(delays, elements(100ms, 200ms, 100ms, 200ms));
}

TEST(attempt, marks_nothing_outside_a_retry) {
    attempt const outside;
    outside.mark_healthy();
    EXPECT_EQ(outside.monitor, nullptr);
}

} // namespace
} // namespace asio_retry::test
