// What the tests of other retry packages expect, where their expectation is ours too, and where theirs differ
// from one another, what ours is.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include "support/elements.hpp"
#include "support/in_virtual_time.hpp"
#include "support/refuses.hpp"
#include "support/script.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>
#include <version>

#ifdef __cpp_lib_jthread
#include <stop_token>
#endif

namespace asio_retry::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::Gt;
using testing::Le;

// Polly.Contrib.WaitAndRetry, AwsDecorrelatedJitterBackoff and DecorrelatedJitterBackoffV2 with fastFirst.
TEST(peers, polly_waits_for_nothing_once_and_then_as_usual) {
    for (std::uint64_t seed = 0; seed != 50; ++seed) {
        auto const aws = first_delays(
            retry_policy().backoff(first_at_once(constant(10ms).cap(100ms))).jitter(decorrelated_jitter()), 20,
            seed);
        EXPECT_EQ(aws.front(), 0s);
        EXPECT_THAT(std::vector(aws.begin() + 1, aws.end()),
                    Each(AllOf(Ge(duration(10ms)), Le(duration(100ms)))));

        auto const v2 = first_delays(
            retry_policy().backoff(first_at_once(constant(1s).cap(1h))).jitter(decorrelated_jitter_v2()), 10,
            seed);
        EXPECT_EQ(v2.front(), 0s);
        EXPECT_THAT(std::vector(v2.begin() + 1, v2.end()), Each(Gt(duration::zero())));
        EXPECT_GT(v2[8], v2[2]) << "it grows";
    }
}

// urllib3, test_backoff_jitter: backoff_factor 0.2, backoff_jitter 0.4, at most 120 s.
TEST(peers, urllib3_has_no_delay_before_the_first_retry_and_jitter_after_it) {
    auto const policy =
        retry_policy().backoff(first_at_once(exponential(400ms).cap(120s))).jitter(additive_jitter(400ms));
    for (std::uint64_t seed = 0; seed != 50; ++seed) {
        auto const delays = first_delays(policy, 99, seed);
        EXPECT_EQ(delays[0], 0s);
        EXPECT_TRUE(delays[1] >= 400ms && delays[1] <= 800ms);
        EXPECT_TRUE(delays[2] >= 800ms && delays[2] <= 1200ms);
        EXPECT_TRUE(delays[3] >= 1600ms && delays[3] <= 2s);
        EXPECT_THAT(delays, Each(Le(duration(120s))));
    }
}

/// An operation whose attempts the test completes, with a report, in virtual time.
struct peers_in_time : testing::Test, in_virtual_time {
    pending_attempts attempts{io};
    retry_report report;
    completion_record record;

    void start(retry_policy const& policy) {
        auto const attempt = [this](auto token) { return attempts.async_attempt(std::move(token)); };
        async_retry(io, with_report(attempt, report), policy, record.handler());
        time.advance(0s);
    }
    void fail(error_code const& error = refused()) {
        attempts.complete(error);
        time.advance(0s);
    }
};

// google-cloud-cpp, retry loops with a deadline.
TEST_F(peers_in_time, decision_08_the_last_error_is_what_an_attempt_really_came_to) {
    attempts.on_cancel = [](pending_attempts& self, asio::cancellation_type_t) {
        self.complete(unreachable());
    };
    start(endless_every_100ms().total_timeout(150ms));
    fail(refused());
    time.run();
    EXPECT_EQ(record.error, detail::timed_out_error());
    EXPECT_EQ(report.reason, stop_reason::deadline);
    EXPECT_EQ(report.last_error, unreachable()) << "though it was told to stop";
}

TEST_F(peers_in_time, decision_08_an_attempt_that_only_says_it_was_stopped_came_to_nothing) {
    start(endless_every_100ms().total_timeout(150ms));
    fail(refused());
    time.run();
    EXPECT_EQ(record.error, detail::timed_out_error());
    EXPECT_EQ(report.last_error, refused()) << "what the attempt before came to";
}

TEST_F(peers_in_time, decision_08_an_attempt_that_takes_too_long_came_to_that) {
    start(endless_every_100ms().attempt_timeout(10ms).max_attempts(2));
    fail(refused());
    time.run();
    EXPECT_EQ(report.last_error, detail::timed_out_error());
}

// Failsafe refuses it. A backoff may be a callable, and an attempt be made all the same.
TEST_F(peers_in_time, decision_07_a_limit_below_the_first_delay_allows_no_retry) {
    start(endless_every_100ms().max_elapsed(99ms));
    fail(refused());
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.error, refused());
    EXPECT_EQ(report.reason, stop_reason::elapsed);
    EXPECT_EQ(report.attempts, 1u);
}

TEST_F(peers_in_time, decision_07_a_wait_that_would_outlast_the_limit_is_not_begun) {
    for (retry_policy const& policy :
         {endless_every_100ms().total_timeout(150ms), endless_every_100ms().max_elapsed(150ms)}) {
        int const completed = record.count;
        auto const began = time.now();
        start(policy);
        fail();
        time.advance(100ms);
        fail(unreachable());
        EXPECT_EQ(record.count, completed + 1);
        EXPECT_EQ(record.error, unreachable()) << "the last error as it is";
        EXPECT_EQ(time.now() - began, 100ms);
    }
}

TEST_F(peers_in_time, decision_07_a_wait_that_ends_exactly_at_the_limit_is_begun) {
    start(endless_every_100ms().max_elapsed(200ms));
    for (int i = 0; i != 2; ++i) {
        fail();
        time.advance(100ms);
    }
    EXPECT_EQ(attempts.started, 3u);
    fail();
    EXPECT_EQ(report.reason, stop_reason::elapsed);
    EXPECT_EQ(report.elapsed, 200ms);
}

TEST_F(peers_in_time, decision_13_cancelled_before_the_start_means_no_attempt) {
    retry_scope scope(io);
    scope.cancel();
    int calls = 0;
    error_code error;
    async_retry(
        scope, [&] { return ++calls; }, retry_policy(), [&](std::exception_ptr e, int) { error = code_of(e); });
    time.run();
    EXPECT_EQ(error, detail::aborted_error());
    EXPECT_EQ(calls, 0);

#ifdef __cpp_lib_jthread
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(retry(
                  [&] {
                      ++calls;
                      return error_code();
                  },
                  retry_policy(), stop.get_token()),
              detail::aborted_error());
    EXPECT_EQ(calls, 0);
#endif
}

TEST_F(peers_in_time, decision_12_a_success_after_a_cancellation_is_one) {
    asio::cancellation_signal signal;
    attempts.on_cancel = nullptr;
    auto const attempt = [this](auto token) { return attempts.async_attempt(std::move(token)); };
    async_retry(io, attempt, retry_policy(), asio::bind_cancellation_slot(signal.slot(), record.handler()));
    signal.emit(asio::cancellation_type::terminal);
    attempts.complete({}, 7);
    time.run();
    EXPECT_EQ(record.error, error_code());
    EXPECT_EQ(record.value, 7);
}

TEST_F(peers_in_time, decision_21_an_initiation_that_throws_is_a_failed_attempt) {
    int calls = 0;
    auto const attempt = [&](auto token) {
        if (++calls < 3)
            throw std::runtime_error("cannot begin");
        return attempts.async_attempt(std::move(token));
    };
    async_retry(io, attempt, endless_every_100ms(), record.handler());
    time.advance(1s);
    ASSERT_TRUE(attempts.pending());
    attempts.complete({}, 7);
    time.run();
    EXPECT_EQ(record.value, 7);
    EXPECT_EQ(calls, 3);
}

TEST(peers, decision_04_no_attempts_are_refused_and_mean_no_others) {
    EXPECT_THROW((void)retry_policy().max_attempts(0), std::invalid_argument);
    EXPECT_THROW((void)parse_policy("max_attempts(0)"), std::invalid_argument);
}

TEST(peers, a_schedule_repeats_its_last_delay) {
    auto const policy = retry_policy().backoff(schedule({1s, 2s})).jitter(no_jitter());
    EXPECT_THAT(first_delays(policy, 4), elements(1s, 2s, 2s, 2s));
}

// Boost.Redis and async-mqtt5 start over as soon as they have been connected.
TEST(peers, reset_after_zero_starts_over_once_an_attempt_was_healthy) {
    machine_script script(
        retry_policy().backoff(exponential(100ms)).jitter(no_jitter()).max_attempts(3).reset_after(0s));
    script.machine.expect_marks();
    script.start();
    for (int outage = 0; outage != 4; ++outage) {
        script.machine.on_healthy(script.begin);
        EXPECT_THAT(script.fail(), is_wait(100ms));
        script.wake();
        EXPECT_THAT(script.fail(), is_wait(200ms)) << "it was not";
        script.wake();
    }
    EXPECT_THAT(script.fail(), is_completion(stop_reason::attempts, no_replacement));
}

// Every failure would count as the first, and the operation never end.
TEST(peers, reset_after_zero_means_nothing_to_an_attempt_that_cannot_say_so) {
    machine_script script(endless_every_100ms().max_attempts(2).reset_after(0s));
    script.start();
    EXPECT_THAT(script.fail(1h), is_wait(100ms));
    script.wake(2h);
    EXPECT_THAT(script.fail(3h), is_completion(stop_reason::attempts, no_replacement));
}

TEST(peers, reset_after_zero_is_accepted_everywhere) {
    EXPECT_EQ(retry_policy().reset_after(0s).settings().reset_after, duration(0s));
    EXPECT_EQ(parse_policy("reset_after(0s)").settings().reset_after, duration(0s));
    EXPECT_THAT(
        calling([] { return retry_policy().reset_after(-1ns); }),
        testing::ThrowsMessage<std::invalid_argument>("asio_retry: reset_after = -1ns: must not be negative"));
}

TEST(peers, a_second_hook_or_predicate_replaces_the_first) {
    int first = 0, second = 0;
    machine_script script(retry_policy()
                              .on_retry([&](retry_event const&) { ++first; })
                              .on_retry([&](retry_event const&) { ++second; })
                              .on_give_up([&](stop_reason) { ++first; })
                              .on_give_up([&](stop_reason) { ++second; })
                              .retry_if([&](error_code) { return ++first == 0; })
                              .retry_if([&](std::exception_ptr) { return ++second == 1; }));
    script.start();
    script.fail();
    script.wake();
    script.fail();
    EXPECT_EQ(first, 0);
    EXPECT_EQ(second, 4) << "predicate, hook, predicate, hook";
}

} // namespace
} // namespace asio_retry::test
