// Different failures, different delays, in every form of retry.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/in_virtual_time.hpp"
#include "support/manual_waits.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <stdexcept>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// A refused connection is tried again after a second, then two; what hangs after a minute, once.
class rules_of_failures : public testing::Test, protected in_virtual_time {
protected:
    script played{{refused(), aborted(), refused(), timed_out()}};
    completion_record record;
    retry_policy const policy = every_100ms(9)
                                    .retry_if(any_failure)
                                    .when([](error_code ec) { return ec == refused(); }, exponential(1s, 2))
                                    .when([](error_code ec) { return ec == timed_out(); }, constant(1min))
                                    .max_attempts_when([](error_code ec) { return ec == timed_out(); }, 2);
    static constexpr duration all = 1s + 100ms + 2s + 1min;

    duration waited() const { return time.now() - begin; }

    asio::awaitable<int> fetch() {
        if (error_code const ec = played.next())
            throw boost::system::system_error(ec);
        co_return 7;
    }
};

TEST_F(rules_of_failures, of_a_token_operation) {
    async_retry(
        io, [&](auto token) { return async_scripted(io, played, std::move(token)); }, policy, record.handler());
    time.run();
    EXPECT_EQ(record.value, 5);
    EXPECT_EQ(waited(), all);
}

TEST_F(rules_of_failures, of_an_awaitable) {
    run([&]() -> asio::awaitable<void> {
        auto operation = [&] { return fetch(); };
        EXPECT_EQ(co_await async_retry(operation, policy), 7);
    });
    EXPECT_EQ(waited(), all);
}

TEST_F(rules_of_failures, of_an_awaitable_in_a_scope_and_with_limits) {
    retry_scope scope(io);
    run([&]() -> asio::awaitable<void> {
        auto operation = [&] { return fetch(); };
        EXPECT_EQ(co_await async_retry(scope, operation, policy.attempt_timeout(1h)), 7);
    });
    EXPECT_EQ(waited(), all);
}

TEST_F(rules_of_failures, end_the_operation_where_a_limit_is_reached) {
    played = {{timed_out(), refused(), timed_out(), refused()}};
    async_retry(
        io, [&](auto token) { return async_scripted(io, played, std::move(token)); }, policy, record.handler());
    time.run();
    EXPECT_EQ(record.error, timed_out());
    EXPECT_EQ(played.attempts, 3u);
}

TEST_F(rules_of_failures, of_one_type_of_exception) {
    struct busy : std::runtime_error {
        using std::runtime_error::runtime_error;
    };
    int made = 0;
    auto const patient_with_busy = every_100ms(4).when<busy>([](busy const&) { return true; }, constant(1h));
    auto const operation = [&] {
        if (++made == 1)
            throw std::runtime_error("other");
        if (made == 2)
            throw busy("busy");
        return made;
    };
    async_retry(io, operation, patient_with_busy, [](std::exception_ptr e, int) { EXPECT_FALSE(e); });
    time.run();
    EXPECT_EQ(waited(), 1h + 100ms);
}

TEST_F(rules_of_failures, of_a_value_that_is_rejected) {
    int made = 0;
    auto const operation = fail_if([&] { return ++made; }, [](int n) { return n < 3; });
    auto const rejected = [](error_code ec) { return ec == error::result_rejected; };
    async_retry(io, operation, every_100ms(4).when(rejected, exponential(1s, 2)),
                [](std::exception_ptr, int) {});
    time.run();
    EXPECT_EQ(waited(), 3s);
}

TEST_F(rules_of_failures, of_a_blocking_retry) {
    manual_waits waits;
    auto const before = waits.now();
    EXPECT_EQ(retry([&] { return played.next(); }, policy, waits), error_code());
    EXPECT_EQ(waits.now() - before, all);
}

TEST_F(rules_of_failures, are_not_for_ticks) {
    backoff_ticker ticker(io, every_100ms().when(any_failure, constant(1h)).max_attempts_when(any_failure, 1));
    int ticks = 0;
    std::function<void(error_code)> const on_tick = [&](error_code ec) {
        if (!ec && ++ticks < 3)
            ticker.async_wait(on_tick);
    };
    ticker.async_wait(on_tick);
    time.run();
    EXPECT_EQ(ticks, 3);
    EXPECT_EQ(waited(), 200ms);
}

} // namespace
} // namespace asio_retry::test
