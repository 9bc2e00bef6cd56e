// What schemes say of how an operation runs, begins and ends, and not of how long it waits.
#include "schemes/scheme.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/profiles.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/elements.hpp"
#include "support/in_virtual_time.hpp"
#include "support/manual_waits.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>

#include <stdexcept>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

using profiles::go_backoff;
using testing::Each;
using testing::ElementsAre;

/// 500, 750, 1125, 1687.5 ... ms
retry_policy go_without_jitter() {
    profiles::go_backoff_options options;
    options.randomization_factor = 0;
    return go_backoff(options);
}

TEST(scheme_A4, the_blocking_form_makes_its_attempts_and_waits_on_the_thread_that_calls) {
    manual_waits waits;
    auto const caller = std::this_thread::get_id();
    std::vector<bool> called_there;
    auto const operation = [&] {
        called_there.push_back(std::this_thread::get_id() == caller);
        return called_there.size() == 13 ? error_code() : refusal();
    };
    EXPECT_EQ(retry(operation, profiles::scala_timer(), waits), error_code());
    EXPECT_THAT(called_there, testing::AllOf(testing::SizeIs(13), Each(true)));
    EXPECT_EQ(waits.delays.size(), 12u);
}

// The waits belong to one context and the attempts to another: whoever runs the timer runs no attempt.
TEST(scheme_A4, the_context_of_the_timer_starts_attempts_and_runs_none) {
    asio::io_context timers, worker;
    virtual_time time(timers);
    time_point const begin = time.now();
    auto const in = [](asio::io_context& io) { return io.get_executor().running_in_this_thread(); };
    std::vector<bool> in_worker, in_timers;
    completion_record record;
    auto const operation = [&] {
        in_worker.push_back(in(worker));
        in_timers.push_back(in(timers));
        return in_worker.size() == 13 ? error_code() : refusal();
    };
    auto const done = [&](error_code ec) { record.handler()(ec, in(worker)); };
    asio::post(worker, [&] {
        async_retry(timers, operation, profiles::scala_timer(), asio::bind_executor(worker, done));
    });
    for (int turns = 0; record.count == 0 && turns != 100; ++turns) {
        worker.restart();
        worker.poll();
        time.run();
    }
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.error, error_code());
    EXPECT_TRUE(record.value) << "the handler runs there too";
    EXPECT_THAT(in_worker, testing::AllOf(testing::SizeIs(13), Each(true)));
    EXPECT_THAT(in_timers, Each(false));
    EXPECT_GT(time.now(), begin);
}

TEST(scheme_F5, a_permanent_error_is_found_through_wrapping_and_the_inner_one_comes_out) {
    manual_waits waits;
    int calls = 0;
    auto const operation = [&] {
        ++calls;
        try {
            throw permanent(std::out_of_range("no such user"));
        } catch (...) {
            std::throw_with_nested(std::runtime_error("while reading"));
        }
    };
    EXPECT_THROW(retry(operation, go_backoff(), waits), std::out_of_range);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(waits.delays.size(), 0u);
}

TEST(scheme_F5, the_last_result_comes_with_the_inner_error) {
    asio::io_context io;
    virtual_time time(io);
    script played{{refusal(), permanent(error_code(asio::error::access_denied))}};
    completion_record record;
    async_retry(
        io, [&](auto token) { return async_scripted(io, played, std::move(token)); }, go_backoff(),
        record.handler());
    time.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.error, asio::error::access_denied);
    EXPECT_EQ(record.value, 2) << "that of the second attempt";
}

TEST(scheme_F7, one_attempt_is_made_however_short_the_time) {
    profiles::go_backoff_options options;
    options.max_elapsed_time = 1ns;
    manual_waits waits;
    int calls = 0;
    auto const operation = [&] {
        ++calls;
        waits.time += 1h;
        return refusal();
    };
    EXPECT_EQ(retry(operation, go_backoff(options), waits), refusal());
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(retry(operation, go_backoff().max_attempts(1), waits), refusal());
    EXPECT_EQ(calls, 2);
}

// There it is made even then.
TEST(scheme_F7, cancelled_before_the_start_it_makes_none) {
    asio::io_context io;
    virtual_time time(io);
    int calls = 0;
    auto const operation = [&] {
        ++calls;
        return error_code();
    };
    retry_scope scope(io);
    scope.cancel();
    error_code error;
    async_retry(scope, operation, go_backoff(), [&](error_code ec) { error = ec; });
    time.run();
    EXPECT_EQ(error, aborted());

    manual_waits waits;
    waits.stop = true;
    EXPECT_EQ(retry(operation, go_backoff(), waits), aborted());
    EXPECT_EQ(calls, 0);
}

/// An operation in a scope within a scope, as a call has its context from that of a request.
class scheme_F8 : public testing::Test, protected in_virtual_time {
protected:
    pending_attempts attempts{io};
    completion_record record;

    void start(retry_scope& scope) {
        async_retry(
            scope, [this](auto token) { return attempts.async_attempt(std::move(token)); }, go_without_jitter(),
            record.handler());
        time.advance(0s);
    }
    void start_and_fail(retry_scope& scope) {
        start(scope);
        attempts.complete(refused());
    }
    void expect_end(error_code ec, std::size_t started, duration elapsed) {
        EXPECT_EQ(record.count, 1);
        EXPECT_EQ(record.error, ec);
        EXPECT_EQ(attempts.started, started);
        EXPECT_EQ(time.now() - begin, elapsed);
        EXPECT_EQ(scheduler(io).pending(), 0u);
    }
};

TEST_F(scheme_F8, an_outer_cancellation_ends_an_attempt_of_an_inner_context) {
    retry_scope request(io), call(request);
    start(call);
    request.cancel();
    time.run();
    expect_end(aborted(), 1, 0s);
}

TEST_F(scheme_F8, an_outer_cancellation_ends_a_wait_of_an_inner_context) {
    retry_scope request(io), call(request);
    start_and_fail(call);
    time.advance(499ms);
    request.cancel();
    time.run();
    expect_end(aborted(), 1, 499ms);
}

TEST_F(scheme_F8, an_outer_deadline_ends_an_attempt_of_an_inner_context) {
    retry_scope request(io, begin + 1s), call(request, begin + 1h);
    start_and_fail(call);
    time.run();
    expect_end(timed_out(), 2, 1s);
}

// There the wait lasts until the deadline. Nothing would come of it, so ours is not begun.
TEST_F(scheme_F8, an_outer_deadline_ends_a_wait_of_an_inner_context_before_it_begins) {
    retry_scope request(io, begin + 499ms), call(request, begin + 1h);
    start_and_fail(call);
    time.run();
    expect_end(refused(), 1, 0s);
}

TEST_F(scheme_F8, an_inner_cancellation_leaves_the_outer_context_alone) {
    retry_scope request(io), call(request);
    call.cancel();
    start(call);
    expect_end(aborted(), 0, 0s);
    start(request);
    EXPECT_EQ(attempts.started, 1u);
    attempts.complete({}, 7);
    time.run();
    EXPECT_EQ(record.value, 7);
}

// A quarter of an hour of either clock.
TEST(scheme_F9, clock_and_timer_are_those_of_the_test) {
    constexpr duration published = 848'746'337'887ns;
    asio::io_context io;
    virtual_time time(io);
    time_point const begin = time.now();
    script played = script::failures(1'000);
    completion_record record;
    async_retry(
        io, [&](auto token) { return async_scripted(io, played, std::move(token)); }, go_without_jitter(),
        record.handler());
    time.run();
    EXPECT_EQ(record.error, refused());
    EXPECT_EQ(played.attempts, 25u);
    EXPECT_EQ(time.now() - begin, published);

    manual_waits waits;
    time_point const begin_of_blocking = waits.now();
    EXPECT_EQ(retry([] { return refusal(); }, go_without_jitter(), waits), refusal());
    EXPECT_EQ(waits.delays.size(), 24u);
    EXPECT_EQ(waits.now() - begin_of_blocking, published);
}

class scheme_F10 : public testing::Test, protected in_virtual_time {
protected:
    std::vector<duration> ticks;
    std::vector<error_code> ends;

    void follow(backoff_ticker& ticker) {
        ticker.async_wait([this, &ticker](error_code ec) {
            if (ec)
                return ends.push_back(ec);
            ticks.push_back(time.now() - begin);
            follow(ticker);
        });
    }
};

TEST_F(scheme_F10, ticks_at_once_and_then_at_the_delays_m_plus_1_times) {
    backoff_ticker ticker(io, go_without_jitter().max_attempts(3 + 1));
    follow(ticker);
    time.run();
    EXPECT_THAT(ticks, elements(0ms, 500ms, 1'250ms, 2'375ms));
    EXPECT_THAT(ends, ElementsAre(error_code(error::exhausted)));
}

TEST_F(scheme_F10, stop_is_idempotent) {
    backoff_ticker ticker(io, go_without_jitter());
    follow(ticker);
    time.advance(600ms);
    ticker.stop();
    ticker.stop();
    time.run();
    ticker.stop();
    time.run();
    EXPECT_THAT(ticks, elements(0ms, 500ms));
    EXPECT_THAT(ends, ElementsAre(aborted()));
    EXPECT_EQ(time.now() - begin, 600ms);
}

} // namespace
} // namespace asio_retry::test
