#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/attempt/operation_hooks.hpp>
#include <asio_retry/detail/policy/report_recorder.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/message_of.hpp"
#include "support/script.hpp"

#include <boost/system/system_error.hpp>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct throwing_callback {
    char const* name;
    error stage;
    retry_policy policy;
};

std::vector<throwing_callback> throwing_callbacks() {
    retry_policy const plain = endless_every_100ms();
    return {
        {"code predicate", error::predicate_threw,
         plain.retry_if([](error_code) -> bool { throw std::runtime_error("mine"); })},
        {"exception predicate", error::predicate_threw,
         plain.retry_if([](std::exception_ptr) -> bool { throw std::runtime_error("mine"); })},
        {"backoff", error::backoff_threw,
         plain.backoff([](std::uint64_t) -> duration { throw std::runtime_error("mine"); })},
        {"jitter", error::jitter_threw,
         plain.jitter([](backoff_step, random&) -> duration { throw std::runtime_error("mine"); })},
        {"on_retry", error::hook_threw,
         plain.on_retry([](retry_event const&) { throw std::runtime_error("mine"); })},
    };
}

// A callback that throws ends the operation with its exception and its code, and is told to on_give_up once.
TEST(decision_21, a_throwing_callback_ends_the_operation) {
    for (throwing_callback const& c : throwing_callbacks()) {
        machine_script script(c.policy);
        script.start();
        retry_action const action = script.fail();
        EXPECT_THAT(action, is_thrown(c.stage)) << c.name;
        EXPECT_EQ(message_of(action.thrown), "mine") << c.name;
        EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::not_retryable, 1, unreachable())));
    }
}

// What has been done cannot be said then. Where the operation is cancelled its outcome is known, and stands.
TEST(decision_21, a_classifier_that_throws_is_told_of_once) {
    std::vector<effect> sent;
    auto const policy =
        endless_every_100ms()
            .retry_sent(false)
            .classify([](error_code const&) -> failure_class { throw std::runtime_error("mine"); })
            .on_give_up([&](retry_event const& e) { sent.push_back(e.sent); });
    for (bool const cancelled : {false, true}) {
        machine_script script(policy);
        script.start();
        if (cancelled)
            script.machine.cancel();
        retry_action const action = script.fail();
        EXPECT_EQ(action.reason, cancelled ? stop_reason::cancelled : stop_reason::not_retryable);
        EXPECT_EQ(action.error, cancelled ? detail::aborted_error() : error_code(error::predicate_threw));
        EXPECT_EQ(static_cast<bool>(action.thrown), !cancelled);
    }
    EXPECT_THAT(sent, ElementsAre(effect::possible, effect::possible));
}

// Whatever on_give_up throws, what was to be delivered is delivered.
TEST(decision_53, a_throwing_on_give_up_changes_no_result) {
    int calls = 0;
    auto const hook = [&](retry_event const&) {
        ++calls;
        throw std::runtime_error("late");
    };
    machine_script exhausted(endless_every_100ms().max_attempts(1).on_give_up(hook));
    exhausted.start();
    retry_action const action = exhausted.fail();
    EXPECT_EQ(action.what, retry_action::kind::complete);
    EXPECT_EQ(action.reason, stop_reason::attempts);
    EXPECT_EQ(action.error, no_replacement);
    EXPECT_FALSE(action.thrown);
    EXPECT_EQ(calls, 1);

    machine_script threw_before(throwing_callbacks()[0].policy.on_give_up(hook));
    threw_before.start();
    EXPECT_EQ(message_of(threw_before.fail().thrown), "mine");
    EXPECT_EQ(calls, 2);
}

namespace {

struct hook_reports final : detail::hooks_observer {
    explicit hook_reports(retry_machine& machine) { machine.observe(*this, true); }
    void on_hook_exception(std::exception_ptr const& e) noexcept override { thrown.push_back(message_of(e)); }
    void call_on_end(retry_event const&) override { throw std::runtime_error("end"); }
    std::vector<std::string> thrown;
};

} // namespace

// An error code says which callable threw, and not what.
TEST(decision_21, what_a_callable_threw_is_reported_once) {
    for (throwing_callback const& c : throwing_callbacks()) {
        machine_script script(c.policy);
        hook_reports reports(script.machine);
        script.start();
        EXPECT_THAT(script.fail(), is_thrown(c.stage)) << c.name;
        EXPECT_THAT(reports.thrown, ElementsAre("mine", "end")) << c.name;
    }
}

// Every exception is reported, in the order in which the hooks are called, and all of them are.
TEST(decision_53, what_hooks_throw_at_the_end_is_reported_and_changes_nothing) {
    auto const throws = [](char const* what) {
        return [=](retry_event const&) { throw std::runtime_error(what); };
    };
    auto const policy =
        endless_every_100ms().max_attempts(1).on_success(throws("success")).on_give_up(throws("give up"));
    machine_script succeeded(policy);
    hook_reports of_success(succeeded.machine);
    succeeded.start();
    EXPECT_THAT(succeeded.machine.on_success(succeeded.begin),
                is_completion(stop_reason::succeeded, no_replacement));
    EXPECT_THAT(of_success.thrown, ElementsAre("success", "end"));

    machine_script failed(policy);
    hook_reports of_failure(failed.machine);
    failed.start();
    EXPECT_THAT(failed.fail(), is_completion(stop_reason::attempts, no_replacement));
    EXPECT_THAT(of_failure.thrown, ElementsAre("give up", "end"));

    machine_script unclassified(
        endless_every_100ms()
            .max_attempts(1)
            .classify([](error_code const&) -> failure_class { throw std::runtime_error("classify"); })
            .retry_sent(false));
    hook_reports of_classifier(unclassified.machine);
    unclassified.start();
    unclassified.machine.cancel();
    EXPECT_THAT(unclassified.fail(), is_completion(stop_reason::cancelled, detail::aborted_error()));
    EXPECT_THAT(of_classifier.thrown, ElementsAre("classify", "end"));
}

struct mine : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The exception is the hook's own. The report has it and the failure of the attempt.
TEST(decision_88, what_on_retry_throws_comes_out_unchanged) {
    auto const policy = endless_every_100ms().on_retry([](retry_event const&) { throw mine("mine"); });
    retry_report report;
    detail::report_recorder recorder(report);
    machine_script thrown(policy);
    thrown.machine.observe(recorder, false);
    thrown.start();
    retry_action const action = thrown.fail_with(std::logic_error("attempt"));
    EXPECT_EQ(action.error, error::hook_threw);
    EXPECT_THROW(std::rethrow_exception(action.thrown), mine);
    EXPECT_EQ(message_of(report.last_exception), "attempt");
    EXPECT_EQ(report.last_error, error::operation_threw);
    EXPECT_EQ(report.hook_exception, action.thrown);
    EXPECT_EQ(report.hook_exceptions, 1u);

    machine_script late(policy.attempt_timeout(1s));
    late.start();
    EXPECT_THROW(std::rethrow_exception(late.expire(0s, 1s).thrown), mine);

    machine_script number(endless_every_100ms().on_retry([](retry_event const&) { throw 7; }));
    number.start();
    EXPECT_THROW(std::rethrow_exception(number.fail().thrown), int);
}

TEST(decision_21, what_a_classifier_throws_at_the_end_does_not_replace_what_was_thrown_before) {
    auto const first = [](error_code) -> bool { throw std::runtime_error("first"); };
    auto const second = [](error_code const&) -> failure_class { throw std::runtime_error("second"); };
    machine_script script(endless_every_100ms().retry_if(first).classify(second).retry_sent(false).on_give_up(
        [](retry_event const&) {}));
    script.start();
    EXPECT_EQ(message_of(script.fail().thrown), "first");
}

// A callback outside the policy that throws ends the operation like one of the policy's.
TEST(decision_21, a_throwing_callback_of_others_ends_the_operation) {
    machine_script script(endless_every_100ms());
    script.start();
    auto const thrown = std::make_exception_ptr(std::runtime_error("theirs"));
    retry_action const action = script.machine.on_exception(error::predicate_threw, thrown);
    EXPECT_THAT(action, is_thrown(error::predicate_threw));
    EXPECT_EQ(action.thrown, thrown);
    EXPECT_THAT(script.give_ups,
                ElementsAre(is_give_up(stop_reason::not_retryable, 1, error::predicate_threw)));
}

// A callback may run another operation with the same policy.
TEST(decision_21, a_callback_may_start_another_retry) {
    retry_policy const inner = endless_every_100ms();
    duration nested{};
    machine_script script(inner.on_retry([&](retry_event const&) {
        machine_script other(inner);
        other.start();
        nested = other.fail().delay;
    }));
    script.start();
    EXPECT_THAT(script.fail(), is_wait(100ms));
    EXPECT_EQ(nested, 100ms);
}

// on_retry is told of the failed attempt, its error, its exception and the wait, once for each retry.
TEST(decision_22, on_retry_comes_after_the_decision_and_before_the_wait) {
    machine_script script(endless_every_100ms().backoff(exponential(100ms)));
    script.start();
    auto const thrown = std::make_exception_ptr(boost::system::system_error(detail::timed_out_error()));
    script.fail(0s, verdict::failure(thrown));
    ASSERT_THAT(script.retries, ElementsAre(is_retry(1, 100ms)));
    EXPECT_EQ(script.retries[0].error, detail::timed_out_error());
    EXPECT_EQ(script.retries[0].exception, thrown);
    script.wake();
    script.fail();
    ASSERT_THAT(script.retries, ElementsAre(is_retry(1, 100ms), is_retry(2, 200ms)));
    EXPECT_EQ(script.retries[1].error, unreachable());
    EXPECT_EQ(script.retries[1].exception, nullptr);
    EXPECT_THAT(script.give_ups, IsEmpty());
}

// on_retry is not told of a last failure, and on_give_up is, with the exception.
TEST(decision_22, on_give_up_comes_once_and_instead_of_on_retry) {
    machine_script script(endless_every_100ms().max_attempts(1));
    script.start();
    auto const thrown = std::make_exception_ptr(std::runtime_error("x"));
    script.fail(0s, verdict::failure(thrown));
    EXPECT_THAT(script.retries, IsEmpty());
    ASSERT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::attempts, 1, error::operation_threw)));
    EXPECT_EQ(script.give_ups[0].exception, thrown);
}

// A first attempt never asks the gate; each retry asks it once, after its decision.
TEST(decision_26, first_attempts_are_never_charged) {
    auto const gate = std::make_shared<counting_tokens>(5);
    machine_script script(endless_every_100ms().gate(gate).max_attempts(3));
    EXPECT_THAT(script.start(), is_attempt());
    EXPECT_EQ(gate->asked, 0);
    script.fail();
    EXPECT_EQ(gate->asked, 1);
    script.wake();
    script.fail();
    EXPECT_EQ(gate->asked, 2);
    script.wake();
    script.fail();
    EXPECT_EQ(gate->asked, 2) << "the attempts are exhausted: no retry was decided";
}

// A lease is held during the wait and spent when the attempt begins.
TEST(decision_26, a_retry_that_begins_has_spent_its_token) {
    auto const gate = std::make_shared<counting_tokens>(5);
    {
        machine_script script(endless_every_100ms().gate(gate));
        script.start();
        script.fail();
        EXPECT_EQ(gate->left, 4);
        script.wake();
        EXPECT_EQ(gate->left, 4);
        script.machine.cancel();
        script.fail();
    }
    EXPECT_EQ(gate->left, 4) << "a spent lease is not returned";
}

// A lease is returned when the wait was cancelled, came to its end too late or was destroyed with its
// operation.
TEST(decision_26, a_lease_is_returned_if_no_attempt_follows) {
    auto const gate = std::make_shared<counting_tokens>(1);
    retry_policy const policy = endless_every_100ms().gate(gate).total_timeout(1s);

    machine_script cancelled(policy);
    cancelled.start();
    cancelled.fail();
    cancelled.machine.cancel();
    EXPECT_EQ(gate->left, 0);
    cancelled.wake(50ms);
    EXPECT_EQ(gate->left, 1);

    machine_script late(policy);
    late.start();
    late.fail();
    EXPECT_EQ(gate->left, 0);
    late.wake(2s);
    EXPECT_EQ(gate->left, 1);

    {
        machine_script destroyed(policy);
        destroyed.start();
        destroyed.fail();
        EXPECT_EQ(gate->left, 0);
    }
    EXPECT_EQ(gate->left, 1);
}

// A lease is back before on_give_up is called, when on_retry throws.
TEST(decision_26, a_lease_is_returned_if_on_retry_throws) {
    auto const gate = std::make_shared<counting_tokens>(1);
    int left_at_give_up = -1;
    machine_script script(throwing_callbacks().back().policy.gate(gate).on_give_up(
        [&](retry_event const&) { left_at_give_up = gate->left; }));
    script.start();
    script.fail();
    EXPECT_EQ(gate->asked, 1);
    EXPECT_EQ(left_at_give_up, 1);
}

// A gate that refuses ends the operation with the attempt's own error, and no retry is announced.
TEST(decision_27, a_refusing_gate_suppresses_the_retry) {
    auto const gate = std::make_shared<counting_tokens>(1);
    machine_script script(endless_every_100ms().gate(gate));
    script.start();
    EXPECT_THAT(script.fail(), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail(), is_completion(stop_reason::budget, no_replacement));
    EXPECT_THAT(script.retries, SizeIs(1));
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::budget, 2, unreachable())));
    EXPECT_EQ(gate->left, 0);
}

// A gate that refuses one operation's retry does not touch an attempt in flight: its success counts.
TEST(decision_27, a_refusing_gate_harms_no_attempt_in_flight) {
    auto const gate = std::make_shared<counting_tokens>(1);
    machine_script running(endless_every_100ms().gate(gate)), refused(endless_every_100ms().gate(gate));
    running.start();
    running.fail();
    EXPECT_THAT(running.wake(), is_attempt());
    refused.start();
    EXPECT_THAT(refused.fail(), is_completion(stop_reason::budget, no_replacement));
    EXPECT_THAT(running.machine.on_success(), is_completion(stop_reason::succeeded, no_replacement));
    EXPECT_EQ(gate->asked, 2);
}

} // namespace
} // namespace asio_retry::test
