#include <asio_retry/async_hedge.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/elements.hpp"
#include "support/in_virtual_time.hpp"
#include "support/many_attempts.hpp"
#include "support/recording_gate.hpp"
#include "support/refuses.hpp"

#include <boost/asio.hpp>
#include <boost/system/result.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// Attempts of a callback-style hedge, in virtual time.
struct async_hedge_test : testing::Test, in_virtual_time {
    asio::cancellation_signal signal;
    many_attempts attempts{io};
    completion_record record;

    void start(hedge_policy const& policy = hedge_policy(10ms)) {
        async_hedge(io, std::ref(attempts), policy,
                    asio::bind_cancellation_slot(signal.slot(), record.handler()));
    }
    /// Attempts that do not end when they are told to.
    void start_two_that_ignore_it(hedge_policy const& policy = hedge_policy(10ms)) {
        attempts.on_cancel = nullptr;
        start(policy);
        time.advance(10ms);
    }
    void poll() {
        io.restart();
        io.poll();
    }
    void expect_end(error_code ec, int value = 0) {
        EXPECT_EQ(record.count, 1);
        EXPECT_EQ(record.error, ec);
        EXPECT_EQ(record.value, value);
        EXPECT_EQ(scheduler(io).pending(), 0u);
        poll();
        EXPECT_TRUE(io.stopped()) << "no work is left";
    }
};

TEST_F(async_hedge_test, the_slot_of_its_handler_is_free_when_that_is_called) {
    async_hedge(io, std::ref(attempts), hedge_policy(10ms).deliver_at_once(),
                asio::bind_cancellation_slot(signal.slot(), [&](error_code, int) {
                    EXPECT_FALSE(signal.slot().has_handler());
                    ++record.count;
                }));
    attempts.on_cancel = nullptr;
    time.advance(10ms);
    attempts.complete(2, {}, 7);
    poll();
    EXPECT_EQ(record.count, 1);
    attempts.complete(1, {}, 7);
    poll();
}

TEST_F(async_hedge_test, a_fast_one_is_not_hedged) {
    start();
    EXPECT_EQ(attempts.started, 1u) << "inside the initiating function";
    time.advance(9ms);
    attempts.complete(1, {}, 7);
    poll();
    EXPECT_EQ(attempts.started, 1u);
    expect_end({}, 7);
}

TEST_F(async_hedge_test, a_slow_one_is_hedged_and_told_to_stop) {
    start();
    time.advance(10ms);
    EXPECT_EQ(attempts.started, 2u);
    attempts.complete(2, {}, 7);
    poll();
    EXPECT_THAT(attempts.told[1], ElementsAre(asio::cancellation_type::terminal));
    EXPECT_TRUE(attempts.told[2].empty());
    expect_end({}, 7);
}

TEST_F(async_hedge_test, a_failure_begins_the_next_at_once) {
    start(hedge_policy(10ms).max_attempts(3));
    attempts.complete(1, refused());
    poll();
    EXPECT_EQ(attempts.started, 2u);
    attempts.complete(2, timed_out());
    poll();
    EXPECT_EQ(attempts.started, 3u);
    attempts.complete(3, refused(), 5);
    poll();
    expect_end(refused(), 5);
    EXPECT_EQ(time.now(), begin);
}

// A pathological operation ignores for a second that it is told to stop: its buffers are the caller's.
TEST_F(async_hedge_test, decision_30_waits_for_losers_that_ignore_it) {
    start_two_that_ignore_it();
    attempts.complete(2, {}, 7);
    poll();
    time.advance(1s);
    EXPECT_EQ(record.count, 0);
    attempts.complete(1, {}, 8);
    poll();
    expect_end({}, 7);
}

TEST_F(async_hedge_test, delivers_at_once_if_it_is_told_to) {
    start_two_that_ignore_it(hedge_policy(10ms).deliver_at_once());
    attempts.complete(2, {}, 7);
    poll();
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.value, 7);
    EXPECT_THAT(attempts.told[1], ElementsAre(asio::cancellation_type::terminal));
    time.advance(1s);
    attempts.complete(1, {}, 8);
    poll();
    expect_end({}, 7);
}

TEST_F(async_hedge_test, decision_58_those_that_ignore_a_cancellation_are_told_again_at_the_deadline) {
    attempts.on_cancel = nullptr;
    start(hedge_policy(10ms).total_timeout(50ms));
    signal.emit(asio::cancellation_type::terminal);
    time.advance(100ms);
    EXPECT_EQ(attempts.told[1].size(), 2u);
    attempts.complete(1, refused());
    poll();
    expect_end(aborted());
}

TEST_F(async_hedge_test, a_limit_tells_all) {
    start(hedge_policy(10ms).total_timeout(15ms));
    time.run();
    EXPECT_EQ(time.now(), begin + 15ms);
    EXPECT_EQ(attempts.started, 2u);
    expect_end(timed_out());
}

TEST_F(async_hedge_test, one_that_succeeds_wins_over_a_cancellation) {
    attempts.on_cancel = [](many_attempts& self, std::uint64_t number) {
        self.complete(number, number == 1 ? error_code() : aborted(), 9);
    };
    start();
    time.advance(10ms);
    signal.emit(asio::cancellation_type::terminal);
    poll();
    expect_end({}, 9);
}

TEST_F(async_hedge_test, attempts_may_end_while_they_are_told) {
    attempts.on_cancel = [](many_attempts& self, std::uint64_t number) {
        self.complete_here(number, aborted());
        if (self.pending(3 - number))
            self.complete_here(3 - number, {}, 4); // and the other one with it
    };
    start();
    time.advance(10ms);
    signal.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(record.count, 0);
    poll();
    expect_end({}, 4);
}

TEST_F(async_hedge_test, one_that_throws_when_it_is_told_spares_the_others) {
    attempts.on_cancel = [](many_attempts& self, std::uint64_t number) {
        self.complete(number, aborted());
        throw std::runtime_error("told");
    };
    start(hedge_policy(10ms).max_attempts(3));
    time.advance(20ms);
    EXPECT_THROW(signal.emit(asio::cancellation_type::terminal), std::runtime_error);
    for (std::uint64_t number : {1u, 2u, 3u})
        EXPECT_EQ(attempts.told[number].size(), 1u);
    poll();
    expect_end(aborted());
}

TEST_F(async_hedge_test, a_loser_that_throws_when_it_is_told_does_not_cost_the_result) {
    attempts.on_cancel = [](many_attempts& self, std::uint64_t number) {
        self.complete(number, aborted());
        throw std::runtime_error("told");
    };
    start();
    time.advance(10ms);
    attempts.complete(2, {}, 7);
    EXPECT_THROW(poll(), std::runtime_error) << "out of the context";
    poll();
    expect_end({}, 7);
}

TEST_F(async_hedge_test, one_that_throws_after_it_has_completed_has_completed) {
    auto const operation = [](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, int)>(
            [](auto handler) {
                std::move(handler)(error_code(), 2);
                throw std::runtime_error("no");
            },
            token);
    };
    async_hedge(io, operation, hedge_policy(10ms), record.handler());
    time.run();
    expect_end({}, 2);
}

TEST_F(async_hedge_test, one_that_another_has_ended_is_told_nothing) {
    attempts.on_cancel = [](many_attempts& self, std::uint64_t number) {
        self.complete_here(number, aborted());
        if (self.pending(2))
            self.complete_here(2, {}, 4);
    };
    start();
    time.advance(10ms);
    signal.emit(asio::cancellation_type::terminal);
    EXPECT_THAT(attempts.told[1], ElementsAre(asio::cancellation_type::terminal));
    EXPECT_TRUE(attempts.told[2].empty());
    poll();
    expect_end({}, 4);
}

TEST_F(async_hedge_test, one_that_completes_twice_counts_once) {
    std::vector<std::function<void(error_code, int)>> kept;
    async_hedge(
        io,
        [&](auto token) {
            return asio::async_initiate<decltype(token), void(error_code, int)>(
                [&](auto handler) {
                    auto const shared = std::make_shared<decltype(handler)>(std::move(handler));
                    kept.push_back([shared](error_code ec, int value) { (*shared)(ec, value); });
                },
                token);
        },
        hedge_policy(10ms), record.handler());
    time.advance(10ms);
    kept[1]({}, 2);
    EXPECT_EQ(record.count, 0);
    kept[1](refused(), 3);
    EXPECT_EQ(record.count, 0);
    kept[0](aborted(), 0);
    kept[0]({}, 1); // late, and when the operation is gone
    kept[1]({}, 4);
    expect_end({}, 2);
}

TEST_F(async_hedge_test, lost_callbacks_are_hedged) {
    start();
    attempts.drop(1);
    time.advance(10ms);
    EXPECT_EQ(attempts.started, 2u);
    attempts.complete(2, {}, 3);
    poll();
    expect_end({}, 3);
}

TEST_F(async_hedge_test, a_result_is_delivered_though_a_loser_was_lost) {
    start_two_that_ignore_it();
    attempts.complete(1, {}, 3);
    poll();
    attempts.drop(2);
    EXPECT_EQ(record.count, 0) << "not where it was destroyed";
    time.run();
    expect_end({}, 3);
}

TEST_F(async_hedge_test, when_all_are_lost_the_handler_is_destroyed) {
    auto const alive = std::make_shared<int>();
    async_hedge(io, std::ref(attempts), hedge_policy(10ms), [alive](error_code, int) { ADD_FAILURE(); });
    time.advance(10ms);
    attempts.drop(1);
    EXPECT_EQ(alive.use_count(), 2);
    attempts.drop(2);
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(async_hedge_test, gates_are_asked_and_told) {
    auto const gate = std::make_shared<recording_gate>();
    start(hedge_policy(10ms).gate(gate));
    time.advance(10ms);
    attempts.complete(2, {}, 7);
    poll();
    EXPECT_THAT(gate->told, elements("admit 1", "acquire transient", "admit 2", "succeeded 2", "abandoned 1"));
    expect_end({}, 7);
}

TEST_F(async_hedge_test, a_first_attempt_that_may_not_begin_ends_it) {
    auto const gate = std::make_shared<recording_gate>();
    gate->refusals = {1ms};
    start(hedge_policy(10ms).gate(gate));
    EXPECT_EQ(record.count, 0) << "not inside the initiating function";
    poll();
    EXPECT_EQ(attempts.started, 0u);
    expect_end(error::circuit_open);
}

TEST_F(async_hedge_test, waits_when_the_peer_says_so) {
    async_hedge(
        io,
        [&](attempt a, auto token) {
            a.heed(pushback::after(50ms));
            return attempts(a, std::move(token));
        },
        hedge_policy(10ms), record.handler());
    attempts.complete(1, refused());
    poll();
    EXPECT_EQ(attempts.started, 1u);
    time.advance(49ms);
    EXPECT_EQ(attempts.started, 1u);
    time.advance(1ms);
    EXPECT_EQ(attempts.started, 2u);
    attempts.complete(2, {}, 1);
    poll();
    expect_end({}, 1);
}

TEST_F(async_hedge_test, an_empty_operation_is_refused) {
    EXPECT_THAT(calling([&] { async_hedge(io, std::function<int()>(), hedge_policy(1ms), asio::detached); }),
                refuses("async_hedge.operation = empty"));
}

TEST_F(async_hedge_test, the_quantile_learns) {
    auto const seen = std::make_shared<latency_quantile>(0.5, 10ms, 1);
    start(hedge_policy(seen));
    time.advance(4ms);
    attempts.complete(1, {}, 1);
    poll();
    EXPECT_GE(seen->value(), 4ms);
    EXPECT_LT(seen->value(), 5ms);
    expect_end({}, 1);
}

TEST_F(async_hedge_test, the_quantile_learns_from_a_loser_how_long_it_had_run) {
    auto const seen = std::make_shared<latency_quantile>(0.9, 10ms, 2);
    start(hedge_policy(seen));
    time.advance(12ms);
    attempts.complete(2, {}, 1);
    poll();
    EXPECT_GE(seen->value(), 12ms);
    expect_end({}, 1);
}

// --- awaitables

struct async_hedge_coroutine : testing::Test, in_virtual_time {
    /// What lasts, in virtual time, and may be told to stop.
    asio::awaitable<void> pause(duration how_long) {
        auto const policy = retry_policy().backoff(constant(how_long)).jitter(no_jitter()).max_attempts(2);
        refusing_operation refusing;
        auto const [ec] = co_await async_retry(refusing, policy, asio::as_tuple(asio::use_awaitable));
        if (ec == aborted())
            throw boost::system::system_error(ec);
    }
};

TEST_F(async_hedge_coroutine, the_first_that_answers_wins) {
    std::vector<std::string> story;
    auto get = [&](attempt a) -> asio::awaitable<std::string> {
        try {
            co_await pause(a.number == 1 ? 1h : 5ms);
        } catch (boost::system::system_error const&) {
            story.push_back("told " + std::to_string(a.number));
            throw;
        }
        co_return "from " + std::to_string(a.number);
    };
    run([&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await async_hedge(get, hedge_policy(10ms)), "from 2");
        EXPECT_EQ(time.now(), begin + 15ms);
    });
    EXPECT_THAT(story, elements("told 1"));
}

TEST_F(async_hedge_coroutine, cleanup_of_losers_is_waited_for) {
    bool cleaned = false;
    auto get = [&](attempt a) -> asio::awaitable<int> {
        if (a.number == 2)
            co_return 2;
        try {
            co_await pause(1h);
        } catch (...) {
        }
        co_await asio::this_coro::reset_cancellation_state();
        co_await pause(20ms);
        cleaned = true;
        co_return 1;
    };
    run([&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await async_hedge(get, hedge_policy(10ms)), 2);
        EXPECT_TRUE(cleaned);
        EXPECT_EQ(time.now(), begin + 30ms);
    });
}

TEST_F(async_hedge_coroutine, exceptions_are_failures_and_the_last_is_thrown) {
    auto get = [&](attempt a) -> asio::awaitable<void> {
        throw std::runtime_error("attempt " + std::to_string(a.number));
        co_return;
    };
    run([&]() -> asio::awaitable<void> {
        std::string what;
        try {
            co_await async_hedge(get, hedge_policy(10ms).max_attempts(3));
        } catch (std::runtime_error const& e) {
            what = e.what();
        }
        EXPECT_EQ(what, "attempt 3");
    });
}

TEST_F(async_hedge_coroutine, the_awaiting_coroutine_may_be_cancelled) {
    asio::cancellation_signal signal;
    bool ended = false;
    auto get = [&](attempt) -> asio::awaitable<int> {
        co_await pause(1h);
        co_return 1;
    };
    asio::co_spawn(
        io, [&]() -> asio::awaitable<int> { co_return co_await async_hedge(get, hedge_policy(10ms)); },
        asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e, int) {
            ended = true;
            EXPECT_EQ(code_of(e), aborted());
        }));
    io.poll();
    time.advance(15ms);
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_TRUE(ended);
    EXPECT_EQ(time.now(), begin + 15ms);
}

TEST_F(async_hedge_coroutine, begins_though_its_coroutine_was_cancelled_before) {
    for (bool const throws : {true, false}) {
        asio::cancellation_signal signal;
        int attempts = 0;
        error_code result;
        auto get = [&]() -> asio::awaitable<int> { co_return ++attempts; };
        asio::co_spawn(
            io,
            [&]() -> asio::awaitable<void> {
                co_await asio::post(asio::deferred);
                co_await asio::this_coro::throw_if_cancelled(throws);
                signal.emit(asio::cancellation_type::terminal);
                co_await async_hedge(get, hedge_policy(10ms));
            },
            asio::bind_cancellation_slot(
                signal.slot(), [&](std::exception_ptr e) { result = e ? code_of(e) : error_code(); }));
        time.run();
        EXPECT_EQ(result, throws ? aborted() : error_code());
        EXPECT_EQ(attempts, throws ? 0 : 1);
    }
}

// --- forms and tokens

TEST_F(async_hedge_coroutine, takes_every_form) {
    int calls = 0;
    script played;
    auto plain = [&] { return ++calls; };
    auto nothing = [&](attempt) { ++calls; };
    auto coded = [&](attempt a) -> boost::system::result<std::unique_ptr<int>> {
        if (a.number == 1)
            return refused();
        return std::make_unique<int>(5);
    };
    auto tuple = [&]() -> asio::awaitable<std::tuple<error_code, int, std::string>> {
        co_return std::tuple<error_code, int, std::string>(error_code(), 1, "one");
    };
    auto judged = fail_if([&](attempt a) -> asio::awaitable<int> { co_return static_cast<int>(a.number); },
                          [](int value) { return value < 3; });
    auto token_form = [&](auto token) { return async_scripted(io, played, std::move(token)); };
    auto deferred_form = async_scripted(io, played, asio::deferred);
    hedge_policy const policy = hedge_policy(10ms).max_attempts(3);
    run([&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await async_hedge(plain, policy), 1);
        co_await async_hedge(nothing, policy);
        EXPECT_EQ(calls, 2);
        std::unique_ptr<int> five = co_await async_hedge(coded, policy, asio::use_awaitable);
        EXPECT_EQ(*five, 5);
        auto [ec, one, text] = co_await async_hedge(tuple, policy, asio::as_tuple(asio::use_awaitable));
        EXPECT_FALSE(ec);
        EXPECT_EQ(one, 1);
        EXPECT_EQ(text, "one");
        EXPECT_EQ(co_await async_hedge(judged, policy), 3);
        co_await async_hedge(io, token_form, policy);
        co_await async_hedge(io.get_executor(), token_form, policy, asio::deferred);
        co_await async_hedge(deferred_form, policy);
        EXPECT_EQ(played.attempts, 3u);
    });
}

TEST_F(async_hedge_coroutine, rejected_values_are_delivered_in_the_end) {
    auto judged = fail_if([](attempt a) { return static_cast<int>(a.number); }, [](int) { return true; });
    run([&]() -> asio::awaitable<void> { EXPECT_EQ(co_await async_hedge(judged, hedge_policy(10ms)), 2); });
}

TEST_F(async_hedge_coroutine, completes_a_future) {
    auto operation = [](attempt a, auto token) {
        return asio::async_initiate<decltype(token), void(error_code, std::unique_ptr<int>)>(
            [](auto handler, int number) {
                std::move(handler)(number == 1 ? refused() : error_code(), std::make_unique<int>(number));
            },
            token, static_cast<int>(a.number));
    };
    std::future<std::unique_ptr<int>> result = async_hedge(io, operation, hedge_policy(10ms), asio::use_future);
    time.run();
    EXPECT_EQ(*result.get(), 2);
}

// --- one inside another

TEST_F(async_hedge_coroutine, decision_32_a_hedge_in_a_retry_is_a_sum) {
    int calls = 0;
    auto inner = [&]() -> error_code {
        ++calls;
        return refused();
    };
    auto outer = [&](attempt a) -> asio::awaitable<void> {
        co_await async_hedge(a, inner, hedge_policy(10ms).max_attempts(3));
    };
    run([&]() -> asio::awaitable<void> {
        auto const [e] =
            co_await async_retry(outer, retry_policy().max_attempts(4), asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(code_of(e), refused());
    });
    EXPECT_EQ(calls, 3 + 1 + 1 + 1);
}

TEST_F(async_hedge_test, a_retry_in_each_attempt_limits_its_time) {
    auto limited = [&](attempt a, auto token) {
        auto const once = retry_policy().max_attempts(1).attempt_timeout(15ms);
        return async_retry(a, std::ref(attempts), once, std::move(token));
    };
    async_hedge(io, limited, hedge_policy(10ms), record.handler()); // attempts at 0 and 10 ms
    time.advance(24ms);
    EXPECT_EQ(record.count, 0);
    time.advance(1ms);
    expect_end(detail::timed_out_error());
}

} // namespace
} // namespace asio_retry::test
