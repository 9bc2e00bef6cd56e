#include <asio_retry/retry_machine.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/script.hpp"

#include <boost/system/system_error.hpp>

#include <stdexcept>

namespace asio_retry::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A deadline that is not in the future at the start allows no attempt and gives the timeout error.
TEST(decision_08, a_deadline_already_passed_allows_no_attempt) {
    for (retry_policy const& policy :
         {endless_every_100ms().deadline(time_point(1h) - 1ns), endless_every_100ms().deadline(time_point(1h)),
          endless_every_100ms().total_timeout(0s), endless_every_100ms().deadline(time_point::min())}) {
        machine_script script(policy);
        EXPECT_THAT(script.start(), is_completion(stop_reason::deadline, detail::timed_out_error()));
        EXPECT_THAT(script.give_ups,
                    ElementsAre(is_give_up(stop_reason::deadline, 0, detail::timed_out_error())));
    }
    machine_script in_time(endless_every_100ms().deadline(time_point(1h) + 1ns));
    EXPECT_THAT(in_time.start(), is_attempt());
}

// An attempt that is stopped at the deadline ends the operation with the timeout error.
TEST(decision_08, a_deadline_in_an_attempt_ends_the_operation) {
    machine_script script(endless_every_100ms().total_timeout(1s));
    script.start();
    EXPECT_EQ(script.limit(), 1s);
    EXPECT_THAT(script.expire(0s, 1s), is_completion(stop_reason::deadline, detail::timed_out_error()));
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::deadline, 1, detail::timed_out_error())));
}

// That is so whether or not the policy would have tried again.
TEST(decision_08, a_deadline_in_an_attempt_is_the_reason_whatever_the_policy_says) {
    retry_policy const policy = endless_every_100ms().total_timeout(1s);
    for (retry_policy const& other :
         {policy.max_attempts(1), policy.backoff(constant(0s)),
          policy.retry_if([](error_code) { return false; }), policy.attempt_timeout(1s).max_attempts(1)}) {
        machine_script script(other);
        script.start();
        EXPECT_THAT(script.expire(0s, 1s), is_completion(stop_reason::deadline, detail::timed_out_error()));
    }
}

// A wait that ends only after the deadline leads to the timeout error instead of an attempt.
TEST(decision_08, a_late_wake_up_after_the_deadline_times_out) {
    machine_script script(endless_every_100ms().total_timeout(100ms));
    script.start();
    EXPECT_THAT(script.fail(), is_wait(100ms));
    EXPECT_THAT(script.wake(100ms + 1ns), is_completion(stop_reason::deadline, detail::timed_out_error()));
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::deadline, 1, detail::timed_out_error())));
}

// An attempt timeout counts as a failure with timed_out, whatever the attempt said, and is tried again.
TEST(decision_10, an_attempt_timeout_ends_one_attempt) {
    machine_script script(endless_every_100ms().attempt_timeout(1s));
    script.start();
    EXPECT_EQ(script.limit(), 1s);
    EXPECT_THAT(script.expire(0s, 1s, detail::aborted_error()), is_wait(100ms));
    EXPECT_EQ(script.retries.at(0).error, detail::timed_out_error());
    EXPECT_THAT(script.wake(1100ms), is_attempt());
    EXPECT_EQ(script.limit(1100ms), 2100ms);
    EXPECT_THAT(script.fail(1200ms, detail::aborted_error()),
                is_completion(stop_reason::not_retryable, no_replacement))
        << "the attempt before expired, not this one";
}

// When the attempts are exhausted by timeouts, the timeout error is delivered for that reason.
TEST(decision_10, attempt_timeouts_exhaust_the_attempts) {
    machine_script script(endless_every_100ms().attempt_timeout(1s).max_attempts(2));
    script.start();
    script.expire(0s, 1s);
    script.wake(1100ms);
    EXPECT_THAT(script.expire(1100ms, 2100ms), is_completion(stop_reason::attempts, detail::timed_out_error()));
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::attempts, 2, detail::timed_out_error())));
}

// A predicate is asked about the timeout error, and its refusal delivers it.
TEST(decision_10, a_predicate_may_refuse_attempt_timeouts) {
    machine_script script(endless_every_100ms().attempt_timeout(1s).retry_if(
        [](error_code ec) { return ec != detail::timed_out_error(); }));
    script.start();
    EXPECT_THAT(script.expire(0s, 1s), is_completion(stop_reason::not_retryable, detail::timed_out_error()));
}

// The nearer of attempt timeout and deadline limits an attempt; at the same time the deadline counts.
TEST(decision_10, the_nearer_of_attempt_timeout_and_deadline_counts) {
    retry_policy const policy = endless_every_100ms().attempt_timeout(1s).total_timeout(1500ms);
    machine_script script(policy);
    script.start();
    EXPECT_EQ(script.limit(0s), 1s);
    EXPECT_EQ(script.limit(800ms), 1500ms);
    EXPECT_THAT(script.expire(0s, 1s), is_wait(100ms));
    script.wake(1100ms);
    EXPECT_THAT(script.expire(1100ms, 1500ms), is_completion(stop_reason::deadline, detail::timed_out_error()));
    machine_script tie(policy.total_timeout(1s));
    tie.start();
    EXPECT_THAT(tie.expire(0s, 1s), is_completion(stop_reason::deadline, detail::timed_out_error()));
}

// An expired attempt after which no wait fits before the deadline delivers its own timeout.
TEST(decision_10, an_attempt_timeout_near_the_deadline_stops_for_the_deadline) {
    machine_script script(endless_every_100ms().attempt_timeout(1s).total_timeout(1050ms));
    script.start();
    EXPECT_THAT(script.expire(0s, 1s), is_completion(stop_reason::deadline, detail::timed_out_error()));
    EXPECT_THAT(script.retries, IsEmpty());
}

// An attempt that goes on is told of the operation's limit, too.
TEST(attempt_timeout, is_followed_by_the_limit_of_the_operation) {
    machine_script script(endless_every_100ms().attempt_timeout(1s).total_timeout(2s));
    script.start();
    EXPECT_EQ(script.machine.on_attempt_limit(script.begin + 1s), script.begin + 2s);
    EXPECT_EQ(script.machine.on_attempt_limit(script.begin + 2s), time_point::max());
}

// A success wins even if it arrives after the attempt's limit or after a cancellation.
TEST(decision_12, a_success_wins) {
    machine_script script(endless_every_100ms().total_timeout(1s));
    script.start();
    script.machine.on_attempt_limit(script.machine.attempt_limit(script.begin));
    script.machine.cancel();
    EXPECT_THAT(script.machine.on_success(), is_completion(stop_reason::succeeded, no_replacement));
    EXPECT_THAT(script.give_ups, IsEmpty());
}

// --- what an attempt threw when it was told to stop

std::runtime_error const request_sent("the request was sent");

std::string nested_in(std::exception_ptr const& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (boost::system::system_error const& e) {
        EXPECT_EQ(e.code(), detail::timed_out_error());
    }
    try {
        std::rethrow_exception(thrown);
    } catch (std::nested_exception const& outer) { // as std::rethrow_if_nested, which needs RTTI
        try {
            outer.rethrow_nested();
        } catch (std::exception const& own) {
            return own.what();
        }
    } catch (std::exception const&) {
    }
    return "nothing";
}

TEST(decision_38, a_predicate_finds_the_attempts_own_exception_nested_in_the_timeout) {
    std::vector<std::string> asked;
    machine_script script(endless_every_100ms().attempt_timeout(1s).retry_if([&](std::exception_ptr const& e) {
        asked.push_back(nested_in(e));
        return asked.size() == 1;
    }));
    verdict const sent = verdict::failure(std::make_exception_ptr(request_sent));
    script.start();
    EXPECT_THAT(script.expire(0s, 1s, sent), is_wait(100ms));
    EXPECT_EQ(nested_in(script.retries.at(0).exception), request_sent.what()) << "a hook finds it too";
    script.wake(1100ms);
    retry_action const last = script.expire(1100ms, 2100ms, sent);
    EXPECT_EQ(last.reason, stop_reason::not_retryable);
    EXPECT_EQ(last.error, detail::timed_out_error());
    EXPECT_EQ(nested_in(last.thrown), request_sent.what()) << "and so does the caller";
    EXPECT_THAT(asked, testing::Each(request_sent.what()));
    EXPECT_EQ(script.give_ups.at(0).error, detail::timed_out_error());
    EXPECT_EQ(nested_in(script.give_ups.at(0).exception), request_sent.what());
}

/// Of an attempt that ends with `thrown` at its limit, which ends the operation.
void expect_nested(retry_policy const& policy, std::exception_ptr thrown, stop_reason why) {
    machine_script script(policy);
    script.start();
    retry_action const last = script.expire(0s, 1s, verdict::failure(std::move(thrown)));
    EXPECT_EQ(last.reason, why);
    EXPECT_EQ(last.error, detail::timed_out_error());
    EXPECT_EQ(nested_in(last.thrown), request_sent.what());
}

TEST(decision_38, a_permanent_error_is_nested_without_its_mark) {
    expect_nested(endless_every_100ms().attempt_timeout(1s), std::make_exception_ptr(permanent(request_sent)),
                  stop_reason::not_retryable);
}

TEST(decision_38, the_caller_finds_it_after_a_deadline_too) {
    expect_nested(endless_every_100ms().total_timeout(1s), std::make_exception_ptr(request_sent),
                  stop_reason::deadline);
}

TEST(decision_38, an_error_code_needs_no_exception) {
    machine_script script(endless_every_100ms().attempt_timeout(1s));
    script.start();
    EXPECT_THAT(script.expire(0s, 1s, unreachable()), is_wait(100ms));
    EXPECT_EQ(script.retries.at(0).exception, nullptr);
}

// Decision 38: that it took too long comes before what it came to, and a value is not asked about once more.
TEST(decision_38, a_rejected_result_that_came_too_late_is_a_timeout) {
    machine_script script(endless_every_100ms().attempt_timeout(1s).retry_if(
        [](error_code e) { return e != detail::timed_out_error(); }));
    script.start();
    EXPECT_THAT(script.fail(0s, verdict::rejected()), is_wait(100ms)) << "in time: whatever the predicate says";
    script.wake(100ms);
    EXPECT_THAT(script.expire(100ms, 1100ms, verdict::rejected()),
                is_completion(stop_reason::not_retryable, detail::timed_out_error()));
}

} // namespace
} // namespace asio_retry::test
