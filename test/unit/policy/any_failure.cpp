#include <asio_retry/retry_policy.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/script.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace asio_retry::test {
namespace {

retry_policy anything() {
    return endless_every_100ms().retry_if(any_failure);
}

TEST(any_failure, decision_17_retries_an_abortion_that_nobody_of_ours_asked_for) {
    machine_script script(anything());
    script.start();
    EXPECT_THAT(script.fail(0s, detail::aborted_error()), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail_with(boost::system::system_error(detail::aborted_error())), is_wait(100ms));

    machine_script by_default(endless_every_100ms());
    by_default.start();
    EXPECT_THAT(by_default.fail(0s, detail::aborted_error()),
                is_completion(stop_reason::not_retryable, no_replacement));
}

TEST(any_failure, retries_codes_exceptions_and_rejected_results) {
    machine_script script(anything());
    script.start();
    EXPECT_THAT(script.fail(0s, unreachable()), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail_with(std::runtime_error("no")), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail(0s, verdict::rejected()), is_wait(100ms));
}

TEST(any_failure, a_permanent_error_ends_it_all_the_same) {
    machine_script script(anything());
    script.start();
    EXPECT_EQ(script.fail_with(permanent(detail::aborted_error())).reason, stop_reason::not_retryable);
}

// A lost connection as Boost.Redis reports it, and then somebody who really cancels.
TEST(any_failure, decision_17_nobodys_own_cancellation_is_retried) {
    asio::io_context io;
    virtual_time time(io);
    pending_attempts attempts(io);
    completion_record record;
    asio::cancellation_signal signal;
    async_retry(
        io, [&](auto token) { return attempts.async_attempt(std::move(token)); }, anything(),
        asio::bind_cancellation_slot(signal.slot(), record.handler()));
    attempts.complete(aborted());
    time.advance(100ms);
    EXPECT_EQ(attempts.started, 2u);
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(attempts.started, 2u);
}

TEST(any_failure, decision_17_nor_that_of_a_scope_or_a_time_limit) {
    asio::io_context io;
    virtual_time time(io);
    pending_attempts attempts(io);
    completion_record in_scope, in_time;
    auto const attempt = [&](auto token) { return attempts.async_attempt(std::move(token)); };
    retry_scope scope(io);
    async_retry(scope, attempt, anything(), in_scope.handler());
    scope.cancel();
    time.run();
    EXPECT_EQ(in_scope.error, aborted());
    async_retry(io, attempt, anything().total_timeout(1s), in_time.handler());
    time.run();
    EXPECT_EQ(in_time.error, detail::timed_out_error());
    EXPECT_EQ(attempts.started, 2u);
}

TEST(any_failure, may_be_a_part_of_an_own_predicate) {
    EXPECT_TRUE(any_failure(detail::aborted_error()));
    EXPECT_TRUE(any_failure(std::make_exception_ptr(1)));
    int asked = 0;
    auto const counted = [&](error_code const& code) { return ++asked < 3 && any_failure(code); };
    retry_policy const policy = endless_every_100ms().retry_if(any_failure).retry_if(counted);
    EXPECT_FALSE(policy.settings().retry_if.any) << "the second replaces the first";
    EXPECT_TRUE(policy.settings().retry_if.by_code);
}

TEST(any_failure, has_a_text) {
    retry_policy const policy = retry_policy().retry_if(any_failure);
    std::string const text = to_string(policy);
    EXPECT_THAT(text, testing::EndsWith(" any_failure()"));
    EXPECT_EQ(to_string(parse_policy(text)), text);
    EXPECT_EQ(to_string(policy.retry_if([](error_code) { return true; })),
              to_string(retry_policy()) + " retry_if(<callable>)");
}

} // namespace
} // namespace asio_retry::test
