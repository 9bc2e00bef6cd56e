// Operations inside operations inside operations, and gates that some of them share.
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include "support/in_virtual_time.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include <memory>

namespace asio_retry::test::three_layers {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<concurrency_limit<aimd>> places(std::uint32_t count, queue_options const& queue = {}) {
    return std::make_shared<concurrency_limit<aimd>>(
        aimd({.initial = count, .least = count, .greatest = count}), queue);
}

retry_policy once(std::shared_ptr<retry_gate> gate) {
    return retry_policy().max_attempts(1).gate(std::move(gate));
}

/// How the middle of three layers is made.
enum class middle { retry, hedge, endpoint };
constexpr middle all_middles[] = {middle::retry, middle::hedge, middle::endpoint};

class three_layers : public testing::Test, protected in_virtual_time {
protected:
    asio::awaitable<void> answer() {
        ++sent;
        co_await asio::post(io, asio::use_awaitable);
        if (fails)
            throw boost::system::system_error(asio::error::connection_reset);
    }

    void start(middle how, std::shared_ptr<retry_gate> outer, std::shared_ptr<retry_gate> between,
               std::shared_ptr<retry_gate> inner) {
        auto const innermost = [this, inner](attempt which) -> asio::awaitable<void> {
            auto const leaf = [this] { return answer(); };
            co_await async_retry(which, leaf, once(inner), asio::use_awaitable);
        };
        auto const outermost = [this, how, between, innermost](attempt which) -> asio::awaitable<void> {
            if (how == middle::hedge) {
                co_await async_hedge(which, innermost, hedge_policy(1h).gate(between), asio::use_awaitable);
            } else if (how == middle::endpoint) {
                auto const at_server = [innermost](attempt there, int) { return innermost(there); };
                auto const chosen = on_endpoint(at_server, set);
                co_await async_retry(which, chosen, once(between), asio::use_awaitable);
            } else {
                co_await async_retry(which, innermost, once(between), asio::use_awaitable);
            }
        };
        async_retry(io, outermost, once(outer), [this](std::exception_ptr e) { good += !e; });
    }

    std::shared_ptr<endpoint_set<int>> const set = std::make_shared<endpoint_set<int>>(std::vector{1, 2});
    bool fails = false;
    int sent = 0, good = 0;
};

TEST_F(three_layers, decision_75_tell_each_gate_of_the_end) {
    for (middle const how : all_middles) {
        auto const common = std::make_shared<token_budget>();
        auto const limit = places(2);
        for (int i = 0; i != 3; ++i) {
            start(how, common, all_gates({common, limit}), common);
            time.run();
        }
        EXPECT_EQ(good, 3);
        EXPECT_EQ(limit->in_flight(), 0u);
        good = 0;
    }
    fails = true;
    auto const common = std::make_shared<token_budget>();
    auto const breaker = std::make_shared<circuit_breaker>(circuit_breaker_options{.consecutive = 1});
    start(middle::retry, common, all_gates({common, breaker}), common);
    time.run();
    EXPECT_EQ(breaker->state(time.now()), breaker_state::open);
}

TEST_F(three_layers, decision_75_hand_an_admission_on_through_a_layer_without_the_gate) {
    for (middle const how : all_middles)
        for (bool const has_another : {false, true}) {
            auto const limit = places(4, {.greatest = 100, .longest_wait = 1s});
            for (int i = 0; i != 8; ++i)
                start(how, limit, has_another ? std::make_shared<token_budget>() : nullptr, limit);
            time.run();
            EXPECT_EQ(std::exchange(good, 0), 8);
            EXPECT_EQ(limit->in_flight(), 0u);
        }
}

TEST_F(three_layers, decision_86_an_operation_that_waits_for_a_rate_further_in_gets_a_new_time) {
    auto const common = std::make_shared<token_budget>();
    auto const rate = std::make_shared<rate_limit>(1, 1min);
    (void)rate->admit(1, time.now());
    auto const inner = once(all_gates({common, rate})).wait_when_refused();
    auto const outermost = [&](attempt which) -> asio::awaitable<void> {
        auto const leaf = [this] { return answer(); };
        co_await async_retry(which, leaf, inner, asio::use_awaitable);
    };
    async_retry(io, outermost, once(common), [this](std::exception_ptr e) { good += !e; });
    time.advance(1s);
    rate->update(100, 1s);
    time.run();
    EXPECT_EQ(good, 1);
    EXPECT_EQ(time.now() - begin, 1s);
}

// Nobody has asked a server: a limit of the client's own made all but one wait for too long.
TEST_F(three_layers, decision_76_a_wait_that_is_too_long_further_in_says_nothing_of_a_server) {
    auto const inside = std::make_shared<rate_limit>(1, 1s);
    auto const policy = once(inside).wait_when_refused();
    auto const taken = places(1, {.greatest = 100, .longest_wait = 1h});
    (void)taken->admit(1, time.now());
    for (int const way : {0, 1, 2, 3, 4}) {
        SCOPED_TRACE(way);
        retry_policy const inner = way == 0   ? policy.total_timeout(50ms)
                                   : way == 1 ? policy.deadline(time.now() + 50ms)
                                   : way == 2 ? policy // the limit of the attempt around it
                                   : way == 3 ? policy.max_elapsed(50ms)
                                              : once(taken).total_timeout(20ms);
        sent = 0;
        set->assign({1, 2});
        auto const breaker = std::make_shared<circuit_breaker>(circuit_breaker_options{.consecutive = 1});
        auto const at_server = [&](attempt which, int) -> asio::awaitable<void> {
            auto const leaf = [this]() -> asio::awaitable<void> {
                ++sent;
                auto const slow = [tries = 0]() mutable {
                    return tries++ ? error_code() : error_code(asio::error::try_again);
                };
                co_await async_retry(slow, retry_policy().backoff(constant(30ms)), asio::use_awaitable);
            };
            co_await async_retry(which, leaf, inner, asio::use_awaitable);
        };
        auto const chosen = on_endpoint(at_server, set);
        for (int i = 0; i != 40; ++i)
            async_retry(io, chosen, once(breaker).attempt_timeout(50ms), [](std::exception_ptr) {});
        time.run();
        EXPECT_LE(sent, 2);
        EXPECT_EQ(breaker->state(time.now()), breaker_state::closed);
        set->for_each([&](int, endpoint_status const& one) { EXPECT_EQ(one.state, breaker_state::closed); },
                      time.now());
        time.advance(1min);
    }
}

} // namespace
} // namespace asio_retry::test::three_layers
