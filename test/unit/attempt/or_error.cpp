#include <asio_retry/fail_if.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include "support/in_virtual_time.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <boost/system/result.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

bool is_negative(int value) {
    return value < 0;
}

class or_error : public testing::Test, protected in_virtual_time {
protected:
    int calls = 0;
    retry_policy policy = retry_policy().backoff(constant(100ms)).jitter(no_jitter()).max_attempts(3);

    auto async_rejected() {
        return [this](auto token) {
            return asio::async_initiate<decltype(token), void(error_code, int)>(
                [this](auto handler) {
                    asio::post(io, asio::append(std::move(handler), error_code(), -++calls));
                },
                token);
        };
    }

    template <typename Awaitable>
    void run(Awaitable awaitable) {
        std::optional<std::exception_ptr> ended;
        asio::co_spawn(io, std::move(awaitable), [&](std::exception_ptr thrown) { ended = thrown; });
        time.run();
        ASSERT_TRUE(ended.has_value());
        if (*ended)
            std::rethrow_exception(*ended);
    }
};

TEST_F(or_error, error_code_has_the_last_values_beside_it) {
    completion_record record;
    async_retry(io, fail_if(async_rejected(), is_negative).or_error(), policy, record.handler());
    time.run();
    EXPECT_EQ(record.error, error::exhausted);
    EXPECT_EQ(record.value, -3);
    EXPECT_EQ(calls, 3);
}

TEST_F(or_error, without_it_the_value_is_delivered_as_it_is) {
    completion_record record;
    async_retry(io, fail_if(async_rejected(), is_negative), policy, record.handler());
    time.run();
    EXPECT_FALSE(record.error);
    EXPECT_EQ(record.value, -3);
}

TEST_F(or_error, value_that_is_accepted_is_delivered) {
    completion_record record;
    async_retry(io, fail_if(async_rejected(), [](int value) { return value != -2; }).or_error(), policy,
                record.handler());
    time.run();
    EXPECT_FALSE(record.error);
    EXPECT_EQ(record.value, -2);
}

TEST_F(or_error, awaitable_throws_the_value) {
    run([&]() -> asio::awaitable<void> {
        auto operation = [&]() -> asio::awaitable<std::string> { co_return std::to_string(++calls); };
        auto const judged = fail_if(operation, [](std::string const&) { return true; });
        try {
            co_await async_retry(judged.or_error(), policy);
            ADD_FAILURE() << "no exception";
        } catch (exhausted_error<std::string> const& failure) {
            EXPECT_EQ(failure.value(), "3");
            EXPECT_EQ(failure.code(), error::exhausted);
        }
    }());
}

TEST_F(or_error, awaitable_under_time_limits) {
    auto operation = [&]() -> asio::awaitable<int> { co_return -++calls; };
    auto const limited = policy.attempt_timeout(1s).total_timeout(1min);
    EXPECT_THROW(run([&]() -> asio::awaitable<void> {
                     co_await async_retry(fail_if(operation, is_negative).or_error(), limited);
                 }()),
                 exhausted_error<int>);
    EXPECT_EQ(calls, 3);
}

TEST_F(or_error, awaited_error_code_has_the_values_beside_it) {
    run([&]() -> asio::awaitable<void> {
        auto operation = [&]() -> asio::awaitable<std::tuple<error_code, int>> {
            co_return std::tuple(error_code(), -++calls);
        };
        auto const [error, value] = co_await async_retry(fail_if(operation, is_negative).or_error(), policy,
                                                         asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(error, error::exhausted);
        EXPECT_EQ(value, -3);
    }());
}

TEST_F(or_error, value_that_can_only_be_moved_is_taken_out_of_the_exception) {
    std::unique_ptr<int> taken;
    run([&]() -> asio::awaitable<void> {
        auto operation = [&]() -> asio::awaitable<std::unique_ptr<int>> {
            co_return std::make_unique<int>(++calls);
        };
        try {
            co_await async_retry(fail_if(operation, [](auto const&) { return true; }).or_error(), policy);
        } catch (exhausted_error<std::unique_ptr<int>> const& failure) {
            taken = std::move(failure.value());
        }
    }());
    ASSERT_TRUE(taken);
    EXPECT_EQ(*taken, 3);
}

TEST_F(or_error, several_values_are_a_tuple) {
    auto operation = [this](auto token) {
        return asio::async_initiate<decltype(token), void(std::exception_ptr, int, std::string)>(
            [this](auto handler) {
                asio::post(io, asio::append(std::move(handler), std::exception_ptr(), 7, std::string("seven")));
            },
            token);
    };
    std::exception_ptr thrown;
    async_retry(io, fail_if(operation, [](int, std::string const&) { return true; }).or_error(), policy,
                [&](std::exception_ptr e, int, std::string) { thrown = e; });
    time.run();
    ASSERT_TRUE(thrown);
    try {
        std::rethrow_exception(thrown);
    } catch (exhausted_error<std::tuple<int, std::string>> const& failure) {
        EXPECT_EQ(failure.value(), std::tuple(7, "seven"));
    }
}

TEST_F(or_error, operation_without_values) {
    std::exception_ptr thrown;
    async_retry(io, fail_if([&] { ++calls; }, [] { return true; }).or_error(), policy,
                [&](std::exception_ptr e) { thrown = e; });
    time.run();
    ASSERT_TRUE(thrown);
    EXPECT_EQ(code_of(thrown), error::exhausted);
}

TEST_F(or_error, its_own_errors_are_the_operations) {
    completion_record record;
    script played = script::failures(3);
    auto operation = [&](auto token) { return async_scripted(io, played, std::move(token)); };
    async_retry(io, fail_if(operation, is_negative).or_error(), policy, record.handler());
    time.run();
    EXPECT_EQ(record.error, refused());
}

TEST_F(or_error, value_that_is_judged_permanent_is_an_error_at_once) {
    completion_record record;
    auto const never = [](int) { return judgement{true, {failure_kind::permanent, effect::none}, {}}; };
    async_retry(io, fail_if(async_rejected(), never).or_error(), policy, record.handler());
    time.run();
    EXPECT_EQ(record.error, error::exhausted);
    EXPECT_EQ(record.value, -1);
}

TEST_F(or_error, cancellation_and_limits_keep_their_own_codes) {
    completion_record cancelled;
    asio::cancellation_signal stop;
    async_retry(io, fail_if(async_rejected(), is_negative).or_error(),
                policy.on_retry([&](retry_event const&) { stop.emit(asio::cancellation_type::terminal); }),
                asio::bind_cancellation_slot(stop.slot(), cancelled.handler()));
    time.run();
    EXPECT_EQ(cancelled.error, aborted());
}

TEST_F(or_error, out_of_time_for_another_attempt) {
    completion_record record;
    async_retry(io, fail_if(async_rejected(), is_negative).or_error(), policy.max_elapsed(150ms),
                record.handler());
    time.run();
    EXPECT_EQ(record.error, error::exhausted);
    EXPECT_EQ(record.value, -2);
}

TEST_F(or_error, what_it_says_is_true_whatever_ended_the_retries) {
    auto const said = [&](retry_policy const& ends, auto predicate) {
        std::string text = "nothing";
        async_retry(io, fail_if([&] { return -++calls; }, predicate).or_error(), ends,
                    [&](std::exception_ptr thrown, int) {
                        try {
                            std::rethrow_exception(thrown);
                        } catch (std::exception const& e) {
                            text = e.what();
                        }
                    });
        time.run();
        return text.substr(0, text.find(" ["));
    };
    auto const never = [](int) { return judgement{true, {failure_kind::permanent, effect::none}, {}}; };
    std::string const plain = "fail_if rejects the last result: retrying has ended without success";
    EXPECT_EQ(said(policy, is_negative), plain) << "attempts";
    EXPECT_EQ(said(policy.max_elapsed(150ms), is_negative), plain);
    EXPECT_EQ(said(policy.max_waited(150ms), is_negative), plain);
    EXPECT_EQ(said(policy.total_timeout(150ms), is_negative), plain);
    EXPECT_EQ(said(policy, never), plain) << "permanent";
}

TEST_F(or_error, hooks_are_told_of_the_rejected_value) {
    completion_record record;
    std::optional<retry_event> told;
    async_retry(io, fail_if(async_rejected(), is_negative).or_error(),
                policy.on_give_up([&](retry_event const& event) { told = event; }), record.handler());
    time.run();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->error, error::result_rejected);
    EXPECT_EQ(told->reason, stop_reason::attempts);
}

TEST_F(or_error, nests_with_other_forms) {
    completion_record record;
    retry_report report;
    int steps = 0;
    auto judged =
        fail_if(fail_if(async_rejected(), is_negative).or_error(), [](int value) { return value > 0; });
    async_retry(io, with_report(judged, report), policy, record.handler());
    time.run();
    EXPECT_EQ(record.error, error::exhausted);
    EXPECT_EQ(report.attempts, 3u);

    calls = 0;
    auto step = [&] { ++steps; };
    EXPECT_THROW(retry(before_retry(fail_if([&] { return -++calls; }, is_negative).or_error(), step),
                       policy.backoff(constant(0ms))),
                 exhausted_error<int>);
    EXPECT_EQ(steps, 2);
}

TEST_F(or_error, blocking_retry) {
    auto const at_once = policy.backoff(constant(0ms));
    try {
        retry(fail_if([&] { return -++calls; }, is_negative).or_error(), at_once);
        FAIL() << "no exception";
    } catch (exhausted_error<int> const& failure) {
        EXPECT_EQ(failure.value(), -3);
    }
    auto const result =
        retry(fail_if([&] { return boost::system::result<int>(-1); }, is_negative).or_error(), at_once);
    EXPECT_EQ(result.error(), error::exhausted);
}

TEST_F(or_error, operation_says_itself_when_it_is_healthy) {
    for (bool const says_so : {false, true}) {
        calls = 0;
        auto operation = [&](attempt a) -> asio::awaitable<int> {
            if (says_so)
                a.mark_healthy();
            time.advance(1h);
            co_return ++calls < 5 ? -1 : 1;
        };
        auto caller = [&]() -> asio::awaitable<void> {
            co_await async_retry(fail_if(operation, is_negative).or_error(), policy.reset_after(1s));
        };
        if (says_so)
            run(caller());
        else
            EXPECT_THROW(run(caller()), exhausted_error<int>);
        EXPECT_EQ(calls, says_so ? 5 : 3);
    }
}

TEST_F(or_error, operation_that_ends_with_the_same_code_has_no_value_to_give) {
    run([&]() -> asio::awaitable<void> {
        auto operation = [&]() -> asio::awaitable<int> {
            throw permanent_error(make_error_code(error::exhausted));
            co_return 0;
        };
        try {
            co_await async_retry(fail_if(operation, is_negative).or_error(), policy);
        } catch (exhausted_error<int> const&) {
            ADD_FAILURE() << "there has been no value";
        } catch (boost::system::system_error const& failure) {
            EXPECT_EQ(failure.code(), error::exhausted);
        }
    }());
}

} // namespace
} // namespace asio_retry::test
