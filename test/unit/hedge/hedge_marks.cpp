#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/in_virtual_time.hpp"
#include "support/recording_gate.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

// What a hedge says to the retry that it is nested in, and to its gate.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class nested_hedge : public testing::Test, protected in_virtual_time {
protected:
    int attempts = 0;

    /// An attempt, which fails; one of a hedge or a nested retry.
    asio::awaitable<void> send(attempt which = {}, bool marks = false) {
        ++attempts;
        if (marks)
            which.mark_sent();
        throw boost::system::system_error(asio::error::connection_reset);
        co_return;
    }

    /// How often a retry that repeats nothing that was sent made the operation.
    template <typename Nested>
    int attempts_of(Nested nested) {
        attempts = 0;
        async_retry(io, nested, retry_policy().max_attempts(5).retry_sent(false), [](std::exception_ptr) {});
        time.run();
        return attempts;
    }

    static hedge_policy once() { return hedge_policy(1s).max_attempts(1); }
};

TEST_F(nested_hedge, says_that_something_was_sent) {
    EXPECT_EQ(attempts_of([this](attempt outer) -> asio::awaitable<void> {
                  auto const marking = [this](attempt a) { return send(a, true); };
                  co_await async_hedge(outer, marking, once());
              }),
              1);
    EXPECT_EQ(attempts_of([this](attempt outer) -> asio::awaitable<void> {
                  auto const marking = [this](attempt a, auto token) {
                      a.mark_sent();
                      ++attempts;
                      return asio::async_initiate<decltype(token), void(error_code)>(
                          [](auto handler) { std::move(handler)(asio::error::connection_reset); }, token);
                  };
                  co_await async_hedge(outer, marking, once(), asio::use_awaitable);
              }),
              1);
}

// A loser that is left behind may send when the outer retry has sent the same again.
TEST_F(nested_hedge, decision_57_what_is_left_behind_counts_as_sent) {
    std::vector<std::function<void()>> ends;
    auto const deaf = [&](attempt, auto token) {
        ++attempts;
        return asio::async_initiate<decltype(token), void(error_code)>(
            [&ends](auto handler) {
                auto const shared = std::make_shared<decltype(handler)>(std::move(handler));
                ends.push_back([shared] { std::move (*shared)(error_code()); });
            },
            token);
    };
    EXPECT_EQ(attempts_of([&](attempt outer) -> asio::awaitable<void> {
                  co_await async_hedge(outer, deaf, once().total_timeout(1s).deliver_at_once(),
                                       asio::use_awaitable);
              }),
              1);
    for (auto const& end : ends)
        end();
    time.run();
}

TEST_F(nested_hedge, has_sent_from_the_beginning_where_no_attempt_says_so) {
    EXPECT_EQ(attempts_of([this](attempt outer) -> asio::awaitable<void> {
                  auto const silent = [this] { return send(); };
                  co_await async_hedge(outer, silent, once());
              }),
              1);
}

TEST_F(nested_hedge, may_be_repeated_where_nothing_was_sent) {
    EXPECT_EQ(attempts_of([this](attempt outer) -> asio::awaitable<void> {
                  auto const marking_nothing = [this](attempt) { return send(); };
                  co_await async_hedge(outer, marking_nothing, once());
              }),
              5);
}

TEST_F(nested_hedge, passes_on_what_a_retry_in_its_attempt_has_sent) {
    EXPECT_EQ(attempts_of([this](attempt outer) -> asio::awaitable<void> {
                  auto const retrying = [this](attempt hedged) -> asio::awaitable<void> {
                      auto const marking = [this](attempt a) { return send(a, true); };
                      co_await async_retry(hedged, marking, retry_policy());
                  };
                  co_await async_hedge(outer, retrying, once());
              }),
              1);
}

// --- a request that may be made once

/// How many attempts a hedge makes of an operation that hangs.
template <typename Operation>
int hedged_attempts(asio::io_context& io, virtual_time& time, Operation operation, duration delay,
                    int& attempts) {
    attempts = 0;
    async_hedge(io, operation, hedge_policy(delay).max_attempts(3).hedge_sent(false).total_timeout(1s),
                [](std::exception_ptr) {});
    time.run();
    return attempts;
}

TEST_F(nested_hedge, decision_87_what_was_sent_is_not_sent_again_beside_it) {
    auto const waits = [this](attempt a, bool marks) -> asio::awaitable<void> {
        ++attempts;
        if (marks)
            a.mark_sent();
        asio::steady_timer never(co_await asio::this_coro::executor, time_point::max());
        co_await never.async_wait(asio::use_awaitable);
    };
    auto const sends = [&](attempt a) { return waits(a, true); };
    auto const connects = [&](attempt a) { return waits(a, false); };
    auto const silent = [&] { return waits({}, false); };
    EXPECT_EQ(hedged_attempts(io, time, sends, 10ms, attempts), 1);
    for (duration const delay : {duration(0), duration(10ms)}) {
        EXPECT_EQ(hedged_attempts(io, time, connects, delay, attempts), 3);
        EXPECT_EQ(hedged_attempts(io, time, silent, delay, attempts), 1);
    }
}

// --- a deadline

class hedge_of_a_hung_peer : public testing::TestWithParam<bool>, protected in_virtual_time {
protected:
    int ends = 0;

    hedge_policy policy(std::shared_ptr<retry_gate> gate) const {
        auto const limited = hedge_policy(10ms).total_timeout(50ms).gate(std::move(gate));
        return GetParam() ? limited.deliver_at_once() : limited;
    }

    void start(hedge_policy const& given) {
        auto const hanging = [this]() -> asio::awaitable<void> {
            asio::steady_timer timer(io, 1h);
            co_await timer.async_wait(asio::use_awaitable);
        };
        async_hedge(io, hanging, given, [this](std::exception_ptr) { ++ends; });
    }
};

TEST_P(hedge_of_a_hung_peer, tells_its_gate_that_its_attempts_timed_out) {
    auto const gate = std::make_shared<recording_gate>();
    start(policy(gate));
    time.advance(50ms);
    EXPECT_EQ(ends, 1);
    ASSERT_EQ(gate->ends.size(), 2u);
    for (attempt_end const& end : gate->ends) {
        EXPECT_EQ(end.outcome, attempt_end::how::failed);
        EXPECT_EQ(end.kind, failure_kind::timeout);
        EXPECT_EQ(end.now, time.now());
        EXPECT_EQ(end.took, end.number == 1 ? 50ms : 40ms);
    }
    EXPECT_TRUE(gate->is_balanced());
}

TEST_P(hedge_of_a_hung_peer, opens_a_breaker) {
    auto const breaker = std::make_shared<circuit_breaker>(circuit_breaker_options{.min_attempts = 5});
    for (int i = 0; i != 3; ++i) {
        start(policy(breaker));
        time.advance(100ms);
    }
    EXPECT_EQ(ends, 3);
    EXPECT_EQ(breaker->state(time.now()), breaker_state::open);
}

INSTANTIATE_TEST_SUITE_P(hedges, hedge_of_a_hung_peer, testing::Bool());

// A loser says nothing about its peer, however it ends.
TEST(hedge_delivered_at_once, has_abandoned_what_lost) {
    asio::io_context io;
    virtual_time time(io);
    auto const gate = std::make_shared<recording_gate>();
    int begun = 0;
    auto const second_is_fast = [&]() -> asio::awaitable<void> {
        if (++begun == 2)
            co_return;
        asio::steady_timer timer(io, 1h);
        co_await timer.async_wait(asio::use_awaitable);
    };
    async_hedge(io, second_is_fast, hedge_policy(10ms).total_timeout(50ms).gate(gate).deliver_at_once(),
                [](std::exception_ptr) {});
    time.advance(100ms);
    ASSERT_EQ(gate->ends.size(), 2u);
    EXPECT_EQ(gate->ends[0].outcome, attempt_end::how::succeeded);
    EXPECT_EQ(gate->ends[1].outcome, attempt_end::how::abandoned);
}

} // namespace
} // namespace asio_retry::test
