#include <asio_retry/async_pause.hpp>
#include <asio_retry/async_retry.hpp>

#include <asio_retry/policy_text.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/recording_gate.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

// Attempts that do not obey are left behind: the operation goes on, and nobody sees what they come to.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// Attempts that hear nothing, and end when the test says so.
class deaf_attempts {
public:
    template <typename Token>
    auto operator()(attempt which, Token&& token) {
        numbers.push_back(which.number);
        marks.push_back(which);
        return asio::async_initiate<Token, void(error_code, std::shared_ptr<int>)>(
            [](auto handler, deaf_attempts* self) {
                auto shared = std::make_shared<decltype(handler)>(std::move(handler));
                self->complete.push_back([shared](error_code ec, std::shared_ptr<int> value) {
                    std::move (*shared)(ec, std::move(value));
                });
            },
            token, this);
    }

    std::vector<std::uint64_t> numbers;
    std::vector<attempt> marks;
    std::vector<std::function<void(error_code, std::shared_ptr<int>)>> complete;
};

struct deliver_at_once : testing::Test, in_virtual_time {
    deaf_attempts attempts;
    int completions = 0;
    error_code error;
    std::shared_ptr<int> value;
    duration ended{};

    auto operation() {
        return [this](attempt which, auto&& token) {
            return attempts(which, std::forward<decltype(token)>(token));
        };
    }
    auto handler() {
        return [this](error_code ec, std::shared_ptr<int> v) {
            ++completions;
            error = ec;
            value = std::move(v);
            ended = time.now() - begin;
        };
    }
    void poll() { time.advance(0s); }
};

TEST_F(deliver_at_once, decision_57_attempts_that_time_out_are_retried_though_they_run) {
    async_retry(io, operation(), every_100ms(3).attempt_timeout(1s).deliver_at_once(), handler());
    time.run();
    EXPECT_THAT(attempts.numbers, ElementsAre(1, 2, 3));
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(error, timed_out());
    EXPECT_EQ(ended, 3200ms);
    auto const result = std::make_shared<int>(7);
    for (auto& complete : attempts.complete)
        complete({}, result);
    poll();
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(result.use_count(), 1) << "what nobody sees is destroyed";
}

TEST_F(deliver_at_once, decision_57_an_attempt_that_was_left_behind_is_not_the_next_one) {
    async_retry(io, operation(), every_100ms(2).attempt_timeout(1s).deliver_at_once(), handler());
    time.advance(1100ms);
    ASSERT_THAT(attempts.numbers, ElementsAre(1, 2));
    attempts.complete[0]({}, std::make_shared<int>(1));
    poll();
    EXPECT_EQ(completions, 0);
    attempts.complete[1]({}, std::make_shared<int>(2));
    poll();
    EXPECT_EQ(completions, 1);
    EXPECT_FALSE(error);
    EXPECT_EQ(*value, 2);
}

TEST_F(deliver_at_once, decision_57_what_it_says_then_is_nobodys_business) {
    async_retry(io, operation(), every_100ms(3).attempt_timeout(1s).deliver_at_once(), handler());
    time.advance(1100ms);
    attempts.marks[0].heed(pushback::never());
    attempts.marks[0].mark_healthy();
    attempts.marks[0].progress();
    attempts.complete[1](refused(), {});
    time.advance(100ms);
    EXPECT_THAT(attempts.numbers, ElementsAre(1, 2, 3)) << "the second has heard of nothing";
    attempts.complete[2](refused(), {});
    poll();
    EXPECT_EQ(completions, 1);
    attempts.complete[0]({}, {});
}

// It may send its request when the next attempt has sent the same.
TEST_F(deliver_at_once, decision_57_what_is_left_behind_counts_as_sent) {
    effect sent{};
    auto const policy = every_100ms(3).attempt_timeout(1s).deliver_at_once().retry_sent(false).on_give_up(
        [&](retry_event const& e) { sent = e.sent; });
    async_retry(io, operation(), policy, handler());
    time.run();
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(error, timed_out());
    EXPECT_THAT(attempts.numbers, ElementsAre(1));
    EXPECT_EQ(sent, effect::possible);
    attempts.complete[0]({}, {});
}

TEST_F(deliver_at_once, decision_57_what_an_attempt_says_in_its_time_counts) {
    async_retry(io, operation(), every_100ms(3).idle_timeout(1s).deliver_at_once().retry_sent(false),
                handler());
    time.advance(900ms);
    attempts.marks[0].progress();
    time.advance(900ms);
    EXPECT_EQ(completions, 0);
    attempts.marks[0].mark_sent();
    time.advance(1s);
    EXPECT_EQ(completions, 1) << "it may have been done";
    EXPECT_EQ(error, timed_out());
    EXPECT_EQ(ended, 1900ms);
    attempts.complete[0]({}, {});
}

TEST_F(deliver_at_once, decision_57_the_gate_hears_of_each_attempt_once) {
    auto const gate = std::make_shared<recording_gate>();
    async_retry(io, operation(), every_100ms(2).attempt_timeout(1s).deliver_at_once().gate(gate), handler());
    time.run();
    EXPECT_EQ(completions, 1);
    for (auto& complete : attempts.complete)
        complete({}, {});
    EXPECT_TRUE(gate->is_balanced());
}

TEST_F(deliver_at_once, decision_57_a_join_waits_for_what_was_left_behind) {
    std::optional<retry_scope> scope(io);
    bool joined = false;
    async_retry(*scope, operation(), retry_policy().deliver_at_once(), handler());
    scope->async_join([&](error_code) { joined = true; });
    scope->cancel();
    poll();
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(error, aborted());
    EXPECT_FALSE(joined);
    attempts.complete[0]({}, {});
    poll();
    EXPECT_TRUE(joined);
}

TEST_F(deliver_at_once, decision_57_the_callable_lives_until_the_last_attempt_has_ended) {
    auto alive = std::make_shared<int>(0);
    std::weak_ptr<int> const watched = alive;
    auto op = [this, alive = std::move(alive)](attempt which, auto&& token) {
        return attempts(which, std::forward<decltype(token)>(token));
    };
    async_retry(io, std::move(op), every_100ms(2).attempt_timeout(1s).deliver_at_once(), handler());
    time.run();
    EXPECT_EQ(completions, 1);
    EXPECT_FALSE(watched.expired());
    attempts.complete[1]({}, {});
    EXPECT_FALSE(watched.expired());
    attempts.complete[0]({}, {});
    EXPECT_TRUE(watched.expired());
}

TEST_F(deliver_at_once, decision_57_no_memory_of_the_handler_is_used_after_it) {
    std::optional<std::pmr::monotonic_buffer_resource> memory(std::in_place);
    auto with_memory = asio::bind_allocator(std::pmr::polymorphic_allocator<std::byte>(&*memory), handler());
    async_retry(io, operation(), retry_policy().total_timeout(1s).deliver_at_once(), std::move(with_memory));
    time.run();
    EXPECT_EQ(completions, 1);
    memory.reset();
    attempts.complete[0]({}, {});
}

TEST_F(deliver_at_once, decision_57_more_than_126_are_waited_for) {
    async_retry(io, operation(),
                retry_policy().unlimited_attempts().backoff(constant(0s)).attempt_timeout(1s).deliver_at_once(),
                handler());
    time.run();
    EXPECT_EQ(attempts.numbers.size(), 127u) << "the last one is told, and not left behind";
    attempts.complete[3]({}, {});
    attempts.complete[126](refused(), {});
    poll();
    EXPECT_EQ(attempts.numbers.size(), 128u);
    attempts.complete[127]({}, {});
    poll();
    EXPECT_EQ(completions, 1);
    for (std::size_t i = 0; i != 126; ++i)
        if (i != 3)
            attempts.complete[i]({}, {});
}

TEST_F(deliver_at_once, decision_57_a_context_may_be_destroyed_with_what_was_left_behind) {
    std::weak_ptr<int> watched;
    {
        asio::io_context own;
        virtual_time virtually(own);
        auto const alive = std::make_shared<int>(0);
        watched = alive;
        auto coroutine = [alive](attempt) -> asio::awaitable<void> {
            auto const executor = co_await asio::this_coro::executor;
            co_await asio::this_coro::throw_if_cancelled(false);
            for (;;) {
                co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
                co_await async_pause(executor, 1h, asio::use_awaitable);
            }
        };
        async_retry(own, coroutine, every_100ms(3).attempt_timeout(1s).deliver_at_once(),
                    [&](std::exception_ptr e) { error = code_of(e); });
        virtually.advance(2150ms);
        EXPECT_FALSE(error) << "the third runs";
    }
    EXPECT_TRUE(watched.expired());
}

TEST_F(deliver_at_once, decision_57_in_a_coroutine_too) {
    std::vector<std::uint64_t> begun;
    auto deaf = [&](attempt which) -> asio::awaitable<int> {
        begun.push_back(which.number);
        co_await asio::this_coro::throw_if_cancelled(false);
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await async_pause(co_await asio::this_coro::executor, 1h, asio::use_awaitable);
        co_return 1;
    };
    auto const caller = [&]() -> asio::awaitable<void> {
        auto const own = co_await asio::this_coro::executor;
        try {
            co_await async_retry(deaf, every_100ms(2).attempt_timeout(1s).deliver_at_once());
        } catch (boost::system::system_error const& e) {
            error = e.code();
        }
        ended = time.now() - begin;
        EXPECT_EQ(own, co_await asio::this_coro::executor);
    };
    asio::co_spawn(io, caller, asio::detached);
    time.run();
    EXPECT_THAT(begun, ElementsAre(1, 2));
    EXPECT_EQ(error, timed_out());
    EXPECT_EQ(ended, 2100ms);
}

TEST_F(deliver_at_once, decision_57_whoever_cancels_in_the_initiation_is_heard) {
    asio::cancellation_signal signal;
    auto op = [&](attempt which, auto&& token) {
        signal.emit(asio::cancellation_type::terminal);
        return attempts(which, std::forward<decltype(token)>(token));
    };
    async_retry(io, op, retry_policy().deliver_at_once(),
                asio::bind_cancellation_slot(signal.slot(), handler()));
    EXPECT_EQ(completions, 0) << "never inside the initiating function";
    poll();
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(error, aborted());
    for (auto& complete : attempts.complete)
        complete({}, {});
}

// An inner retry takes no `total` when its first attempt has failed. It went on for ever, and nobody could end
// it.
TEST_F(deliver_at_once, decision_57_what_is_left_behind_is_told_to_terminate) {
    retry_policy const endless = retry_policy().backoff(constant(1s)).unlimited_attempts().retry_when_nested();
    retry_policy const leaves = retry_policy().allow_total_cancellation().deliver_at_once();
    int made = 0;
    auto const failing = [&made] { return ++made, error_code(asio::error::connection_refused); };
    auto const inner = [&](attempt outer, auto&& token) {
        return async_retry(outer, failing, endless, std::forward<decltype(token)>(token));
    };
    auto const awaited = [&](attempt outer) -> asio::awaitable<void> {
        co_await async_retry(outer, failing, endless, asio::use_awaitable);
    };
    auto const caller = [&]() -> asio::awaitable<void> {
        co_await asio::post(asio::use_awaitable);
        co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
        co_await async_retry(awaited, leaves);
    };
    for (bool const awaits : {false, true})
        for (auto const type : {asio::cancellation_type::total, asio::cancellation_type::partial}) {
            asio::cancellation_signal signal;
            completions = 0;
            auto ends = asio::bind_cancellation_slot(signal.slot(), [this](auto const&) { ++completions; });
            if (awaits)
                asio::co_spawn(io, caller, std::move(ends));
            else
                async_retry(io, inner, leaves, std::move(ends));
            time.advance(10s);
            EXPECT_GT(made, 1);
            signal.emit(type);
            poll();
            EXPECT_EQ(completions, 1);
            EXPECT_EQ(scheduler(io).pending(), 0u) << "the inner retry has ended, too";
        }
}

TEST_F(deliver_at_once, decision_57_a_success_in_time_is_delivered) {
    async_retry(io, operation(), retry_policy().total_timeout(1s).deliver_at_once(), handler());
    attempts.complete[0]({}, std::make_shared<int>(5));
    poll();
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(*value, 5);
}

TEST_F(deliver_at_once, decision_57_the_setting_has_a_text) {
    EXPECT_EQ(to_string(parse_policy("max_attempts(2) deliver_at_once()")),
              to_string(retry_policy().max_attempts(2).deliver_at_once()));
    EXPECT_TRUE(parse_policy("deliver_at_once()").settings().deliver_at_once);
}

} // namespace
} // namespace asio_retry::test
