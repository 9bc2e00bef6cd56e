// The limits of attempts that last, beside the other limits, inside one another, and when they are cancelled.
#include <asio_retry/async_pause.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class lasting_limits : public testing::Test, protected in_virtual_time {
protected:
    int attempts = 0;
    std::optional<error_code> ended;

    /// An attempt that says something every second until `silent_after`, and ends when it is told to.
    auto connection(duration silent_after = duration::zero(), bool is_healthy = false) {
        return [this, silent_after, is_healthy](attempt a) -> asio::awaitable<void> {
            ++attempts;
            if (is_healthy)
                a.mark_healthy();
            for (duration said{};; said += 1s) {
                if (said < silent_after)
                    a.progress();
                co_await async_pause(io, 1s, asio::use_awaitable);
            }
        };
    }

    auto note() {
        return [this](std::exception_ptr e) {
            ended = error_code();
            try {
                if (e)
                    std::rethrow_exception(e);
            } catch (boost::system::system_error const& thrown) {
                ended = thrown.code();
            }
        };
    }

    duration run(auto const& operation, retry_policy const& policy) {
        attempts = 0;
        ended.reset();
        time_point const began = time.now();
        async_retry(io, operation, policy, note());
        time.run();
        io.restart();
        return time.now() - began;
    }
};

TEST_F(lasting_limits, decision_41_a_last_attempt_is_left_time_by_clamp) {
    auto const policy =
        retry_policy().backoff(constant(10s)).jitter(no_jitter()).unlimited_attempts().idle_timeout(5s);
    EXPECT_EQ(run(connection(), policy.max_elapsed(59s)), 50s);
    EXPECT_EQ(attempts, 4);
    EXPECT_LE(run(connection(), policy.clamp().total_timeout(59s)), 59s);
    EXPECT_EQ(attempts, 5) << "the last wait is cut short";
    EXPECT_EQ(ended, timed_out());
}

TEST_F(lasting_limits, whichever_is_first_ends_the_attempt) {
    retry_policy const once = retry_policy().max_attempts(1);
    EXPECT_EQ(run(connection(7s), once.idle_timeout(5s).setup_timeout(30s).attempt_timeout(1min)), 11s);
    EXPECT_EQ(run(connection(7s), once.idle_timeout(5s).setup_timeout(10s).attempt_timeout(1min)), 10s);
    EXPECT_EQ(run(connection(7s, true), once.idle_timeout(5s).setup_timeout(3s).attempt_timeout(1min)), 11s);
    EXPECT_EQ(run(connection(1h), once.idle_timeout(5s).attempt_timeout(8s)), 8s);
    EXPECT_EQ(run(connection(1h, true), once.idle_timeout(5s).setup_timeout(3s).total_timeout(6s)), 6s);
    EXPECT_EQ(ended, timed_out());
}

TEST_F(lasting_limits, silence_as_long_as_the_attempt_may_take_has_no_limit_of_its_own) {
    retry_policy const once = retry_policy().max_attempts(1).attempt_timeout(8s);
    for (duration const silence : {8s, 9s, 100s}) {
        EXPECT_EQ(run(connection(), once.idle_timeout(silence)), 8s);
        EXPECT_EQ(run(connection(5s), once.idle_timeout(silence)), 8s);
    }
    EXPECT_EQ(run(connection(), once.idle_timeout(7s)), 7s);
}

TEST_F(lasting_limits, a_nested_retry_has_limits_of_its_own) {
    auto const inner =
        retry_policy().max_attempts(2).backoff(constant(1s)).jitter(no_jitter()).idle_timeout(5s);
    auto const nested = [&](bool speaks) {
        return [this, inner, speaks](attempt outer) -> asio::awaitable<void> {
            co_await async_retry(
                [this, outer, speaks](attempt a) -> asio::awaitable<void> {
                    if (speaks)
                        outer.progress();
                    co_await connection()(a);
                },
                inner);
        };
    };
    auto const outer = retry_policy().max_attempts(1);
    EXPECT_EQ(run(nested(false), outer), 11s);
    EXPECT_EQ(attempts, 2);
    EXPECT_EQ(run(nested(false), outer.idle_timeout(8s)), 8s) << "the outer attempt has said nothing";
    EXPECT_EQ(run(nested(true), outer.idle_timeout(8s)), 11s) << "it has, at 6 s";
    EXPECT_EQ(run(nested(true), outer.idle_timeout(8s).setup_timeout(9s)), 9s);
    EXPECT_EQ(ended, timed_out());
}

TEST_F(lasting_limits, are_cancelled_in_every_form) {
    retry_policy const any = retry_policy().unlimited_attempts();
    std::vector<retry_policy> const policies = {any.idle_timeout(5s), any.setup_timeout(1h),
                                                any.idle_timeout(5s).setup_timeout(1h).attempt_timeout(2h)};
    asio::cancellation_signal signal;
    auto const bound = [&] { return asio::bind_cancellation_slot(signal.slot(), note()); };
    auto const talkative = connection(1h); // its coroutines refer to it
    auto const by_token = [&](attempt const& a, auto token) {
        return asio::co_spawn(io, talkative(a), std::move(token));
    };
    for (retry_policy const& policy : policies) {
        std::vector<std::function<void()>> const forms = {
            [&] { async_retry(io, talkative, policy, bound()); },
            [&] { async_retry(io, by_token, policy, bound()); },
            [&] { asio::co_spawn(io, async_retry(talkative, policy, asio::use_awaitable), bound()); },
            [&] {
                asio::co_spawn(asio::make_strand(io), async_retry(talkative, policy, asio::use_awaitable),
                               bound());
            },
        };
        for (auto const& start : forms) {
            ended.reset();
            io.restart();
            start();
            time.advance(1min);
            EXPECT_FALSE(ended);
            time_point const told = time.now();
            signal.emit(asio::cancellation_type::terminal);
            time.run();
            EXPECT_EQ(time.now(), told) << "at once";
            EXPECT_EQ(ended, aborted());
            EXPECT_EQ(scheduler(io).pending(), 0u);
        }
    }
}

} // namespace
} // namespace asio_retry::test
