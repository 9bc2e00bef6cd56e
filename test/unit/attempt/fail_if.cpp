#include <asio_retry/fail_if.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/in_virtual_time.hpp"
#include "support/recording_gate.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct response {
    int status = 0;
};

bool is_overloaded(response const& r) {
    return r.status == 503;
}

class fail_if_test : public testing::Test, protected in_virtual_time {
protected:
    std::vector<int> statuses{503, 503, 200};
    std::size_t calls = 0;
    std::vector<retry_event> retries;
    std::vector<stop_reason> reasons;
    retry_policy policy = retry_policy()
                              .backoff(constant(100ms))
                              .max_attempts(3)
                              .on_retry([this](retry_event const& e) { retries.push_back(e); })
                              .on_give_up([this](stop_reason r) { reasons.push_back(r); });

    asio::awaitable<response> get() {
        co_await asio::post(io, asio::deferred);
        co_return response{statuses[calls++]};
    }

    int get_retried(retry_policy p) {
        int status = 0;
        asio::co_spawn(
            io,
            [&]() -> asio::awaitable<void> {
                auto const reply = co_await async_retry(fail_if([this] { return get(); }, is_overloaded), p);
                status = reply.status;
            },
            [](std::exception_ptr e) {
                if (e)
                    std::rethrow_exception(e);
            });
        time.run();
        return status;
    }
};

TEST_F(fail_if_test, rejected_value_is_retried_until_it_is_accepted) {
    EXPECT_EQ(get_retried(policy), 200);
    EXPECT_EQ(calls, 3u);
    ASSERT_EQ(retries.size(), 2u);
    EXPECT_EQ(retries[0].error, error::result_rejected);
    EXPECT_TRUE(reasons.empty());
}

TEST_F(fail_if_test, exhausted_delivers_the_last_value_as_it_is) {
    statuses = {503, 503, 503};
    EXPECT_EQ(get_retried(policy), 503);
    EXPECT_THAT(reasons, testing::ElementsAre(stop_reason::attempts));
}

TEST_F(fail_if_test, rejected_value_is_retried_whatever_retry_if_says) {
    EXPECT_EQ(get_retried(policy.retry_if([](error_code) { return false; })), 200);
    calls = 0;
    EXPECT_EQ(get_retried(policy.retry_if([](retry_event const&) { return false; })), 200);
}

TEST_F(fail_if_test, under_a_time_limit) {
    EXPECT_EQ(get_retried(policy.attempt_timeout(1s)), 200);
}

// Decision 38: it came too late, and the predicate of retry_if is asked about that.
TEST_F(fail_if_test, decision_38_rejected_value_after_a_time_limit_is_timed_out) {
    for (bool const retried : {true, false}) {
        pending_attempts attempts{io};
        attempts.on_cancel = [](pending_attempts& self, asio::cancellation_type_t) { self.complete({}, 503); };
        completion_record record;
        retries.clear();
        auto const limited = policy.max_attempts(2).attempt_timeout(1s).retry_if(
            [&](error_code e) { return retried && e == asio::error::timed_out; });
        auto operation = [&](auto token) { return attempts.async_attempt(std::move(token)); };
        async_retry(io, fail_if(operation, [](int status) { return status == 503; }), limited,
                    record.handler());
        time.run();
        EXPECT_EQ(attempts.started, retried ? 2u : 1u);
        EXPECT_EQ(retries.size(), retried ? 1u : 0u);
        EXPECT_EQ(record.error, asio::error::timed_out);
        EXPECT_EQ(record.value, 503) << "the last values beside it";
    }
}

TEST_F(fail_if_test, token_operation_that_asks_for_the_attempt) {
    script played;
    std::uint64_t last = 0;
    completion_record record;
    auto operation = [&](attempt a, auto token) {
        last = a.number;
        return async_scripted(io, played, std::move(token));
    };
    async_retry(io, fail_if(operation, [](int n) { return n < 3; }), policy, record.handler());
    time.run();
    EXPECT_FALSE(record.error);
    EXPECT_EQ(record.value, 3);
    EXPECT_EQ(last, 3u);
}

TEST_F(fail_if_test, failures_by_error_are_failures_too_and_adaptors_nest) {
    script played = script::failures(1);
    completion_record record;
    auto operation = [&](auto token) { return async_scripted(io, played, std::move(token)); };
    auto judged = fail_if(fail_if(operation, [](int n) { return n == 2; }), [](int n) { return n == 1; });
    async_retry(io, judged, policy, record.handler());
    time.run();
    EXPECT_FALSE(record.error);
    EXPECT_EQ(record.value, 3);
}

TEST_F(fail_if_test, plain_callable) {
    int n = 0;
    async_retry(io, fail_if([&] { return ++n; }, [](int value) { return value < 2; }), policy,
                [](std::exception_ptr e, int value) {
                    EXPECT_FALSE(e);
                    EXPECT_EQ(value, 2);
                });
    time.run();
    EXPECT_EQ(n, 2);
}

// Decision 21: an exception of the predicate ends the operation and is never retried.
TEST_F(fail_if_test, decision_21_predicate_that_throws) {
    script played;
    completion_record record;
    async_retry(io,
                fail_if([&](auto token) { return async_scripted(io, played, std::move(token)); },
                        [](int) -> bool { throw 1; }),
                policy, record.handler());
    time.run();
    EXPECT_EQ(record.error, error::predicate_threw);
    EXPECT_EQ(played.attempts, 1u);
    EXPECT_EQ(reasons.size(), 1u);
}

// What it means is that it is none.
TEST_F(fail_if_test, a_failure_of_no_kind_is_a_success) {
    int asked = 0;
    int delivered = 0;
    async_retry(io,
                fail_if([&] { return ++asked; },
                        [](int n) {
                            return judgement{true, {n == 1 ? failure_kind::transient : failure_kind::none}, {}};
                        }),
                policy, [&](std::exception_ptr thrown, int n) {
                    EXPECT_FALSE(thrown);
                    delivered = n;
                });
    time.run();
    EXPECT_EQ(delivered, 2);
    EXPECT_TRUE(reasons.empty());
}

TEST_F(fail_if_test, a_gate_hears_when_a_predicate_threw) {
    auto const gate = std::make_shared<recording_gate>(false);
    time.advance(1h);
    async_retry(io, fail_if([] { return 1; }, [](int) -> bool { throw 1; }), policy.gate(gate),
                [](std::exception_ptr, int) {});
    time.run();
    ASSERT_EQ(gate->ends.size(), 1u);
    EXPECT_EQ(gate->ends.front().now, time.now());
}

} // namespace
} // namespace asio_retry::test
