#include "combinations/combination.hpp"

#if __has_include(<boost/asio/cancel_after.hpp>)
#include <asio_retry/retrying.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancel_at.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#define ASIO_RETRY_TEST_CANCEL_AFTER
#endif

namespace asio_retry::test {
namespace {

#ifdef ASIO_RETRY_TEST_CANCEL_AFTER

COMBINATION_TEST(cancel_after, does_nothing_when_the_operation_is_faster, all_combinations<>) {
    expect_everything_on<Combination>(given, [](auto& t) {
        // The timer and the operation must not meet on two threads.
        auto const strand = asio::make_strand(t.given_executor());
        async_retry(t.given_executor(), t.operation(), t.policy(),
                    asio::cancel_after(1h, asio::bind_executor(strand, t.handler())));
    });
}

// The same types as above. The timer is real and the wait on virtual time, which does not move.
TEST(cancel_after_of_a_waiting_operation, ends_it) {
    asio::io_context io;
    virtual_time time(io);
    story failing(1000, io.get_executor());
    auto const policy = failing.policy().unlimited_attempts().backoff(constant(1h));
    async_retry(tracking_executor(io.get_executor(), given), token_operation::make(failing, nullptr), policy,
                asio::cancel_after(0s, noting_handler(failing, nullptr)));
    io.run();
    failing.expect_called_on(given);
    EXPECT_EQ(failing.attempts(), 1);
    ASSERT_EQ(failing.results().size(), 1u);
    EXPECT_EQ(failing.results()[0].error, aborted());
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST(cancel_after_inside_retrying, ends_the_operation) {
    asio::io_context io;
    asio::steady_timer timer(io, asio::steady_timer::time_point::max());
    error_code end;
    timer.async_wait(retrying(retry_policy(), asio::cancel_after(0s, [&](error_code ec) { end = ec; })));
    io.run();
    EXPECT_EQ(end, aborted());
}

COMBINATION_TEST(cancel_after, does_nothing_at_a_time_that_is_late_enough, all_combinations<>) {
    expect_everything_on<Combination>(given, [](auto& t) {
        auto const strand = asio::make_strand(t.given_executor());
        async_retry(
            t.given_executor(), t.operation(), t.policy(),
            asio::cancel_at(std::chrono::steady_clock::now() + 1h, asio::bind_executor(strand, t.handler())));
    });
}

// Without a token: that of the executor, which here awaits.
COMBINATION_TEST(cancel_after_of_a_coroutine, as_an_adapter_of_the_default_token,
                 all_combinations<typical_forms>) {
    expect_everything_on<Combination>(own, [](auto& t) {
        auto const strand = asio::make_strand(t.own_executor());
        using executor = asio::use_awaitable_t<>::executor_with_default<std::decay_t<decltype(strand)>>;
        asio::co_spawn(
            strand,
            [&t, strand, busy = t.busy()] {
                return note(t.told(),
                            async_retry(executor(strand), t.operation(), t.policy(), asio::cancel_after(1h)));
            },
            [](std::exception_ptr e) {
                if (e)
                    std::rethrow_exception(e);
            });
    });
}

// async_retry without an executor has none to give to a timer, so this one brings its own.
COMBINATION_TEST(cancel_after_of_a_coroutine, with_a_timer_around_an_error_that_is_redirected,
                 all_combinations<typical_forms>) {
    if constexpr (std::is_same_v<typename Combination::form::failure, error_code>) {
        expect_everything_on<Combination>(own, [](auto& t) {
            auto const strand = asio::make_strand(t.own_executor());
            using executor = std::decay_t<decltype(strand)>;
            using timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                                     asio::wait_traits<std::chrono::steady_clock>, executor>;
            asio::co_spawn(
                strand,
                [&t, strand, busy = t.busy()] {
                    return note_redirected(
                        t.told(), [&t, late = std::make_shared<timer>(strand)](error_code& e) {
                            return async_retry(
                                t.operation(), t.policy(),
                                asio::cancel_after(*late, 1h, asio::redirect_error(asio::use_awaitable, e)));
                        });
                },
                [](std::exception_ptr e) {
                    if (e)
                        std::rethrow_exception(e);
                });
        });
    }
}

/// What cancel_after does to an operation whose attempts fail, and which waits an hour on virtual time, or to
/// its first attempt, which succeeds though it is cancelled.
struct cancel_after_of_an_operation : testing::Test {
    template <typename Cancellation>
    void start(Cancellation around) {
        async_retry(
            io.get_executor(),
            [this](auto token) {
                ++attempts;
                return asio::async_initiate<decltype(token), void(error_code, int)>(
                    [this](auto handler) {
                        if (attempts <= failing) {
                            std::move(handler)(refused(), attempts);
                            return;
                        }
                        busy = [this, handler = std::make_shared<decltype(handler)>(std::move(handler)),
                                work = asio::make_work_guard(io)](error_code ec) {
                            asio::post(io, asio::append(std::move(*handler), ec, attempts));
                        };
                    },
                    token);
            },
            policy, around([this](error_code ec, int value) { results.push_back({ec, value}); }));
    }

    void end_attempt(error_code ec) {
        std::exchange(busy, nullptr)(ec);
        poll();
    }

    void poll() {
        io.restart();
        io.poll();
    }

    asio::io_context io;
    virtual_time time{io};
    retry_policy policy = retry_policy().unlimited_attempts().backoff(constant(1h)).jitter(no_jitter());
    int failing = 0; // so many of the first attempts, at once
    int attempts = 0;
    std::function<void(error_code)> busy;
    std::vector<outcome> results;
};

auto after(asio::cancellation_type type) {
    return [type](auto handler) { return asio::cancel_after(0s, type, std::move(handler)); };
}

TEST_F(cancel_after_of_an_operation, does_not_lose_a_success_that_comes_after_it) {
    start(after(asio::cancellation_type::terminal));
    poll();
    ASSERT_TRUE(busy);
    EXPECT_TRUE(results.empty());
    end_attempt({});
    EXPECT_EQ(results, (std::vector<outcome>{{error_code(), 1}}));
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(cancel_after_of_an_operation, lets_no_attempt_follow_the_one_that_fails) {
    start(after(asio::cancellation_type::terminal));
    poll();
    end_attempt(refused());
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].error, aborted());
    EXPECT_EQ(attempts, 1);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

// The timer has run out before the attempt fails, and its signal comes once.
TEST_F(cancel_after_of_an_operation, with_total_ends_it_as_long_as_nothing_failed) {
    start(after(asio::cancellation_type::total));
    poll();
    end_attempt(refused());
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].error, aborted());
}

TEST_F(cancel_after_of_an_operation, with_total_changes_nothing_after_a_failure) {
    failing = 1;
    start(after(asio::cancellation_type::total));
    poll();
    EXPECT_TRUE(results.empty());
    time.advance(1h);
    ASSERT_TRUE(busy);
    end_attempt({});
    EXPECT_EQ(results, (std::vector<outcome>{{error_code(), 2}}));
}

TEST_F(cancel_after_of_an_operation, with_total_ends_it_after_a_failure_where_the_policy_allows_that) {
    policy = policy.allow_total_cancellation();
    failing = 1;
    start(after(asio::cancellation_type::total));
    poll();
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].error, aborted());
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

#endif

} // namespace
} // namespace asio_retry::test
