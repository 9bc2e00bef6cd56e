// A step before each retry.
#include <asio_retry/before_retry.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include "support/elements.hpp"
#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/refuses.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <boost/system/result.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// An operation `void(error_code)` that completes with `ec`.
template <typename Token>
auto async_end(asio::io_context& io, error_code ec, Token&& token) {
    return asio::async_initiate<Token, void(error_code)>(
        [](auto handler, asio::io_context* context, error_code code) {
            asio::post(*context, asio::append(std::move(handler), code));
        },
        token, &io, ec);
}

class before_retry_step : public testing::Test, protected in_virtual_time {
protected:
    script played = script::failures(2);
    std::vector<std::string> done;

    asio::awaitable<void> pause(duration d) {
        co_await asio::post(io, asio::use_awaitable); // on Windows a timer that is over is not ended by poll()
        done.push_back("step " + std::to_string(d.count()));
    }

    asio::awaitable<int> fetch() {
        done.push_back("fetch");
        if (error_code const ec = played.next())
            throw boost::system::system_error(ec);
        co_return static_cast<int>(played.attempts);
    }
};

TEST_F(before_retry_step, comes_before_each_retry_and_not_before_the_first_attempt) {
    auto const took = run([&]() -> asio::awaitable<void> {
        auto step = [&](attempt a) { return pause(duration(static_cast<std::int64_t>(a.number))); };
        auto operation = before_retry([&] { return fetch(); }, step);
        EXPECT_EQ(co_await async_retry(operation, every_100ms()), 3);
    });
    EXPECT_EQ(took, 200ms) << "after the wait";
    EXPECT_THAT(done, elements("fetch", "step 2", "fetch", "step 3", "fetch"));
}

TEST_F(before_retry_step, fails_the_attempt_where_it_fails) {
    int steps = 0;
    run([&]() -> asio::awaitable<void> {
        auto step = [&]() -> asio::awaitable<void> {
            if (++steps == 1)
                throw std::runtime_error("no token");
            co_return;
        };
        auto operation = before_retry([&] { return fetch(); }, step);
        EXPECT_EQ(co_await async_retry(operation, every_100ms(4)), 3);
    });
    EXPECT_EQ(steps, 3);
    EXPECT_EQ(played.attempts, 3u) << "the operation is not called where the step failed";
}

TEST_F(before_retry_step, gives_the_operation_its_own_error) {
    run([&]() -> asio::awaitable<void> {
        auto step = [&]() -> asio::awaitable<void> {
            throw std::runtime_error("no token");
            co_return;
        };
        auto operation = before_retry([&] { return fetch(); }, step);
        EXPECT_THROW(co_await async_retry(operation, every_100ms()), std::runtime_error);
        EXPECT_EQ(played.attempts, 1u);
    });
}

// --- forms of the operation

TEST_F(before_retry_step, of_a_token_operation) {
    run([&]() -> asio::awaitable<void> {
        auto operation = before_retry([&](auto token) { return async_scripted(io, played, std::move(token)); },
                                      [&] { done.push_back("step"); });
        auto [ec, value] = co_await async_retry(operation, every_100ms(), asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(ec, error_code());
        EXPECT_EQ(value, 3);
    });
    EXPECT_EQ(done.size(), 2u);
}

TEST_F(before_retry_step, of_a_token_operation_with_a_handler) {
    completion_record record;
    async_retry(io,
                before_retry([&](attempt, auto token) { return async_scripted(io, played, std::move(token)); },
                             [&](auto token) { return async_end(io, {}, std::move(token)); }),
                every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.value, 3);
}
TEST_F(before_retry_step, of_a_deferred_operation) {
    run([&]() -> asio::awaitable<void> {
        auto operation = before_retry([&] { return async_scripted(io, played, asio::deferred); },
                                      [&] { return pause(1ns); });
        EXPECT_EQ(co_await async_retry(operation, every_100ms(), asio::use_awaitable), 3);
    });
    EXPECT_EQ(done.size(), 2u);
}

TEST_F(before_retry_step, of_an_awaitable_that_carries_its_error) {
    run([&]() -> asio::awaitable<void> {
        auto operation = before_retry(
            [&]() -> asio::awaitable<std::tuple<error_code, std::unique_ptr<int>>> {
                error_code const ec = played.next();
                co_return std::tuple(ec, std::make_unique<int>(4));
            },
            [&]() -> asio::awaitable<error_code> { co_return error_code(); });
        auto [ec, value] = co_await async_retry(operation, every_100ms(), asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(ec, error_code());
        EXPECT_EQ(*value, 4);
    });
    EXPECT_EQ(played.attempts, 3u);
}

TEST_F(before_retry_step, of_a_plain_callable) {
    auto operation = before_retry([&] { return played.next(); }, [&] { done.push_back("step"); });
    EXPECT_EQ(retry(operation, retry_policy().backoff(constant(0s))), error_code());
    EXPECT_EQ(done.size(), 2u);
    played = script::failures(2);
    completion_record record;
    async_retry(io,
                before_retry(
                    [&]() -> boost::system::result<int> {
                        if (error_code const ec = played.next())
                            return ec;
                        return 8;
                    },
                    [&] { return pause(1ns); }),
                every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(record.value, 8);
    EXPECT_EQ(done.size(), 4u);
}

// --- forms of the step

TEST_F(before_retry_step, fails_with_its_code_where_the_operation_has_codes) {
    error_code const lost = asio::error::host_unreachable;
    auto const ends_with = [&](auto step) {
        played = script::failures(9);
        completion_record record;
        async_retry(
            io, before_retry([&](auto token) { return async_scripted(io, played, std::move(token)); }, step),
            every_100ms(), record.handler());
        time.run();
        EXPECT_EQ(played.attempts, 1u);
        return record.error;
    };
    EXPECT_EQ(ends_with([&] { return lost; }), lost);
    EXPECT_EQ(ends_with([&]() -> boost::system::result<int> { return lost; }), lost);
    EXPECT_EQ(ends_with([&]() -> asio::awaitable<error_code> { co_return lost; }), lost);
    EXPECT_EQ(ends_with([&]() -> asio::awaitable<boost::system::result<int>> { co_return lost; }), lost);
    EXPECT_EQ(ends_with([&](auto token) { return async_end(io, lost, std::move(token)); }), lost);
    EXPECT_EQ(ends_with([&] { throw boost::system::system_error(lost); }), lost);
    EXPECT_EQ(ends_with([&]() -> asio::awaitable<void> {
                  throw boost::system::system_error(lost);
                  co_return;
              }),
              lost);
}

TEST_F(before_retry_step, fails_with_an_exception_where_the_operation_throws) {
    error_code const lost = asio::error::host_unreachable;
    run([&]() -> asio::awaitable<void> {
        auto operation = before_retry([&] { return fetch(); }, [&] { return lost; });
        error_code seen;
        try {
            co_await async_retry(operation, every_100ms());
        } catch (boost::system::system_error const& e) {
            seen = e.code();
        }
        EXPECT_EQ(seen, lost);
    });
}

/// A step whose completion carries an exception.
TEST_F(before_retry_step, fails_with_what_its_completion_carries) {
    run([&]() -> asio::awaitable<void> {
        auto step = [&](auto token) {
            return asio::async_initiate<decltype(token), void(std::exception_ptr)>(
                [](auto handler, asio::io_context* context) {
                    asio::post(*context, asio::append(std::move(handler),
                                                      std::make_exception_ptr(std::runtime_error("no token"))));
                },
                token, &io);
        };
        EXPECT_THROW(co_await async_retry(before_retry([&] { return fetch(); }, step), every_100ms()),
                     std::runtime_error);
    });
    EXPECT_EQ(played.attempts, 1u);
}

/// Nobody says so: an operation that takes no attempt is healthy from its beginning.
TEST_F(before_retry_step, does_not_ask_for_marks_of_health) {
    int attempts = 0;
    run([&]() -> asio::awaitable<void> {
        auto operation = before_retry(
            [&]() -> asio::awaitable<void> {
                time.advance(1s);
                if (++attempts < 5)
                    throw std::runtime_error("lost");
                co_return;
            },
            [&](attempt) {});
        co_await async_retry(operation, every_100ms(2).reset_after(1s));
    });
    EXPECT_EQ(attempts, 5);
}

// --- limits and cancellation

TEST_F(before_retry_step, has_the_same_time_limit_as_its_attempt) {
    auto const took = run([&]() -> asio::awaitable<void> {
        auto step = [&]() -> asio::awaitable<void> {
            asio::steady_timer never(io, asio::steady_timer::time_point::max());
            co_await never.async_wait(asio::use_awaitable);
        };
        auto operation =
            before_retry([&](auto token) { return async_scripted(io, played, std::move(token)); }, step);
        auto [ec, value] = co_await async_retry(operation, every_100ms().attempt_timeout(1s),
                                                asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(ec, timed_out());
    });
    EXPECT_EQ(took, 2200ms);
    EXPECT_EQ(played.attempts, 1u);
}

TEST_F(before_retry_step, is_cancelled_as_its_attempt_is) {
    asio::cancellation_signal signal;
    completion_record record;
    asio::steady_timer never(io, asio::steady_timer::time_point::max());
    async_retry(io,
                before_retry([&](auto token) { return async_scripted(io, played, std::move(token)); },
                             [&](auto token) { return never.async_wait(std::move(token)); }),
                every_100ms(), asio::bind_cancellation_slot(signal.slot(), record.handler()));
    time.advance(150ms);
    EXPECT_EQ(record.count, 0);
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(played.attempts, 1u);
}

TEST_F(before_retry_step, decision_16_hears_of_a_total_cancellation_where_that_is_allowed) {
    for (bool const allowed : {false, true}) {
        asio::cancellation_signal signal;
        completion_record record;
        pending_attempts steps(io);
        played = script::failures(1);
        auto const policy = every_100ms();
        async_retry(io,
                    before_retry([&](auto token) { return async_scripted(io, played, std::move(token)); },
                                 [&](auto token) { return steps.async_attempt(std::move(token)); }),
                    allowed ? policy.allow_total_cancellation() : policy,
                    asio::bind_cancellation_slot(signal.slot(), record.handler()));
        time.advance(150ms);
        ASSERT_TRUE(steps.pending());
        signal.emit(asio::cancellation_type::total);
        time.advance(0s);
        EXPECT_EQ(steps.pending(), !allowed);
        if (steps.pending())
            steps.complete(error_code());
        time.run();
        EXPECT_EQ(record.error, allowed ? aborted() : error_code());
        EXPECT_EQ(played.attempts, allowed ? 1u : 2u);
    }
}

/// The step succeeds although it is told to stop: the operation is not begun.
TEST_F(before_retry_step, decision_15_a_cancellation_during_the_step_is_not_lost) {
    asio::cancellation_signal signal;
    completion_record record;
    pending_attempts steps(io);
    steps.on_cancel = nullptr;
    async_retry(io,
                before_retry([&](auto token) { return async_scripted(io, played, std::move(token)); },
                             [&](auto token) { return steps.async_attempt(std::move(token)); }),
                every_100ms(), asio::bind_cancellation_slot(signal.slot(), record.handler()));
    time.advance(150ms);
    ASSERT_TRUE(steps.pending());
    signal.emit(asio::cancellation_type::terminal);
    steps.complete(error_code());
    time.run();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(played.attempts, 1u);
}

// --- with others

TEST_F(before_retry_step, stands_inside_and_outside_of_the_other_forms) {
    retry_report report;
    run([&]() -> asio::awaitable<void> {
        auto judged = fail_if([&] { return static_cast<int>(++played.attempts); }, [](int n) { return n < 3; });
        auto operation = with_report(before_retry(judged, [&] { return pause(1ns); }), report);
        EXPECT_EQ(co_await async_retry(operation, every_100ms()), 3);
        EXPECT_EQ(report.attempts, 3u);
        EXPECT_EQ(done.size(), 2u);
        played.attempts = 0;
        auto plain = [&] { return static_cast<int>(++played.attempts); };
        EXPECT_EQ(co_await async_retry(
                      fail_if(before_retry(plain, [&] { return pause(1ns); }), [](int n) { return n < 3; }),
                      every_100ms()),
                  3);
        EXPECT_EQ(done.size(), 4u);
    });
}

TEST_F(before_retry_step, leaves_marks_of_health_to_the_operation) {
    std::uint64_t seen = 0;
    run([&]() -> asio::awaitable<void> {
        auto operation = before_retry(
            [&](attempt a) -> asio::awaitable<void> {
                seen = a.number;
                a.mark_healthy();
                if (a.number < 5)
                    throw std::runtime_error("lost");
                co_return;
            },
            [&](attempt a) { EXPECT_EQ(a.number, seen + 1); });
        co_await async_retry(operation, every_100ms(2).reset_after(0s));
    });
    EXPECT_EQ(seen, 5u);
}

TEST(before_retry, refuses_what_is_empty) {
    std::function<void()> const empty;
    EXPECT_THAT(calling([&] { return before_retry(empty, [] {}); }), refuses("before_retry.operation"));
    EXPECT_THAT(calling([&] { return before_retry([] {}, empty); }), refuses("before_retry.step"));
}

} // namespace
} // namespace asio_retry::test
