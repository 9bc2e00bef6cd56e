#include <asio_retry/retry_machine.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/script.hpp"

#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// The first attempt begins at once, whatever the policy.
TEST(retry_machine, begins_with_an_attempt) {
    machine_script script((retry_policy()));
    EXPECT_THAT(script.start(), is_attempt());
    EXPECT_EQ(script.machine.current_attempt().number, 1u);
    EXPECT_EQ(script.machine.current_attempt().deadline, time_point::max());
}

// Where there is no room for it, the first attempt does not begin.
TEST(retry_machine, ends_for_want_of_room_before_its_first_attempt) {
    machine_script script(endless_every_100ms());
    EXPECT_THAT(script.machine.refuse(detail::no_buffer_space_error(), script.begin),
                is_completion(stop_reason::budget, detail::no_buffer_space_error()));
    EXPECT_THAT(script.give_ups,
                ElementsAre(is_give_up(stop_reason::budget, 0, detail::no_buffer_space_error())));
}

// Failures alternate with waits and attempts until one attempt succeeds, and no hook hears of a giving up.
TEST(retry_machine, retries_until_an_attempt_succeeds) {
    machine_script script(endless_every_100ms());
    script.start();
    EXPECT_THAT(script.fail(1ms), is_wait(100ms));
    EXPECT_THAT(script.wake(101ms), is_attempt());
    EXPECT_THAT(script.fail(102ms), is_wait(100ms));
    EXPECT_THAT(script.wake(202ms), is_attempt());
    EXPECT_EQ(script.machine.current_attempt().number, 3u);
    EXPECT_THAT(script.machine.on_success(), is_completion(stop_reason::succeeded, no_replacement));
    EXPECT_THAT(script.give_ups, IsEmpty());
}

// The last attempt's own error is delivered, unchanged, with the reason and the number of attempts beside it.
TEST(decision_11, exhausted_attempts_deliver_the_last_error_unchanged) {
    machine_script script(endless_every_100ms().max_attempts(2));
    script.start();
    script.fail();
    script.wake();
    EXPECT_THAT(script.fail(0s, detail::timed_out_error()),
                is_completion(stop_reason::attempts, no_replacement));
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::attempts, 2, detail::timed_out_error())));
}

// Three attempts in all are the default.
TEST(retry_machine, makes_three_attempts_by_default) {
    machine_script script((retry_policy()));
    script.start();
    script.fail();
    script.wake();
    script.fail();
    EXPECT_THAT(script.wake(), is_attempt());
    EXPECT_THAT(script.fail(), is_completion(stop_reason::attempts, no_replacement));
}

// Unlimited attempts are still being made after a hundred thousand failures.
TEST(retry_machine, unlimited_attempts_never_run_out) {
    machine_script script(endless_every_100ms());
    script.start();
    for (int i = 0; i < 100'000; ++i) {
        ASSERT_EQ(script.fail().what, retry_action::kind::wait);
        ASSERT_EQ(script.wake().what, retry_action::kind::attempt);
    }
    EXPECT_EQ(script.machine.current_attempt().number, 100'001u);
}

// One attempt, no delay and unlimited attempts go the same way through the same machine.
TEST(decision_23, no_configuration_has_a_path_of_its_own) {
    for (retry_policy const& policy :
         {endless_every_100ms(), endless_every_100ms().max_attempts(2),
          endless_every_100ms().backoff(constant(0s)), endless_every_100ms().clamp()}) {
        machine_script script(policy);
        EXPECT_THAT(script.start(), is_attempt());
        EXPECT_THAT(script.fail(), is_wait(policy.settings().backoff.base()));
        EXPECT_THAT(script.retries, SizeIs(1));
        EXPECT_THAT(script.wake(), is_attempt());
    }
    machine_script one(endless_every_100ms().max_attempts(1));
    EXPECT_THAT(one.start(), is_attempt());
    EXPECT_THAT(one.fail(), is_completion(stop_reason::attempts, no_replacement));
    EXPECT_THAT(one.retries, IsEmpty());
    EXPECT_THAT(one.give_ups, ElementsAre(is_give_up(stop_reason::attempts, 1, unreachable())));
}

// An attempt that ends with operation_aborted, though nobody cancelled the operation, is not tried again.
TEST(decision_17, an_aborted_attempt_is_not_retryable) {
    machine_script script((retry_policy()));
    script.start();
    EXPECT_THAT(script.fail(0s, detail::aborted_error()),
                is_completion(stop_reason::not_retryable, no_replacement));
    EXPECT_THAT(script.give_ups,
                ElementsAre(is_give_up(stop_reason::not_retryable, 1, detail::aborted_error())));
}

// The same when operation_aborted arrives inside an exception, Boost's or the standard's.
TEST(decision_17, an_aborted_attempt_is_not_retryable_as_an_exception) {
    machine_script boost_script((retry_policy()));
    boost_script.start();
    EXPECT_THAT(boost_script.fail_with(boost::system::system_error(detail::aborted_error())),
                is_completion(stop_reason::not_retryable, no_replacement));
    machine_script standard_script((retry_policy()));
    standard_script.start();
    EXPECT_THAT(standard_script.fail_with(std::system_error(detail::aborted_error())),
                is_completion(stop_reason::not_retryable, no_replacement));
}

// Nor when it is told in another category.
TEST(decision_17, an_aborted_attempt_is_not_retryable_in_any_category) {
    for (error_code const& abort :
         {make_error_code(boost::system::errc::operation_canceled),
          error_code(std::make_error_code(std::errc::operation_canceled)),
          error_code(std::error_code(detail::aborted_error().value(), std::system_category()))}) {
        machine_script script((retry_policy()));
        script.start();
        EXPECT_THAT(script.fail(0s, abort), is_completion(stop_reason::not_retryable, no_replacement));
        machine_script any(endless_every_100ms().retry_if(any_failure));
        any.start();
        EXPECT_THAT(any.fail(0s, abort), is_wait(100ms));
    }
}

// A predicate may call operation_aborted retryable.
TEST(decision_17, a_predicate_may_say_otherwise) {
    machine_script script(
        endless_every_100ms().retry_if([](error_code ec) { return ec == detail::aborted_error(); }));
    script.start();
    EXPECT_THAT(script.fail(0s, detail::aborted_error()), is_wait(100ms));
}

// Every other code and every exception is retryable by default.
TEST(retry_machine, everything_else_is_retryable_by_default) {
    machine_script script(endless_every_100ms());
    script.start();
    EXPECT_THAT(script.fail(0s, detail::timed_out_error()), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail_with(std::runtime_error("x")), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail_with(boost::system::system_error(unreachable())), is_wait(100ms));
}

// A predicate on codes decides, and is given the code inside an exception or operation_threw.
TEST(retry_machine, a_code_predicate_decides) {
    std::vector<error_code> asked;
    machine_script script(endless_every_100ms().retry_if([&](error_code const& ec) {
        asked.push_back(ec);
        return ec != detail::timed_out_error();
    }));
    script.start();
    EXPECT_THAT(script.fail(), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail_with(std::runtime_error("x")), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail_with(boost::system::system_error(detail::timed_out_error())),
                is_completion(stop_reason::not_retryable, no_replacement));
    EXPECT_THAT(asked,
                ElementsAre(unreachable(), error_code(error::operation_threw), detail::timed_out_error()));
    EXPECT_THAT(script.give_ups,
                ElementsAre(is_give_up(stop_reason::not_retryable, 3, detail::timed_out_error())));
}

// A predicate on exceptions decides, and is given a system_error where the failure is a code.
TEST(retry_machine, an_exception_predicate_decides) {
    auto const thrown = std::make_exception_ptr(std::runtime_error("x"));
    std::vector<std::exception_ptr> asked;
    machine_script script(endless_every_100ms().retry_if([&](std::exception_ptr const& e) {
        asked.push_back(e);
        return e == thrown;
    }));
    script.start();
    EXPECT_THAT(script.fail(0s, verdict::failure(thrown)), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail(), is_completion(stop_reason::not_retryable, no_replacement));
    ASSERT_THAT(asked, SizeIs(2));
    EXPECT_EQ(asked[0], thrown);
    EXPECT_EQ(code_of(asked[1]), unreachable());
    EXPECT_THROW(std::rethrow_exception(asked[1]), boost::system::system_error);
}

// A rejected result is retried without asking the predicate, until the attempts are exhausted.
TEST(retry_machine, a_rejected_result_is_retried_whatever_the_predicate_says) {
    bool asked = false;
    machine_script script(endless_every_100ms().max_attempts(2).retry_if([&](error_code) {
        asked = true;
        return false;
    }));
    script.start();
    EXPECT_THAT(script.fail(0s, verdict::rejected()), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail(0s, verdict::rejected()), is_completion(stop_reason::attempts, no_replacement));
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::attempts, 2, error::result_rejected)));
    EXPECT_FALSE(asked);
}

// The backoff is given the number of failures, and the jitter everything that it may look at.
TEST(retry_machine, jitter_is_given_the_step) {
    std::vector<std::tuple<std::uint64_t, duration, duration>> steps;
    auto const half = [&](backoff_step step, random&) {
        EXPECT_EQ(step.base, 100ms);
        EXPECT_EQ(step.cap, 300ms);
        steps.emplace_back(step.failures, step.ceiling, step.previous);
        return step.ceiling / 2;
    };
    machine_script script(endless_every_100ms().backoff(exponential(100ms).cap(300ms)).jitter(half));
    script.start();
    for (duration expected : {50ms, 100ms, 150ms}) {
        EXPECT_THAT(script.fail(), is_wait(expected));
        EXPECT_THAT(script.wake(), is_attempt());
    }
    EXPECT_THAT(steps, ElementsAre(std::tuple(1, 100ms, 100ms), std::tuple(2, 200ms, 50ms),
                                   std::tuple(3, 300ms, 100ms)));
}

// The delays of a whole operation are determined by the seed and the outcomes.
TEST(decision_03, a_seed_and_the_outcomes_replay_the_delays) {
    machine_script script(retry_policy().unlimited_attempts());
    script.source = random(42);
    script.start();
    EXPECT_THAT(script.fail(), is_wait(98893068ns));
    script.wake();
    EXPECT_THAT(script.fail(), is_wait(51339803ns));
    script.wake();
    EXPECT_THAT(script.fail(), is_wait(316856303ns));
}

// Operations that share a policy do not see each other's failures, delays or cancellation.
TEST(decision_24, operations_share_a_policy_and_nothing_else) {
    retry_policy const policy = retry_policy().backoff(exponential(1s)).jitter(decorrelated_jitter());
    machine_script one(policy), other(policy);
    one.start();
    other.start();
    duration const first = one.fail().delay;
    one.wake();
    one.fail();
    one.machine.cancel();
    EXPECT_THAT(other.fail(), is_wait(first));
    EXPECT_THAT(other.wake(), is_attempt());
    EXPECT_EQ(other.machine.current_attempt().number, 2u);
}

// The machine keeps nothing of a failed attempt alive during the wait.
TEST(decision_20, the_exception_of_a_failed_attempt_is_gone_before_the_wait) {
    struct tracked {
        std::shared_ptr<int> alive;
    };
    auto alive = std::make_shared<int>();
    std::weak_ptr<int> const watched = alive;
    retry_machine machine(endless_every_100ms());
    random source(1);
    machine.start();
    {
        verdict const failure = verdict::failure(std::make_exception_ptr(tracked{std::move(alive)}));
        EXPECT_FALSE(watched.expired());
        EXPECT_THAT(machine.on_failure(failure, {}, source), is_wait(100ms));
    }
    EXPECT_TRUE(watched.expired());
}

} // namespace
} // namespace asio_retry::test
