// What hooks and predicates are told of an attempt beside its failure, and what is decided by it.
#include <asio_retry/fail_if.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_report.hpp>
#include <asio_retry/with_report.hpp>

#include "support/refuses.hpp"
#include "support/script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// --- what an event says

TEST(event_facts, on_retry_is_told_how_long_all_and_the_attempt_took) {
    machine_script script(endless_every_100ms());
    script.start();
    script.fail(30ms);
    script.wake(130ms);
    script.fail(150ms);
    ASSERT_EQ(script.retries.size(), 2u);
    EXPECT_EQ(script.retries[0].elapsed, 30ms);
    EXPECT_EQ(script.retries[0].took, 30ms);
    EXPECT_EQ(script.retries[1].elapsed, 150ms);
    EXPECT_EQ(script.retries[1].took, 20ms);
    EXPECT_EQ(script.retries[1].stopped, interruption::none);
}

TEST(event_facts, a_give_up_in_a_wait_has_no_attempt_that_took_anything) {
    machine_script script(endless_every_100ms());
    script.start();
    script.fail(30ms);
    script.machine.cancel();
    script.wake(50ms);
    ASSERT_EQ(script.give_ups.size(), 1u);
    EXPECT_EQ(script.give_ups[0].elapsed, 50ms);
    EXPECT_EQ(script.give_ups[0].took, 0ms);
    EXPECT_EQ(script.give_ups[0].stopped, interruption::none);
}

TEST(event_facts, a_give_up_in_a_wait_has_the_error_of_the_operation_which_says_nothing_of_the_attempt) {
    machine_script script(endless_every_100ms());
    script.start();
    script.fail(30ms, make_error_code(boost::system::errc::connection_refused));
    EXPECT_EQ(script.retries.at(0).sent, effect::none);
    script.machine.cancel();
    script.wake(50ms);
    EXPECT_EQ(script.give_ups.at(0).attempt, 1u);
    EXPECT_EQ(script.give_ups[0].error, detail::aborted_error());
    EXPECT_EQ(script.give_ups[0].sent, effect::possible);
}

TEST(event_facts, a_give_up_in_a_wait_was_not_stopped_by_what_stopped_the_attempt_before) {
    machine_script script(endless_every_100ms().attempt_timeout(1s));
    script.start();
    script.expire(0s, 1s);
    script.machine.cancel();
    script.wake(1050ms);
    EXPECT_EQ(script.give_ups.at(0).stopped, interruption::none);
}

TEST(event_facts, a_give_up_before_the_first_attempt_has_none) {
    machine_script script(endless_every_100ms());
    script.machine.cancel();
    script.start();
    ASSERT_EQ(script.give_ups.size(), 1u);
    EXPECT_EQ(script.give_ups[0].elapsed, 0ms);
    EXPECT_EQ(script.give_ups[0].took, 0ms);
    EXPECT_EQ(script.give_ups[0].sent, effect::none);
}

TEST(event_facts, says_what_told_the_attempt_to_stop) {
    machine_script timeout(endless_every_100ms().attempt_timeout(1s));
    timeout.start();
    timeout.expire(0s, 1s);
    EXPECT_EQ(timeout.retries.at(0).stopped, interruption::attempt_timeout);
    timeout.wake(1100ms);
    timeout.fail(1200ms);
    EXPECT_EQ(timeout.retries.at(1).stopped, interruption::none);

    machine_script deadline(endless_every_100ms().total_timeout(1s));
    deadline.start();
    deadline.expire(0s, 1s);
    EXPECT_EQ(deadline.give_ups.at(0).stopped, interruption::deadline);

    machine_script cancelled(endless_every_100ms());
    cancelled.start();
    cancelled.machine.cancel();
    cancelled.fail(5ms, detail::aborted_error());
    EXPECT_EQ(cancelled.give_ups.at(0).stopped, interruption::cancellation);
}

// The base of max_elapsed moves with each outage; what a hook is told does not.
TEST(event_facts, elapsed_counts_from_the_initiation_whatever_was_healthy) {
    machine_script script(endless_every_100ms().reset_after(10s));
    script.start();
    script.fail(1s);
    script.wake(2s);
    script.fail(20s);
    script.wake(21s);
    script.fail(50s);
    ASSERT_EQ(script.retries.size(), 3u);
    EXPECT_EQ(script.retries[1].elapsed, 20s);
    EXPECT_EQ(script.retries[2].elapsed, 50s);
}

// --- on_success

TEST(on_success, is_told_once_of_a_success) {
    std::vector<retry_event> successes;
    machine_script script(
        endless_every_100ms().on_success([&](retry_event const& e) { successes.push_back(e); }));
    script.start();
    script.fail(30ms);
    script.wake(130ms);
    EXPECT_THAT(successes, IsEmpty());
    ASSERT_TRUE(script.machine.is_observed());
    retry_action const action = script.machine.on_success(script.begin + 150ms);
    EXPECT_FALSE(action.error);
    ASSERT_EQ(successes.size(), 1u);
    EXPECT_EQ(successes[0].attempt, 2u);
    EXPECT_EQ(successes[0].reason, stop_reason::succeeded);
    EXPECT_EQ(successes[0].elapsed, 150ms);
    EXPECT_EQ(successes[0].took, 20ms);
    EXPECT_EQ(successes[0].stopped, interruption::none);
    EXPECT_EQ(successes[0].sent, effect::possible);
    EXPECT_FALSE(successes[0].error);
    EXPECT_THAT(script.give_ups, IsEmpty());
}

TEST(on_success, is_not_told_of_a_failure) {
    int successes = 0;
    machine_script script(
        endless_every_100ms().max_attempts(1).on_success([&](retry_event const&) { ++successes; }));
    script.start();
    script.fail();
    EXPECT_EQ(successes, 0);
}

TEST(on_success, decision_53_what_it_throws_leaves_it_a_success) {
    machine_script script(
        endless_every_100ms().on_success([](retry_event const&) { throw std::runtime_error("mine"); }));
    script.start();
    retry_action const action = script.machine.on_success(script.begin);
    EXPECT_EQ(action.what, retry_action::kind::complete);
    EXPECT_EQ(action.reason, stop_reason::succeeded);
    EXPECT_FALSE(action.error);
    EXPECT_FALSE(action.thrown);
}

// --- predicates of events

TEST(retry_if_of_an_event, is_told_what_hooks_are_told) {
    std::vector<retry_event> asked;
    machine_script script(endless_every_100ms().attempt_timeout(1s).retry_if([&](retry_event const& e) {
        asked.push_back(e);
        return e.stopped == interruption::attempt_timeout && e.attempt < 2;
    }));
    script.start();
    EXPECT_THAT(script.expire(0s, 1s), is_wait(100ms));
    script.wake(1100ms);
    EXPECT_THAT(script.fail(1150ms), is_completion(stop_reason::not_retryable, no_replacement));
    ASSERT_EQ(asked.size(), 2u);
    EXPECT_EQ(asked[0].error, detail::timed_out_error());
    EXPECT_EQ(asked[0].took, 1s);
    EXPECT_EQ(asked[1].attempt, 2u);
    EXPECT_EQ(asked[1].elapsed, 1150ms);
    EXPECT_EQ(asked[1].took, 50ms);
}

TEST(retry_if_of_an_event, comes_after_a_code_where_a_class_takes_both) {
    struct both {
        bool operator()(error_code const&) const { return false; }
        bool operator()(retry_event const&) const { return true; }
    };
    machine_script script(endless_every_100ms().retry_if(both()));
    script.start();
    EXPECT_THAT(script.fail(), is_completion(stop_reason::not_retryable, no_replacement));
}

struct http_error : std::runtime_error {
    explicit http_error(int s)
        : std::runtime_error("http")
        , status(s) {}
    int status;
};

TEST(retry_if_of_a_type, asks_about_exceptions_of_that_type_alone) {
    auto const policy =
        endless_every_100ms().retry_if<http_error>([](http_error const& e) { return e.status == 503; });
    auto const retried = [&](auto const& thrown) {
        machine_script script(policy);
        script.start();
        return script.fail_with(thrown).what == retry_action::kind::wait;
    };
    struct derived : http_error {
        using http_error::http_error;
    };
    EXPECT_TRUE(retried(http_error(503)));
    EXPECT_FALSE(retried(http_error(404)));
    EXPECT_FALSE(retried(derived(404)));
    EXPECT_TRUE(retried(std::runtime_error("any other"))) << "as by default";
    EXPECT_TRUE(retried(404)) << "what is no class too";
    EXPECT_FALSE(retried(std::system_error(std::make_error_code(std::errc::operation_canceled))));
    machine_script script(policy);
    script.start();
    EXPECT_THAT(script.fail(0s, unreachable()), is_wait(100ms));
    EXPECT_THAT(script.fail(0s, detail::aborted_error()),
                is_completion(stop_reason::not_retryable, no_replacement));
}

TEST(retry_if_of_a_type, refuses_what_is_empty) {
    std::function<bool(http_error const&)> const empty;
    EXPECT_THAT(calling([&] { return retry_policy().retry_if<http_error>(empty); }), refuses("retry_if"));
}

// --- sent or not

/// An attempt that can say so fails with `error`.
retry_action fail_after(bool is_sent, error_code const& error,
                        retry_policy const& policy = endless_every_100ms().retry_sent(false)) {
    machine_script script(policy);
    script.machine.expect_marks();
    script.start();
    if (is_sent)
        script.machine.on_sent();
    return script.fail(0s, error);
}

TEST(retry_sent, retries_only_while_nothing_was_sent) {
    EXPECT_THAT(fail_after(false, unreachable()), is_wait(100ms));
    EXPECT_THAT(fail_after(true, unreachable()), is_completion(stop_reason::not_retryable, no_replacement));
    EXPECT_THAT(fail_after(true, unreachable(), endless_every_100ms()), is_wait(100ms));
    EXPECT_THAT(fail_after(true, unreachable(), endless_every_100ms().retry_sent(false).retry_sent(true)),
                is_wait(100ms));
}

TEST(retry_sent, an_error_that_says_that_nothing_was_done_counts_as_not_sent) {
    auto const refused = boost::system::errc::make_error_code(boost::system::errc::connection_refused);
    EXPECT_THAT(fail_after(true, refused), is_wait(100ms));
    auto const all_done = endless_every_100ms().retry_sent(false).classify(
        [](error_code const&) { return failure_class{failure_kind::transient, effect::possible}; });
    EXPECT_THAT(fail_after(true, refused, all_done), is_completion(stop_reason::not_retryable, no_replacement));
}

TEST(retry_sent, an_operation_that_cannot_say_so_has_sent_from_its_beginning) {
    machine_script script(endless_every_100ms().retry_sent(false));
    script.start();
    EXPECT_THAT(script.fail(0s, unreachable()), is_completion(stop_reason::not_retryable, no_replacement));
}

TEST(retry_sent, each_attempt_says_so_anew) {
    auto const refused = boost::system::errc::make_error_code(boost::system::errc::connection_refused);
    machine_script script(endless_every_100ms().retry_sent(false));
    script.machine.expect_marks();
    script.start();
    script.machine.on_sent();
    EXPECT_THAT(script.fail(0s, refused), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail(0s, unreachable()), is_wait(100ms));
    EXPECT_EQ(script.retries.at(1).sent, effect::none);
}

TEST(retry_sent, holds_whatever_cut_the_attempt_short) {
    for (bool const is_sent : {false, true}) {
        machine_script script(endless_every_100ms().attempt_timeout(1s).retry_sent(false));
        script.machine.expect_marks();
        script.start();
        if (is_sent)
            script.machine.on_sent();
        EXPECT_EQ(script.expire(0s, 1s).what == retry_action::kind::wait, !is_sent);
    }
}

TEST(retry_sent, holds_for_values_that_are_judged) {
    for (auto const what : {effect::none, effect::possible}) {
        machine_script script(endless_every_100ms().retry_sent(false));
        script.machine.expect_marks();
        script.start();
        script.machine.on_sent();
        judgement const judged{true, {failure_kind::throttled, what}, {}};
        EXPECT_EQ(script.fail(0s, verdict::rejected(judged)).what == retry_action::kind::wait,
                  what == effect::none);
    }
}

TEST(retry_sent, an_attempt_says_it_through_any_depth) {
    for (bool const is_sent : {false, true}) {
        int attempts = 0;
        auto const inner = [&](attempt a) {
            ++attempts;
            if (is_sent)
                a.mark_sent();
            return unreachable();
        };
        auto const middle = [&](attempt a) { return retry(inner, retry_policy().nested_in(a)); };
        auto const outer = [&](attempt a) { return retry(middle, retry_policy().nested_in(a)); };
        retry(outer, retry_policy().backoff(constant(0s)).retry_sent(false));
        EXPECT_EQ(attempts, is_sent ? 1 : 3);
    }
}

TEST(retry_sent, a_nested_retry_that_cannot_say_so_has_sent) {
    int attempts = 0;
    auto const outer = [&](attempt a) {
        return retry([&] { return ++attempts, unreachable(); }, retry_policy().nested_in(a));
    };
    retry(outer, retry_policy().backoff(constant(0s)).retry_sent(false));
    EXPECT_EQ(attempts, 1);
}

// --- max_waited

TEST(max_waited, bounds_the_sum_of_the_waits) {
    machine_script script(endless_every_100ms().max_waited(250ms));
    script.start();
    EXPECT_THAT(script.fail(10s), is_wait(100ms));
    script.wake(11s);
    EXPECT_THAT(script.fail(20s), is_wait(100ms));
    script.wake(21s);
    EXPECT_THAT(script.fail(30s), is_completion(stop_reason::elapsed, no_replacement));
}

TEST(max_waited, lets_a_wait_begin_that_uses_all_of_it) {
    machine_script script(endless_every_100ms().max_waited(100ms));
    script.start();
    EXPECT_THAT(script.fail(), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail(), is_completion(stop_reason::elapsed, no_replacement));
}

TEST(max_waited, is_clamped_and_begins_anew_with_health) {
    machine_script clamped(endless_every_100ms().max_waited(150ms).clamp());
    clamped.start();
    EXPECT_THAT(clamped.fail(), is_wait(100ms));
    clamped.wake(100ms);
    EXPECT_THAT(clamped.fail(100ms), is_wait(50ms));
    clamped.wake(150ms);
    EXPECT_THAT(clamped.fail(150ms), is_completion(stop_reason::elapsed, no_replacement));
    machine_script healthy(endless_every_100ms().max_waited(100ms).reset_after(1s));
    healthy.start();
    EXPECT_THAT(healthy.fail(), is_wait(100ms));
    healthy.wake(100ms);
    EXPECT_THAT(healthy.fail(5s), is_wait(100ms));
}

TEST(max_waited, refuses_what_is_negative) {
    EXPECT_THAT(calling([] { return retry_policy().max_waited(-1ns); }), refuses("max_waited"));
    EXPECT_EQ(retry_policy().max_waited(5s).settings().max_waited, duration(5s));
}

// --- the report

TEST(retry_report_history, keeps_exceptions) {
    retry_report report;
    auto const operation = [] { throw http_error(500); };
    EXPECT_THROW(retry(with_report(operation, report), retry_policy().backoff(constant(0s))), http_error);
    ASSERT_EQ(report.history.size(), 3u);
    for (failed_attempt const& one : report.history)
        EXPECT_THROW(std::rethrow_exception(one.exception), http_error);
}

} // namespace
} // namespace asio_retry::test
