#include <asio_retry/backoff_ticker.hpp>

#include <asio_retry/retry_gate.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/counting_allocator.hpp"
#include "support/elements.hpp"
#include "support/hooked_executor.hpp"
#include "support/in_virtual_time.hpp"
#include "support/refuses.hpp"
#include "support/scripted_operation.hpp"
#include "support/tracking_executor.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

error_code exhausted() {
    return error::exhausted;
}

/// 100, 200, 400, 500, 500 ... ms
retry_policy growing() {
    return retry_policy().backoff(exponential(100ms).cap(500ms)).jitter(no_jitter()).unlimited_attempts();
}

struct counting_gate final : retry_gate {
    int left = 0;
    int held = 0;
    bool acquire(failure_kind, time_point) noexcept override {
        if (left == 0)
            return false;
        --left;
        return ++held > 0;
    }
    void give_back(failure_kind) noexcept override {
        ++left;
        --held;
    }
};

class ticker_test : public testing::Test, protected in_virtual_time {
protected:
    std::vector<duration> ticks; // when they came
    std::optional<error_code> last;
    std::vector<stop_reason> reasons;

    retry_policy noting(retry_policy const& policy) {
        return policy.on_give_up([this](stop_reason r) { reasons.push_back(r); });
    }

    auto note() {
        return [this](error_code ec) {
            last = ec;
            if (!ec)
                ticks.push_back(time.now() - begin);
        };
    }

    /// Ticks until there is an error.
    void follow(backoff_ticker& ticker) {
        ticker.async_wait([this, &ticker](error_code ec) {
            note()(ec);
            if (!ec)
                follow(ticker);
        });
    }

    /// Waits for one tick, and returns how that ended.
    error_code wait(backoff_ticker& ticker) {
        last.reset();
        ticker.async_wait(note());
        time.run();
        EXPECT_TRUE(last.has_value());
        return last.value_or(error_code());
    }

    void TearDown() override { EXPECT_EQ(scheduler(io).pending(), 0u); }
};

TEST(decision_40, an_empty_executor_is_refused_by_a_ticker) {
    auto const make = [] { backoff_ticker ticker{asio::any_io_executor(), retry_policy()}; };
    EXPECT_THAT(make,
                refuses("asio_retry: backoff_ticker.executor = empty: must belong to an execution context"));
}

TEST_F(ticker_test, ticks_at_once_and_then_at_the_delays) {
    backoff_ticker ticker(io, growing());
    follow(ticker);
    EXPECT_THAT(ticks, IsEmpty()) << "never inside the initiating function";
    time.advance(1800ms);
    EXPECT_THAT(ticks, elements(0ms, 100ms, 300ms, 700ms, 1200ms, 1700ms));
    ticker.stop();
    time.run();
}

TEST_F(ticker_test, the_delay_counts_from_the_call_that_waits) {
    backoff_ticker ticker(io, growing());
    EXPECT_FALSE(wait(ticker));
    time.advance(1h);
    EXPECT_FALSE(wait(ticker));
    time.advance(1h);
    EXPECT_FALSE(wait(ticker));
    EXPECT_THAT(ticks, elements(0ms, 1h + 100ms, 2h + 300ms));
}

TEST_F(ticker_test, its_delays_are_drawn_from_the_seeded_streams_of_the_context) {
    backoff_ticker ticker(io, retry_policy().backoff(constant(1h)).jitter(full_jitter()));
    wait(ticker);
    wait(ticker);
    random expected(0, 0);
    EXPECT_THAT(ticks, ElementsAre(0s, full_jitter().draw({1, 1h, 1h, 1h, 1h}, expected)));
}

TEST_F(ticker_test, streams_go_to_the_tickers_in_the_order_of_their_first_waits) {
    auto const policy = retry_policy().backoff(constant(1h)).jitter(full_jitter());
    backoff_ticker second(io, policy), first(io, policy);
    wait(first);
    wait(second);
    time_point const begin_of_second = time.now();
    wait(second); // which is the first to need a random number
    random of_second(0, 1);
    EXPECT_EQ(time.now() - begin_of_second, full_jitter().draw({1, 1h, 1h, 1h, 1h}, of_second));
    time_point const begin_of_first = time.now();
    wait(first);
    random of_first(0, 0);
    EXPECT_EQ(time.now() - begin_of_first, full_jitter().draw({1, 1h, 1h, 1h, 1h}, of_first));
}

TEST_F(ticker_test, f10_ticks_as_often_as_there_may_be_attempts) {
    for (std::int64_t const n : {1, 2, 5}) {
        ticks.clear();
        reasons.clear();
        backoff_ticker ticker(io, noting(growing().max_attempts(n)));
        follow(ticker);
        time.run();
        EXPECT_EQ(ticks.size(), static_cast<std::size_t>(n));
        EXPECT_EQ(last, exhausted());
        EXPECT_THAT(reasons, ElementsAre(stop_reason::attempts));
        EXPECT_EQ(wait(ticker), exhausted()) << "and for good";
        EXPECT_EQ(reasons.size(), 1u);
    }
}

TEST_F(ticker_test, a_zero_delay_is_a_turn_of_the_context) {
    backoff_ticker ticker(io, retry_policy().backoff(constant(0s)).max_attempts(1000));
    follow(ticker);
    bool others_run = false;
    asio::post(io, [&] { others_run = ticks.size() < 10; });
    time.run();
    EXPECT_EQ(ticks.size(), 1000u);
    EXPECT_TRUE(others_run);
    EXPECT_EQ(time.now(), begin);
}

TEST_F(ticker_test, limits_of_time_end_it) {
    backoff_ticker elapsed(io, growing().max_elapsed(700ms));
    follow(elapsed);
    time.run();
    EXPECT_THAT(ticks, elements(0ms, 100ms, 300ms, 700ms));
    EXPECT_EQ(last, exhausted());

    time_point const start = time.now();
    backoff_ticker until(io, growing().deadline(start + 300ms));
    follow(until);
    time.run();
    EXPECT_EQ(ticks.size(), 4u + 3u);
    EXPECT_EQ(last, timed_out());

    backoff_ticker total(io, noting(growing().total_timeout(299ms)));
    follow(total);
    time.run();
    EXPECT_EQ(ticks.size(), 4u + 3u + 2u);
    EXPECT_EQ(last, timed_out());
    EXPECT_THAT(reasons, ElementsAre(stop_reason::deadline));

    backoff_ticker late(io, growing().deadline(start));
    EXPECT_EQ(wait(late), timed_out());
}

TEST_F(ticker_test, a_clamped_last_tick_comes_at_the_limit) {
    backoff_ticker ticker(io, growing().max_elapsed(400ms).clamp());
    follow(ticker);
    time.run();
    EXPECT_THAT(ticks, elements(0ms, 100ms, 300ms, 400ms));
    EXPECT_EQ(last, exhausted());
}

TEST_F(ticker_test, a_gate_that_refuses_ends_it) {
    auto const gate = std::make_shared<counting_gate>();
    gate->left = 2;
    backoff_ticker ticker(io, noting(growing().gate(gate)));
    follow(ticker);
    time.run();
    EXPECT_EQ(ticks.size(), 3u);
    EXPECT_EQ(last, exhausted());
    EXPECT_THAT(reasons, ElementsAre(stop_reason::budget));
}

TEST_F(ticker_test, tells_the_hooks) {
    std::vector<retry_event> events;
    backoff_ticker ticker(
        io, growing().max_attempts(3).on_retry([&](retry_event const& e) { events.push_back(e); }));
    follow(ticker);
    time.run();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].delay, 100ms);
    EXPECT_EQ(events[1].delay, 200ms);
    EXPECT_EQ(events[1].attempt, 2u);
    EXPECT_EQ(events[1].error, error::result_rejected);
}

TEST_F(ticker_test, names_the_callable_of_the_policy_that_threw) {
    auto const throwing = [](backoff_step, random&) -> duration { throw 1; };
    backoff_ticker ticker(io, growing().jitter(throwing));
    EXPECT_FALSE(wait(ticker));
    EXPECT_EQ(wait(ticker), error::jitter_threw);
    EXPECT_EQ(wait(ticker), error::jitter_threw);
}

// --- stop

TEST_F(ticker_test, stop_ends_a_pending_wait_and_all_later_ones) {
    backoff_ticker ticker(io, noting(growing()));
    wait(ticker);
    ticker.async_wait(note());
    time.advance(50ms);
    ticker.stop();
    EXPECT_FALSE(*last) << "never inside stop";
    EXPECT_EQ(scheduler(io).pending(), 0u);
    time.advance(0s);
    EXPECT_EQ(last, aborted());
    EXPECT_EQ(wait(ticker), aborted());
    EXPECT_EQ(time.now() - begin, 50ms);
    EXPECT_EQ(ticks.size(), 1u);
    EXPECT_THAT(reasons, ElementsAre(stop_reason::cancelled));
}

TEST_F(ticker_test, stop_is_idempotent) {
    backoff_ticker idle(io, noting(growing()));
    idle.stop();
    idle.stop();
    EXPECT_EQ(wait(idle), aborted());

    backoff_ticker pending(io, noting(growing()));
    wait(pending);
    int calls = 0;
    pending.async_wait([&](error_code ec) {
        ++calls;
        EXPECT_EQ(ec, aborted());
    });
    pending.stop();
    pending.stop();
    time.run();
    pending.stop();
    time.run();
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(reasons, ElementsAre(stop_reason::cancelled, stop_reason::cancelled));
}

TEST_F(ticker_test, stop_takes_back_a_tick_that_is_only_queued) {
    backoff_ticker first(io, growing());
    first.async_wait(note());
    first.stop();
    time.run();
    EXPECT_EQ(last, aborted());

    backoff_ticker second(io, growing());
    wait(second);
    second.async_wait(note());
    second.retry_now();
    second.stop();
    time.run();
    EXPECT_EQ(last, aborted());
    EXPECT_EQ(ticks.size(), 1u);
}

TEST_F(ticker_test, stopped_after_the_last_tick_it_is_aborted_too) {
    backoff_ticker ticker(io, noting(growing().max_attempts(1)));
    wait(ticker);
    EXPECT_EQ(wait(ticker), exhausted());
    ticker.stop();
    EXPECT_EQ(wait(ticker), aborted());
    EXPECT_EQ(reasons.size(), 1u);
}

// --- reset

TEST_F(ticker_test, reset_replans_a_pending_wait) {
    backoff_ticker ticker(io, growing());
    follow(ticker);
    time.advance(650ms); // in the wait of 400 ms that began at 300 ms
    ticker.reset();
    time.advance(0s);
    EXPECT_THAT(ticks, elements(0ms, 100ms, 300ms)) << "nothing ticks at once";
    time.advance(300ms);
    EXPECT_THAT(ticks, elements(0ms, 100ms, 300ms, 750ms, 950ms));
    ticker.stop();
    time.run();
}

TEST_F(ticker_test, decision_21_a_reset_whose_backoff_throws_ends_the_wait) {
    bool throws = false;
    auto const backoff = [&](std::uint64_t) -> duration {
        if (throws)
            throw std::runtime_error("mine");
        return 1h;
    };
    backoff_ticker ticker(io, retry_policy().backoff(backoff).jitter(no_jitter()).unlimited_attempts());
    EXPECT_FALSE(wait(ticker));
    last.reset();
    ticker.async_wait(note());
    time.advance(1min);
    throws = true;
    ticker.reset();
    time.advance(0s);
    EXPECT_EQ(last, error::backoff_threw);
    EXPECT_THAT(ticks, elements(0ms));
}

TEST_F(ticker_test, reset_with_no_wait_pending_makes_the_next_delay_the_first) {
    backoff_ticker ticker(io, growing());
    for (int i = 0; i < 4; ++i)
        wait(ticker);
    ticks.clear();
    ticker.reset();
    time_point const reset_at = time.now();
    wait(ticker);
    EXPECT_EQ(time.now() - reset_at, 100ms);
    wait(ticker);
    EXPECT_EQ(time.now() - reset_at, 300ms);
}

TEST_F(ticker_test, reset_before_the_first_wait_leaves_out_the_tick_at_once) {
    backoff_ticker ticker(io, growing());
    ticker.reset();
    wait(ticker);
    EXPECT_THAT(ticks, elements(100ms));
}

TEST_F(ticker_test, reset_gives_counts_and_time_back) {
    backoff_ticker counted(io, growing().max_attempts(3));
    follow(counted);
    time.run();
    EXPECT_EQ(last, exhausted());
    EXPECT_EQ(ticks.size(), 3u);
    counted.reset();
    follow(counted);
    time.run();
    EXPECT_EQ(last, exhausted());
    EXPECT_EQ(ticks.size(), 5u) << "as if the first tick had just been";

    ticks.clear();
    backoff_ticker timed(io, growing().max_elapsed(350ms));
    follow(timed);
    time.advance(250ms);
    timed.reset(); // and not a wait later: the time counts from here
    time.run();
    EXPECT_EQ(last, exhausted());
    ASSERT_EQ(ticks.size(), 4u);
    EXPECT_EQ(ticks[3] - ticks[0], 250ms + 300ms);
}

TEST_F(ticker_test, the_time_of_a_reset_counts_even_if_nobody_waits_then) {
    backoff_ticker ticker(io, growing().max_elapsed(350ms));
    wait(ticker);
    ticker.reset();
    time.advance(300ms);
    EXPECT_EQ(wait(ticker), exhausted());
}

TEST_F(ticker_test, reset_does_not_undo_stop) {
    backoff_ticker ticker(io, noting(growing()));
    wait(ticker);
    ticker.async_wait(note());
    ticker.stop();
    ticker.reset();
    time.run();
    EXPECT_EQ(last, aborted());
    ticker.reset();
    EXPECT_EQ(wait(ticker), aborted());
    EXPECT_THAT(reasons, ElementsAre(stop_reason::cancelled));
}

TEST_F(ticker_test, reset_leaves_a_tick_that_is_due) {
    backoff_ticker ticker(io, growing());
    follow(ticker);
    ticker.reset();
    time.advance(400ms);
    EXPECT_THAT(ticks, elements(0ms, 100ms, 300ms));
    ticker.stop();
    time.run();
}

TEST_F(ticker_test, reset_replans_an_end_that_is_due) {
    backoff_ticker ticker(io, growing().max_attempts(2));
    wait(ticker);
    wait(ticker);
    last.reset();
    ticker.async_wait(note()); // the policy allows no third tick
    ticker.reset();
    time_point const reset_at = time.now();
    time.advance(50ms);
    EXPECT_EQ(last, std::nullopt);
    time.run();
    EXPECT_EQ(last, error_code());
    EXPECT_EQ(time.now() - reset_at, 100ms);
    EXPECT_EQ(wait(ticker), exhausted()) << "the tick that the reset left out counts";
    EXPECT_EQ(reasons.size(), 0u);
}

TEST_F(ticker_test, retry_now_hurries_what_a_reset_has_replanned) {
    backoff_ticker ticker(io, growing().max_attempts(2));
    wait(ticker);
    wait(ticker);
    last.reset();
    ticker.async_wait(note());
    ticker.reset();
    ticker.retry_now();
    time.advance(0s);
    EXPECT_EQ(last, error_code());
    ticker.async_wait(note());
    ticker.retry_now(); // which is due already, and nothing replans it
    ticker.reset();
    time.advance(0s);
    EXPECT_EQ(ticks.size(), 3u);
    time.run();
}

TEST_F(ticker_test, reset_replans_a_wait_for_the_gate_that_is_due) {
    auto const gate = std::make_shared<counting_gate>();
    gate->left = 3;
    backoff_ticker ticker(io, growing().gate(gate).wait_when_refused());
    for (int i = 0; i != 4; ++i)
        wait(ticker);
    gate->left = 0;
    last.reset();
    ticker.async_wait(note());
    ticker.retry_now();
    ticker.reset();
    time_point const reset_at = time.now();
    time.advance(0s);
    gate->left = 1;
    time.run();
    EXPECT_EQ(last, error_code());
    EXPECT_EQ(time.now() - reset_at, 100ms);
}

TEST_F(ticker_test, an_end_that_is_due_is_none_after_a_reset_even_if_the_wait_is_stopped_or_cancelled) {
    for (bool const stops : {false, true}) {
        backoff_ticker ticker(io, growing().max_attempts(1));
        wait(ticker);
        asio::cancellation_signal signal;
        ticker.async_wait(asio::bind_cancellation_slot(signal.slot(), note()));
        ticker.reset();
        if (stops)
            ticker.stop();
        else
            signal.emit(asio::cancellation_type::terminal);
        time.advance(0s);
        EXPECT_EQ(last, aborted());
    }
}

TEST_F(ticker_test, reset_gives_back_the_lease_of_the_wait_it_ends) {
    auto const gate = std::make_shared<counting_gate>();
    gate->left = 1;
    backoff_ticker ticker(io, growing().gate(gate));
    wait(ticker);
    ticker.async_wait(note());
    EXPECT_EQ(gate->held, 1);
    ticker.reset();
    EXPECT_EQ(gate->held, 1);
    time.run();
    EXPECT_FALSE(*last);
    EXPECT_EQ(gate->left, 0);
}

// --- what a tick is not

TEST_F(ticker_test, sends_nothing) {
    backoff_ticker ticker(io, growing().retry_sent(false));
    for (int i = 0; i != 3; ++i)
        EXPECT_EQ(wait(ticker), error_code());
}

// --- retry_now

TEST_F(ticker_test, retry_now_ends_a_pending_wait_with_a_tick) {
    backoff_ticker ticker(io, growing());
    follow(ticker);
    time.advance(120ms);
    ticker.retry_now();
    time.advance(0s);
    EXPECT_THAT(ticks, elements(0ms, 100ms, 120ms));
    time.advance(400ms);
    EXPECT_THAT(ticks, elements(0ms, 100ms, 120ms, 520ms)) << "it was a tick like another";
    ticker.stop();
    ticker.retry_now();
    time.run();
}

TEST_F(ticker_test, retry_now_without_a_pending_wait_does_nothing) {
    backoff_ticker ticker(io, growing());
    ticker.retry_now();
    wait(ticker);
    ticker.retry_now();
    wait(ticker);
    EXPECT_THAT(ticks, elements(0ms, 100ms));
}

// --- one wait at a time

TEST_F(ticker_test, a_second_wait_is_refused_and_the_first_goes_on) {
    backoff_ticker ticker(io, growing());
    wait(ticker);
    ticker.async_wait(note());
    std::optional<error_code> second;
    ticker.async_wait([&](error_code ec) { second = ec; });
    EXPECT_FALSE(second) << "never inside the initiating function";
    time.advance(0s);
    EXPECT_EQ(second, error_code(asio::error::already_started));
    time.run();
    EXPECT_THAT(ticks, elements(0ms, 100ms));
}

// --- cancellation

class ticker_cancellation : public ticker_test, public testing::WithParamInterface<asio::cancellation_type> {
protected:
    asio::cancellation_signal signal;

    void start(backoff_ticker& ticker) {
        last.reset();
        ticker.async_wait(asio::bind_cancellation_slot(signal.slot(), note()));
    }
};

// The ticker lives on, and ticks when it would have.
TEST_P(ticker_cancellation, ends_the_wait_and_the_next_one_takes_its_place) {
    auto const gate = std::make_shared<counting_gate>();
    gate->left = 10;
    backoff_ticker ticker(io, noting(growing().max_attempts(4).gate(gate)));
    wait(ticker);
    wait(ticker);
    start(ticker);
    time.advance(150ms); // of 200
    signal.emit(GetParam());
    EXPECT_FALSE(last) << "never inside emit";
    EXPECT_EQ(scheduler(io).pending(), 0u);
    time.advance(0s);
    EXPECT_EQ(last, aborted());
    EXPECT_EQ(gate->held, 2) << "spent by the tick before, and held for the next one";
    EXPECT_FALSE(signal.slot().has_handler());

    time.advance(20ms);
    time_point const again = time.now();
    EXPECT_FALSE(wait(ticker));
    EXPECT_EQ(time.now() - again, 30ms);
    EXPECT_FALSE(wait(ticker));
    EXPECT_EQ(wait(ticker), exhausted()) << "after four ticks";
    EXPECT_THAT(reasons, ElementsAre(stop_reason::attempts));
}

TEST_P(ticker_cancellation, takes_back_a_tick_that_is_only_queued) {
    backoff_ticker ticker(io, growing());
    start(ticker);
    signal.emit(GetParam());
    time.advance(0s);
    EXPECT_EQ(last, aborted());
    wait(ticker);
    EXPECT_THAT(ticks, elements(0ms)) << "the first tick comes at once all the same";
    start(ticker);
    ticker.retry_now();
    signal.emit(GetParam());
    time.advance(0s);
    EXPECT_EQ(last, aborted());
    wait(ticker);
    EXPECT_THAT(ticks, elements(0ms, 100ms));
}

TEST_P(ticker_cancellation, does_nothing_when_it_comes_late_or_twice) {
    backoff_ticker ticker(io, growing());
    start(ticker);
    time.run();
    signal.emit(GetParam());
    start(ticker);
    signal.emit(GetParam());
    signal.emit(GetParam());
    time.run();
    EXPECT_EQ(last, aborted());
    signal.emit(GetParam());
    EXPECT_FALSE(wait(ticker));
}

TEST_F(ticker_test, a_cancellation_of_no_type_does_nothing) {
    asio::cancellation_signal signal;
    backoff_ticker ticker(io, growing());
    ticker.async_wait(asio::bind_cancellation_slot(signal.slot(), note()));
    signal.emit(asio::cancellation_type::none);
    time.run();
    EXPECT_EQ(last, error_code());
}

INSTANTIATE_TEST_SUITE_P(every_type, ticker_cancellation,
                         testing::Values(asio::cancellation_type::terminal, asio::cancellation_type::partial,
                                         asio::cancellation_type::total, asio::cancellation_type::all));

TEST_F(ticker_test, the_delay_of_a_cancelled_wait_is_drawn_once) {
    std::vector<duration> previous;
    auto const doubling = [&](backoff_step step, random&) {
        previous.push_back(step.previous);
        return step.failures == 1 ? step.base : 2 * step.previous;
    };
    backoff_ticker ticker(io, growing().jitter(doubling));
    for (int i = 0; i < 3; ++i)
        wait(ticker);
    asio::cancellation_signal signal;
    ticker.async_wait(asio::bind_cancellation_slot(signal.slot(), note()));
    signal.emit(asio::cancellation_type::total);
    time.run();
    wait(ticker);
    EXPECT_THAT(previous, elements(100ms, 100ms, 200ms));
}

// --- callables of the policy that use the ticker

TEST_F(ticker_test, a_hook_that_resets_it_every_time_does_not_keep_it) {
    std::optional<backoff_ticker> ticker;
    int calls = 0;
    auto const hook = [&](retry_event const&) {
        ++calls;
        ticker->reset();
    };
    ticker.emplace(io, growing().on_retry(hook));
    for (int i = 0; i != 4; ++i)
        wait(*ticker);
    EXPECT_THAT(ticks, elements(0ms, 100ms, 200ms, 300ms));
    EXPECT_LE(calls, 6);
}

// It has started over once for that wait; the next one goes on from there.
TEST_F(ticker_test, what_a_hook_wished_in_vain_is_forgotten) {
    std::optional<backoff_ticker> ticker;
    int calls = 0;
    ticker.emplace(io, growing().on_retry([&](retry_event const&) {
        if (++calls <= 2)
            ticker->reset();
    }));
    for (int i = 0; i != 4; ++i)
        wait(*ticker);
    EXPECT_THAT(ticks, elements(0ms, 100ms, 300ms, 700ms));
}

TEST_F(ticker_test, a_hook_may_stop_reset_hurry_or_destroy_it) {
    for (int const what : {0, 1, 2, 3}) {
        ticks.clear();
        last.reset();
        std::optional<backoff_ticker> ticker;
        bool done = false;
        auto const hook = [&](retry_event const& e) {
            if (e.attempt != 2 || std::exchange(done, true))
                return;
            if (what == 0)
                ticker->stop();
            else if (what == 1)
                ticker->reset();
            else if (what == 2)
                ticker->retry_now();
            else
                ticker.reset();
        };
        ticker.emplace(io, growing().on_retry(hook));
        wait(*ticker);
        wait(*ticker);
        time_point const before = time.now();
        ticker->async_wait(note());
        time.run();
        EXPECT_TRUE(done);
        bool const ends = what == 0 || what == 3;
        EXPECT_EQ(last, ends ? aborted() : error_code());
        EXPECT_EQ(time.now() - before, what == 1 ? 100ms : 0ms);
    }
}

// The cancellation comes while the delay is being decided: it ends that wait, and the next one takes its place.
TEST_F(ticker_test, a_hook_may_cancel_the_wait_that_is_being_decided) {
    asio::cancellation_signal signal;
    int calls = 0;
    auto const hook = [&](retry_event const&) {
        if (++calls == 1)
            signal.emit(asio::cancellation_type::terminal);
    };
    backoff_ticker ticker(io, growing().on_retry(hook));
    wait(ticker);
    last.reset();
    ticker.async_wait(asio::bind_cancellation_slot(signal.slot(), note()));
    EXPECT_EQ(scheduler(io).pending(), 0u);
    time.advance(0s);
    EXPECT_EQ(last, aborted());
    EXPECT_FALSE(wait(ticker));
    EXPECT_THAT(ticks, elements(0ms, 100ms));
    EXPECT_EQ(calls, 1);
}

// Whoever is in a hurry is so now, and not during a later wait.
TEST_F(ticker_test, retry_now_does_not_hurry_a_later_wait) {
    std::optional<backoff_ticker> ticker;
    bool hurries = true;
    ticker.emplace(io, growing().on_retry([&](retry_event const&) {
        if (std::exchange(hurries, false))
            ticker->retry_now();
    }));
    wait(*ticker);
    ticker->retry_now();
    for (int i = 0; i != 3; ++i)
        wait(*ticker);
    EXPECT_THAT(ticks, elements(0ms, 0ms, 200ms, 600ms));
}

TEST_F(ticker_test, retry_now_does_not_hurry_the_wait_after_one_that_was_cancelled) {
    backoff_ticker ticker(io, growing());
    wait(ticker);
    asio::cancellation_signal signal;
    ticker.async_wait(asio::bind_cancellation_slot(signal.slot(), note()));
    ticker.retry_now();
    ticker.reset();
    ticker.retry_now();
    signal.emit(asio::cancellation_type::terminal);
    time.advance(0s);
    EXPECT_EQ(last, aborted());
    wait(ticker);
    EXPECT_THAT(ticks, elements(0ms, 100ms));
}

TEST_F(ticker_test, the_delay_after_a_reset_counts_from_it_though_the_turn_comes_later) {
    asio::io_context other;
    backoff_ticker ticker(io, growing().max_attempts(2));
    wait(ticker);
    wait(ticker);
    last.reset();
    ticker.async_wait(asio::bind_executor(other, note())); // the policy allows no third tick
    ticker.reset();
    time_point const reset_at = time.now();
    time.advance(50ms);
    other.poll();
    other.restart();
    time.run();
    EXPECT_EQ(time.now() - reset_at, 100ms);
    other.poll();
    EXPECT_EQ(last, error_code());
}

TEST_F(ticker_test, a_turn_that_is_dropped_with_its_executor_leaves_the_ticker_free) {
    backoff_ticker ticker(io, growing());
    {
        asio::io_context other;
        ticker.async_wait(asio::bind_executor(other, note()));
    }
    EXPECT_EQ(wait(ticker), error_code());
}

TEST_F(ticker_test, a_second_wait_that_is_dropped_leaves_the_first_pending) {
    backoff_ticker ticker(io, growing());
    wait(ticker);
    last.reset();
    ticker.async_wait(note());
    {
        asio::io_context other;
        ticker.async_wait(asio::bind_executor(other, note()));
    }
    ticker.stop();
    time.advance(0s);
    EXPECT_EQ(last, aborted());
}

// --- memory

// It waits for memory as it does for its time, and so can be replanned.
TEST_F(ticker_test, reset_replans_a_tick_that_there_was_no_memory_for) {
    for (bool const in_a_hurry : {false, true}) {
        std::function<void()> hook;
        backoff_ticker ticker(io, growing());
        wait(ticker);
        last.reset();
        ticker.async_wait(asio::bind_executor(hooked_executor(io.get_executor(), hook), note()));
        hook = out_of_memory;
        if (in_a_hurry)
            ticker.retry_now();
        else
            EXPECT_THROW(time.advance(100ms), std::bad_alloc);
        hook = nullptr;
        time_point const reset_at = time.now();
        ticker.reset();
        time.run();
        EXPECT_EQ(last, error_code());
        EXPECT_EQ(time.now() - reset_at, 100ms);
    }
}

// --- tokens

TEST_F(ticker_test, every_token_will_do) {
    backoff_ticker ticker(io, growing());
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            co_await ticker.async_wait();
            co_await ticker.async_wait(asio::deferred);
            co_await ticker.async_wait(asio::use_awaitable);
            auto const [ec] = co_await ticker.async_wait(asio::as_tuple(asio::use_awaitable));
            EXPECT_FALSE(ec);
        },
        [](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
        });
    time.run();
    EXPECT_EQ(time.now() - begin, 700ms);

    auto lazy = ticker.async_wait(asio::deferred);
    auto future = ticker.async_wait(asio::use_future);
    time.run();
    future.get();
    std::move(lazy)(note());
    time.run();
    EXPECT_FALSE(*last);
    ticker.async_wait(asio::detached);
    time.run();
    EXPECT_EQ(time.now() - begin, 2200ms);
}

TEST_F(ticker_test, runs_the_handler_on_its_own_executor) {
    tracking_executor const of_handler(io.get_executor(), 7);
    backoff_ticker ticker(io, growing());
    for (int i = 0; i < 2; ++i) {
        int ran_on = 0;
        ticker.async_wait(asio::bind_executor(of_handler, [&](error_code) { ran_on = running_on; }));
        time.run();
        EXPECT_EQ(ran_on, 7);
    }
}

TEST_F(ticker_test, waits_in_memory_of_the_handler_and_frees_it_before_the_call) {
    memory_of_handlers memory;
    backoff_ticker ticker(io, growing());
    for (int i = 0; i < 2; ++i) {
        std::optional<std::size_t> when_called;
        ticker.async_wait(asio::bind_allocator(counting_allocator<void>(memory),
                                               [&](error_code) { when_called = memory.blocks; }));
        EXPECT_GT(memory.blocks, 0u);
        time.run();
        EXPECT_EQ(when_called, 0u);
    }
}

// A poll that slows down while there is nothing new, and is quick again when it is used.
TEST_F(ticker_test, paces_a_poll_loop) {
    std::vector<duration> polls;
    std::vector<duration> const news{1'500ms};
    bool polling = true;
    backoff_ticker ticker(io, growing());
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            std::size_t seen = 0;
            while (polling) {
                auto const [ec] = co_await ticker.async_wait(asio::as_tuple(asio::use_awaitable));
                if (ec)
                    break;
                duration const now = time.now() - begin;
                polls.push_back(now);
                if (seen < news.size() && news[seen] <= now) {
                    ++seen;
                    ticker.reset();
                }
            }
        },
        asio::detached);
    time.advance(2500ms);
    EXPECT_THAT(polls, elements(0ms, 100ms, 300ms, 700ms, 1200ms, 1700ms, 1800ms, 2000ms, 2400ms));
    ticker.reset(); // somebody uses it: at the first delay from now
    time.advance(100ms);
    EXPECT_EQ(polls.back(), 2600ms);
    ticker.stop();
    time.run();
}

// --- lifetimes

TEST_F(ticker_test, destroying_it_ends_the_pending_wait) {
    auto ticker = std::make_unique<backoff_ticker>(io, growing());
    wait(*ticker);
    ticker->async_wait(note());
    ticker.reset();
    time.advance(0s);
    EXPECT_EQ(last, aborted());
}

TEST_F(ticker_test, a_handler_may_destroy_it) {
    auto ticker = std::make_unique<backoff_ticker>(io, growing());
    bool called = false;
    ticker->async_wait([&](error_code) {
        ticker.reset();
        called = true;
    });
    time.run();
    EXPECT_TRUE(called);
}

TEST_F(ticker_test, a_pending_wait_is_work_until_it_ends) {
    auto const take = [this](backoff_ticker& ticker) { ticker.async_wait(note()); };
    backoff_ticker ticker(io, growing());
    wait(ticker);
    take(ticker);
    io.restart();
    EXPECT_EQ(io.poll(), 0u);
    EXPECT_FALSE(io.stopped()) << "run() would not return";
    ticker.stop();
    io.restart();
    EXPECT_EQ(io.run(), 1u) << "and does so at once";
    EXPECT_EQ(last, aborted());
}

TEST(ticker_without_virtual_time, stop_lets_run_return_at_once) {
    asio::io_context io;
    backoff_ticker ticker(io, retry_policy().backoff(constant(1h)).jitter(no_jitter()));
    std::vector<error_code> ends;
    ticker.async_wait([&](error_code first) {
        ends.push_back(first);
        ticker.async_wait([&](error_code second) { ends.push_back(second); });
        asio::post(io, [&] { ticker.stop(); });
    });
    io.run();
    EXPECT_THAT(ends, ElementsAre(error_code(), aborted()));
}

struct counted_handler {
    int* calls;
    std::shared_ptr<void> held;
    void operator()(error_code) const { ++*calls; }
};

// Waiting, queued, and refused: the context takes them all with it, uncalled, and the ticker they own.
TEST(ticker_without_virtual_time, destroying_the_context_destroys_the_handlers_uncalled) {
    int calls = 0;
    std::weak_ptr<void> held;
    for (int const state : {0, 1, 2, 3}) {
        asio::cancellation_signal signal;
        {
            asio::io_context io;
            auto const ticker =
                std::make_shared<backoff_ticker>(io, retry_policy().backoff(constant(1h)).jitter(no_jitter()));
            held = ticker;
            if (state != 0) {
                ticker->async_wait(asio::detached);
                io.run();
                io.restart();
            }
            ticker->async_wait(asio::bind_cancellation_slot(signal.slot(), counted_handler{&calls, ticker}));
            if (state == 2)
                ticker->async_wait(counted_handler{&calls, ticker});
            if (state == 3)
                ticker->stop();
        }
        EXPECT_EQ(calls, 0);
        EXPECT_TRUE(held.expired());
        signal.emit(asio::cancellation_type::terminal);
    }
}

TEST(ticker_without_virtual_time, a_wait_that_begins_as_the_context_is_destroyed_goes_uncalled) {
    auto const alive = std::make_shared<int>();
    std::optional<backoff_ticker> ticker;
    {
        asio::io_context io;
        ticker.emplace(io, growing());
        ticker->async_wait([](error_code) {});
        io.run();
        auto const begin_another = [alive](backoff_ticker* t) {
            t->async_wait([alive](error_code) { FAIL(); });
        };
        ticker->async_wait([last = std::shared_ptr<backoff_ticker>(&*ticker, begin_another)](error_code) {});
    }
    EXPECT_EQ(alive.use_count(), 1);
}

TEST(ticker_without_virtual_time, a_frame_that_owns_its_ticker_goes_with_the_context) {
    auto const alive = std::make_shared<int>();
    {
        asio::io_context io;
        auto loop = [&]() -> asio::awaitable<void> {
            auto const local = alive;
            backoff_ticker ticker(io, retry_policy().backoff(constant(1h)).jitter(no_jitter()));
            for (;;)
                co_await ticker.async_wait(asio::use_awaitable);
        };
        asio::co_spawn(io, loop, asio::detached);
        io.poll();
        EXPECT_EQ(alive.use_count(), 2);
    }
    EXPECT_EQ(alive.use_count(), 1);
}

// The expiry is reported on one thread while another stops, resets and destroys.
TEST(ticker_without_virtual_time, threads_of_a_pool_share_its_context) {
    asio::thread_pool pool(3);
    std::atomic<int> ends = 0;
    constexpr int tickers = 200;
    for (int i = 0; i < tickers; ++i)
        asio::co_spawn(
            asio::make_strand(pool),
            [&ends, &pool, i]() -> asio::awaitable<void> {
                auto const executor = co_await asio::this_coro::executor;
                auto const policy = retry_policy().backoff(constant(i % 3 * 50us)).unlimited_attempts();
                // Not on the strand: ThreadSanitizer does not know the fences by which an any_io_executor
                // counts the owners of one.
                auto ticker = std::make_unique<backoff_ticker>(pool, policy);
                for (int n = 0; n < 20; ++n) {
                    ticker->async_wait([&ends](error_code) { ++ends; });
                    co_await asio::post(executor, asio::use_awaitable);
                    if (n % 3 == 0)
                        ticker->retry_now();
                    if (n % 3 == 1)
                        ticker->reset();
                }
                ticker->stop();
            },
            asio::detached);
    pool.join();
    EXPECT_EQ(ends, tickers * 20);
}

// No strand: the turns of the ticker meet calls that other threads make, one at a time.
TEST(ticker_without_virtual_time, an_executor_of_several_threads_is_no_strand) {
    asio::thread_pool pool(3);
    std::mutex calls; // the user's
    int ends = 0;
    for (int i = 0; i < 20; ++i) {
        auto const policy = retry_policy().backoff(constant(i % 2 * 20us)).unlimited_attempts();
        auto const ticker = std::make_shared<backoff_ticker>(pool, policy);
        auto const wait = [&calls, &ends](auto const& self, std::shared_ptr<backoff_ticker> const& t) -> void {
            std::lock_guard const lock(calls);
            t->async_wait([&calls, &ends, self, t](error_code ec) {
                if (!ec)
                    return self(self, t);
                std::lock_guard const held(calls);
                ++ends;
            });
        };
        wait(wait, ticker);
        for (int n = 0; n < 300; ++n) {
            std::lock_guard const lock(calls);
            if (n % 2)
                ticker->reset();
            else
                ticker->retry_now();
        }
        std::lock_guard const lock(calls);
        ticker->stop();
    }
    pool.join();
    EXPECT_EQ(ends, 20);
}

} // namespace
} // namespace asio_retry::test
