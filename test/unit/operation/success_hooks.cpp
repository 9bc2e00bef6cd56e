// What the hook of a success may rely on, in every form of retry.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include "support/in_virtual_time.hpp"
#include "support/message_of.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <stdexcept>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class success_hook : public testing::Test, protected in_virtual_time {
protected:
    script played = script::failures(1);
    std::vector<retry_event> told;
    completion_record record;
    retry_policy const policy = every_100ms().on_success([this](retry_event const& e) { told.push_back(e); });
    retry_policy const throwing =
        every_100ms().on_success([](retry_event const&) { throw std::runtime_error("mine"); });

    asio::awaitable<int> fetch() {
        if (error_code const ec = played.next())
            throw boost::system::system_error(ec);
        co_return 7;
    }

    void expect_one(std::uint64_t attempt, duration elapsed) {
        ASSERT_EQ(told.size(), 1u);
        EXPECT_EQ(told.front().attempt, attempt);
        EXPECT_EQ(told.front().elapsed, elapsed);
        EXPECT_EQ(told.front().reason, stop_reason::succeeded);
    }
};

TEST_F(success_hook, of_a_token_operation) {
    async_retry(
        io, [&](auto token) { return async_scripted(io, played, std::move(token)); }, policy, record.handler());
    time.run();
    EXPECT_EQ(record.count, 1);
    expect_one(2, 100ms);
}

TEST_F(success_hook, of_an_awaitable) {
    run([&]() -> asio::awaitable<void> {
        auto operation = [&] { return fetch(); };
        EXPECT_EQ(co_await async_retry(operation, policy), 7);
    });
    expect_one(2, 100ms);
}

TEST_F(success_hook, of_an_awaitable_in_a_scope_and_with_limits) {
    retry_scope scope(io);
    run([&]() -> asio::awaitable<void> {
        auto operation = [&] { return fetch(); };
        auto const limited = policy.attempt_timeout(1s);
        EXPECT_EQ(co_await async_retry(scope, operation, limited), 7);
    });
    expect_one(2, 100ms);
}

TEST_F(success_hook, of_a_value_that_is_judged) {
    run([&]() -> asio::awaitable<void> {
        auto operation =
            fail_if([&] { return static_cast<int>(++played.attempts); }, [](int n) { return n < 3; });
        EXPECT_EQ(co_await async_retry(operation, policy, asio::use_awaitable), 3);
    });
    expect_one(3, 200ms);
}

TEST_F(success_hook, of_a_blocking_retry) {
    EXPECT_EQ(retry([&] { return 5; }, policy), 5);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told.front().attempt, 1u);
}

TEST_F(success_hook, decision_21_runs_on_the_executor_and_not_in_the_initiating_function) {
    played = {};
    async_retry(
        io, [&](auto token) { return async_inline(played, std::move(token)); }, policy, record.handler());
    EXPECT_TRUE(told.empty());
    EXPECT_EQ(record.count, 0);
    time.run();
    expect_one(1, 0s);
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.error, error_code());
}

/// An attempt that ends on a context of another thread.
TEST_F(success_hook, decision_21_runs_on_the_executor_wherever_the_attempt_ended) {
    asio::io_context other;
    bool is_home = false;
    retry_policy const watching = every_100ms().on_success(
        [&](retry_event const&) { is_home = io.get_executor().running_in_this_thread(); });
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            auto elsewhere = [&]() -> asio::awaitable<int> {
                co_await asio::post(asio::bind_executor(other, asio::use_awaitable));
                co_return 1;
            };
            EXPECT_EQ(co_await async_retry(elsewhere, watching), 1);
        },
        asio::detached);
    while (io.poll() + other.poll() != 0) {
        io.restart();
        other.restart();
    }
    EXPECT_TRUE(is_home);
}

TEST_F(success_hook, decision_53_what_it_throws_changes_no_success) {
    async_retry(
        io, [&](auto token) { return async_scripted(io, played, std::move(token)); }, throwing,
        record.handler());
    time.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.error, error_code());

    retry_report report;
    int value = 0;
    run([&]() -> asio::awaitable<void> {
        auto operation = with_report([&] { return fetch(); }, report);
        value = co_await async_retry(operation, throwing);
    });
    EXPECT_EQ(value, 7);
    EXPECT_EQ(report.hook_exceptions, 1u);
    EXPECT_EQ(message_of(report.hook_exception), "mine");
    EXPECT_EQ(retry([] { return 8; }, throwing), 8);
    auto const judged = fail_if([] { return 1; }, [](int) { return false; });
    EXPECT_EQ(retry(with_report(judged, report), throwing), 1);
    EXPECT_EQ(report.reason, stop_reason::succeeded);
    EXPECT_EQ(report.hook_exceptions, 1u);
}

TEST_F(success_hook, is_not_told_of_the_end_of_another_kind) {
    played = script::failures(9);
    async_retry(
        io, [&](auto token) { return async_scripted(io, played, std::move(token)); }, policy, record.handler());
    time.run();
    EXPECT_EQ(record.error, refused());
    EXPECT_TRUE(told.empty());
}

/// Nothing is sent twice, and what was cut short before it was sent is tried again.
TEST_F(success_hook, comes_after_an_attempt_that_had_not_sent) {
    pending_attempts pending(io);
    auto operation = [&](attempt a, auto token) {
        if (a.number == 2)
            a.mark_sent();
        return pending.async_attempt(std::move(token));
    };
    async_retry(io, operation, policy.attempt_timeout(1s).retry_sent(false), record.handler());
    time.run();
    EXPECT_EQ(pending.started, 2u);
    EXPECT_EQ(record.error, timed_out());
    EXPECT_TRUE(told.empty());
}

} // namespace
} // namespace asio_retry::test
