#include <asio_retry/traffic/hedge_machine.hpp>

#include "support/elements.hpp"
#include "support/message_of.hpp"
#include "support/recording_gate.hpp"
#include "support/script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

verdict aborted_hedge() {
    return verdict::failure(detail::aborted_error());
}

// The first attempt begins at once; if it answers in time, that is all.
TEST(hedge_machine, one_that_is_fast_enough_needs_no_hedge) {
    hedge_script script(hedge_policy(10ms));
    EXPECT_EQ(script.start(), "begin 1, wait until 10");
    EXPECT_EQ(script.succeed(1, 9), "deliver 1 succeeded, done");
    EXPECT_TRUE(script.kept);
    EXPECT_FALSE(script.delivered.error);
}

// Each time that the delay has passed without a result another begins, up to the cap.
TEST(hedge_machine, begins_another_each_time_that_the_delay_has_passed) {
    hedge_script script(hedge_policy(10ms).max_attempts(3));
    script.start();
    EXPECT_EQ(script.go_on(9), "wait until 10");
    EXPECT_EQ(script.go_on(10), "begin 2, wait until 20");
    EXPECT_EQ(script.go_on(25), "begin 3, wait");
    EXPECT_EQ(script.go_on(1000), "wait");
}

// With a delay of zero all of them begin at once.
TEST(hedge_machine, without_delay_all_begin_at_once) {
    hedge_script script(hedge_policy(0ms).max_attempts(4));
    EXPECT_EQ(script.start(), "begin 1, begin 2, begin 3, begin 4, wait");
}

// The losers are told to stop, and the result is delivered when the last of them has ended.
TEST(decision_30, the_result_is_delivered_after_the_losers_have_ended) {
    hedge_script script(hedge_policy(10ms).max_attempts(3));
    script.start();
    script.go_on(10);
    script.go_on(20);
    EXPECT_EQ(script.succeed(2, 21), "stop, wait");
    EXPECT_TRUE(script.kept);
    EXPECT_EQ(script.fail(3, 22, aborted_hedge()), "wait");
    EXPECT_FALSE(script.kept);
    EXPECT_EQ(script.succeed(1, 23), "deliver 2 succeeded, done") << "which came too late";
    EXPECT_FALSE(script.kept);
}

TEST(hedge_machine, delivers_at_once_if_it_is_told_to) {
    hedge_script script(hedge_policy(10ms).deliver_at_once());
    script.start();
    script.go_on(10);
    EXPECT_EQ(script.succeed(2, 11), "stop, deliver 2 succeeded, wait");
    EXPECT_EQ(script.fail(1, 500, aborted_hedge()), "done");
    EXPECT_FALSE(script.kept);
}

// After a failure the next begins at once, and the time counts from there.
TEST(decision_30, a_retryable_failure_starts_the_next_at_once) {
    hedge_script script(hedge_policy(10ms).max_attempts(3));
    script.start();
    EXPECT_EQ(script.fail(1, 4), "begin 2, wait until 14");
    EXPECT_FALSE(script.kept) << "its result is destroyed";
    EXPECT_EQ(script.go_on(14), "begin 3, wait");
    EXPECT_EQ(script.fail(3, 15), "wait");
    EXPECT_EQ(script.fail(2, 16, verdict::failure(detail::timed_out_error())), "deliver 2 attempts, done")
        << "the last failure";
    EXPECT_TRUE(script.kept);
    EXPECT_FALSE(script.delivered.error) << "its own";
}

TEST(decision_30, a_fatal_failure_ends_it) {
    hedge_script script(hedge_policy(10ms).max_attempts(3));
    script.start();
    script.go_on(10);
    EXPECT_EQ(script.fail(1, 11, aborted_hedge()), "stop, wait")
        << "that nobody asked for: the socket was closed";
    EXPECT_TRUE(script.kept);
    EXPECT_EQ(script.succeed(2, 12), "deliver 1 not_retryable, done") << "too late";
    EXPECT_FALSE(script.kept);
}

TEST(hedge_machine, a_permanent_failure_ends_it_with_what_is_inside) {
    hedge_script script(hedge_policy(10ms));
    script.start();
    EXPECT_EQ(
        script.fail(1, 1, verdict::failure(std::make_exception_ptr(permanent(detail::timed_out_error())))),
        "deliver 1 not_retryable, done");
    EXPECT_EQ(script.delivered.error, detail::timed_out_error());
}

TEST(hedge_machine, a_nested_one_leaves_the_mark_of_a_permanent_failure_to_the_outer_retry) {
    hedge_script script(hedge_policy(10ms).nested_in({1, noon + 1s}));
    script.start();
    EXPECT_EQ(
        script.fail(1, 1, verdict::failure(std::make_exception_ptr(permanent(detail::timed_out_error())))),
        "deliver 1 not_retryable, done");
    EXPECT_FALSE(script.delivered.error);
}

TEST(hedge_machine, the_predicate_says_what_ends_it) {
    hedge_script script(
        hedge_policy(10ms).retry_if([](error_code ec) { return ec == detail::timed_out_error(); }));
    script.start();
    EXPECT_EQ(script.fail(1, 1), "deliver 1 not_retryable, done");
    hedge_script all(hedge_policy(10ms).retry_if(any_failure));
    all.start();
    EXPECT_EQ(all.fail(1, 1, aborted_hedge()), "begin 2, wait");
    hedge_script typed(
        hedge_policy(10ms).retry_if<std::bad_alloc>([](std::bad_alloc const&) { return false; }));
    typed.start();
    EXPECT_EQ(typed.fail(1, 1), "begin 2, wait");
    EXPECT_EQ(typed.fail(2, 2, verdict::failure(std::make_exception_ptr(std::bad_alloc()))),
              "deliver 2 not_retryable, done");
}

// A value that fail_if rejects is a failure like any other; one that is permanent is delivered.
TEST(hedge_machine, rejected_values_are_failures) {
    hedge_script script(hedge_policy(10ms));
    script.start();
    EXPECT_EQ(script.fail(1, 1, verdict::rejected()), "begin 2, wait");
    EXPECT_EQ(script.fail(2, 2, verdict::rejected()), "deliver 2 attempts, done");
    EXPECT_TRUE(script.kept);
    hedge_script other(hedge_policy(10ms));
    other.start();
    judgement fatal{true, {failure_kind::permanent, effect::possible}, {}};
    EXPECT_EQ(other.fail(1, 1, verdict::rejected(fatal)), "deliver 1 not_retryable, done");
}

// --- limits of time

TEST(hedge_machine, the_limit_tells_all_to_stop) {
    hedge_script script(hedge_policy(10ms).max_attempts(3).total_timeout(15ms));
    EXPECT_EQ(script.start(), "begin 1, wait until 10");
    EXPECT_EQ(script.go_on(10), "begin 2, wait until 15") << "the third would begin too late";
    EXPECT_EQ(script.go_on(15), "stop, wait");
    EXPECT_EQ(script.fail(1, 16, aborted_hedge()), "wait");
    EXPECT_EQ(script.fail(2, 17, aborted_hedge()), "deliver 0 deadline, done");
    EXPECT_EQ(script.delivered.error, detail::timed_out_error());
}

// What the attempt threw because it was told is nested in the exception.
TEST(hedge_machine, the_limits_exception_has_that_of_the_attempt_inside) {
    hedge_script script(hedge_policy(10ms).max_attempts(1).total_timeout(15ms));
    script.start();
    script.go_on(15);
    script.fail(1, 16, verdict::failure(std::make_exception_ptr(std::runtime_error("broken"))));
    ASSERT_TRUE(script.delivered.thrown);
    try {
        std::rethrow_exception(script.delivered.thrown);
    } catch (std::nested_exception const& caught) {
        EXPECT_THROW(caught.rethrow_nested(), std::runtime_error);
    }
}

TEST(decision_12, a_success_wins_over_a_limit_and_a_cancellation) {
    hedge_script limited(hedge_policy(10ms).total_timeout(15ms));
    limited.start();
    limited.go_on(10);
    EXPECT_EQ(limited.go_on(15), "stop, wait");
    EXPECT_EQ(limited.succeed(1, 16), "wait") << "the other has been told";
    EXPECT_TRUE(limited.kept);
    EXPECT_EQ(limited.fail(2, 17, aborted_hedge()), "deliver 1 succeeded, done");
    hedge_script cancelled(hedge_policy(10ms));
    cancelled.start();
    cancelled.machine.cancel(true);
    EXPECT_EQ(cancelled.go_on(1), "wait");
    EXPECT_EQ(cancelled.succeed(1, 2), "deliver 1 succeeded, done");
}

TEST(hedge_machine, a_deadline_that_has_passed_lets_no_attempt_begin) {
    hedge_script script(hedge_policy(10ms).deadline(noon));
    EXPECT_EQ(script.start(), "deliver 0 deadline, done");
    EXPECT_EQ(script.delivered.error, detail::timed_out_error());
    hedge_script inherited(hedge_policy(10ms));
    inherited.machine.inherit_deadline(noon + 5ms);
    EXPECT_EQ(inherited.start(), "begin 1, wait until 5");
    EXPECT_EQ(inherited.machine.attempt_at(1).deadline, noon + 5ms);
}

// --- cancellation

TEST(hedge_machine, nothing_begins_after_a_cancellation) {
    hedge_script script(hedge_policy(10ms));
    script.start();
    script.machine.cancel(true);
    EXPECT_EQ(script.go_on(10), "wait") << "those that run have been told";
    EXPECT_EQ(script.fail(1, 11), "deliver 0 cancelled, done");
    EXPECT_EQ(script.delivered.error, detail::aborted_error());
    hedge_script before(hedge_policy(10ms));
    before.machine.cancel(true);
    EXPECT_EQ(before.start(), "deliver 0 cancelled, done");
}

// A milder type is passed on as it is. If one succeeds then the others are told with terminal.
TEST(hedge_machine, losers_are_told_even_after_a_milder_cancellation) {
    hedge_script script(hedge_policy(10ms));
    script.start();
    script.go_on(10);
    script.machine.cancel(false);
    EXPECT_EQ(script.go_on(11), "wait");
    EXPECT_EQ(script.succeed(2, 12), "stop, wait");
}

TEST(hedge_machine, total_counts_only_while_the_first_alone_has_begun) {
    hedge_script one(hedge_policy(10ms));
    one.start();
    EXPECT_TRUE(one.machine.cancel_total());
    EXPECT_EQ(one.fail(1, 1), "deliver 0 cancelled, done");
    hedge_script two(hedge_policy(10ms));
    two.start();
    two.go_on(10);
    EXPECT_FALSE(two.machine.cancel_total());
    EXPECT_EQ(two.succeed(1, 11), "stop, wait");
    hedge_script failed(hedge_policy(10ms));
    failed.start();
    failed.machine.heed(1, pushback::after(5ms));
    failed.fail(1, 1);
    EXPECT_FALSE(failed.machine.cancel_total());
}

TEST(hedge_machine, decision_58_a_scope_tells_all_each_time) {
    hedge_script script(hedge_policy(10ms));
    script.start();
    script.go_on(10);
    script.machine.cancel_by_scope();
    EXPECT_EQ(script.go_on(11), "stop, wait");
    EXPECT_EQ(script.go_on(11), "wait") << "once";
    script.machine.cancel_by_scope();
    EXPECT_EQ(script.go_on(11), "stop, wait");
    EXPECT_EQ(script.fail(1, 12), "wait");
    EXPECT_EQ(script.fail(2, 12), "deliver 0 cancelled, done");
}

TEST(hedge_machine, a_drain_lets_those_that_run_end) {
    hedge_script script(hedge_policy(10ms).max_attempts(3));
    script.start();
    script.go_on(10);
    script.machine.drain();
    EXPECT_EQ(script.go_on(20), "wait");
    EXPECT_EQ(script.fail(1, 21), "wait");
    EXPECT_EQ(script.fail(2, 22), "deliver 0 cancelled, done");
    EXPECT_EQ(script.delivered.error, detail::aborted_error());
}

TEST(hedge_machine, in_a_drain_a_last_failure_is_a_cancellation) {
    hedge_script last(hedge_policy(10ms).max_attempts(1));
    last.start();
    last.machine.drain();
    EXPECT_EQ(last.fail(1, 1), "deliver 0 cancelled, done");
    hedge_script final(hedge_policy(10ms));
    final.start();
    final.machine.drain();
    EXPECT_EQ(final.fail(1, 1, aborted_hedge()), "deliver 0 cancelled, done");
    EXPECT_EQ(final.delivered.error, detail::aborted_error());
    hedge_script one_of_two(hedge_policy(10ms));
    one_of_two.start();
    one_of_two.go_on(10);
    one_of_two.machine.drain();
    EXPECT_EQ(one_of_two.fail(1, 11, aborted_hedge()), "stop, wait");
    EXPECT_EQ(one_of_two.fail(2, 12, aborted_hedge()), "deliver 0 cancelled, done");
}

TEST(hedge_machine, stopped_before_it_starts_it_is_cancelled_whatever_else_is_against_it) {
    hedge_script late(hedge_policy(10ms).deadline(noon));
    late.machine.drain();
    EXPECT_EQ(late.start(), "deliver 0 cancelled, done");
    hedge_script crowded(hedge_policy(10ms));
    crowded.machine.drain();
    crowded.machine.refuse(detail::no_buffer_space_error());
    EXPECT_EQ(crowded.go_on(0), "deliver 0 cancelled, done");
}

TEST(hedge_machine, those_that_were_told_by_one_cancellation_are_told_by_no_milder_one) {
    hedge_script script(hedge_policy(10ms).total_timeout(50ms));
    script.start();
    script.machine.cancel(true);
    script.machine.cancel(false);
    EXPECT_EQ(script.go_on(5), "wait until 50") << "which tells them in any case";
}

TEST(hedge_machine, a_cancellation_that_an_attempt_does_not_hear_does_not_outlast_the_deadline) {
    for (bool const told : {false, true}) {
        hedge_script script(hedge_policy(10ms).total_timeout(50ms));
        script.start();
        script.machine.cancel(told);
        EXPECT_EQ(script.go_on(5), "wait until 50");
        EXPECT_EQ(script.go_on(50), "stop, wait");
        EXPECT_EQ(script.go_on(51), "wait");
        EXPECT_EQ(script.fail(1, 51), "deliver 0 cancelled, done");
    }
}

TEST(hedge_machine, a_drain_does_not_outlast_the_deadline) {
    for (bool const succeeds : {false, true}) {
        hedge_script script(hedge_policy(10ms).max_attempts(3).total_timeout(50ms));
        script.start();
        script.go_on(10);
        script.machine.drain();
        EXPECT_EQ(script.go_on(20), "wait until 50");
        EXPECT_EQ(script.go_on(50), "stop, wait");
        EXPECT_EQ(script.fail(1, 51), "wait");
        EXPECT_EQ(succeeds ? script.succeed(2, 52) : script.fail(2, 52),
                  succeeds ? "deliver 2 succeeded, done" : "deliver 0 cancelled, done");
    }
}

// --- what has been sent

hedge_policy unsent(duration delay) {
    return hedge_policy(delay).max_attempts(3).hedge_sent(false);
}

TEST(decision_87, no_hedge_begins_beside_an_attempt_that_has_sent) {
    hedge_script script(unsent(10ms).total_timeout(50ms));
    EXPECT_EQ(script.start(), "begin 1, wait until 10");
    script.machine.on_sent(1);
    EXPECT_EQ(script.go_on(10), "wait until 50") << "and nobody asks again and again";
    EXPECT_EQ(script.succeed(1, 11), "deliver 1 succeeded, done");

    hedge_script allowed(hedge_policy(10ms));
    allowed.start();
    allowed.machine.on_sent(1);
    EXPECT_EQ(allowed.go_on(10), "begin 2, wait");
}

TEST(decision_87, a_hedge_begins_before_the_attempt_has_sent) {
    hedge_script script(unsent(10ms));
    script.start();
    EXPECT_EQ(script.go_on(10), "begin 2, wait until 20");
    script.machine.on_sent(2);
    EXPECT_EQ(script.go_on(20), "wait");
    EXPECT_EQ(script.fail(1, 21), "wait") << "the second one still runs";
    EXPECT_EQ(script.fail(2, 22), "begin 3, wait");
}

// A failure begins the next attempt as ever, for this is a retry.
TEST(decision_87, the_next_attempt_begins_when_the_one_that_has_sent_has_failed) {
    hedge_script script(unsent(10ms));
    script.start();
    script.machine.on_sent(1);
    script.go_on(10);
    EXPECT_EQ(script.fail(1, 15), "begin 2, wait until 25");
    EXPECT_EQ(script.go_on(25), "begin 3, wait") << "the second has sent nothing";

    hedge_script dropped(unsent(10ms));
    dropped.start();
    dropped.go_on(10);
    dropped.machine.on_sent(1);
    dropped.go_on(20);
    EXPECT_EQ(dropped.drop(1, 30), "begin 3, wait");
}

// A gate is neither asked nor charged for a hedge that may not begin.
TEST(decision_87, a_hedge_that_may_not_begin_costs_nothing) {
    auto const gate = std::make_shared<recording_gate>();
    hedge_script script(unsent(10ms).gate(gate));
    script.start();
    auto const before = gate->told;
    script.machine.on_sent(1);
    script.go_on(10);
    EXPECT_EQ(gate->told, before);
}

TEST(decision_87, a_retry_inside_the_attempt_may_have_sent) {
    hedge_script script(unsent(10ms));
    script.start();
    auto const marks = script.machine.marks_of_nested(1);
    EXPECT_EQ(script.go_on(10), "begin 2, wait until 20");
    marks->sent = true;
    EXPECT_EQ(script.go_on(20), "wait");
}

// --- callables

TEST(hedge_machine, the_hook_is_told_each_attempt_but_the_first) {
    std::vector<std::uint64_t> told;
    hedge_script script(
        hedge_policy(10ms).max_attempts(3).on_hedge([&](std::uint64_t n) { told.push_back(n); }));
    script.start();
    EXPECT_TRUE(told.empty());
    script.go_on(10);
    script.fail(1, 11);
    EXPECT_THAT(told, elements(2, 3));
}

TEST(decision_21, what_the_hook_or_the_predicate_throws_ends_the_hedge) {
    hedge_script hook(hedge_policy(10ms).on_hedge([](std::uint64_t) { throw std::runtime_error("hook"); }));
    hook.start();
    EXPECT_EQ(hook.go_on(10), "stop, wait");
    EXPECT_EQ(hook.fail(1, 11, aborted_hedge()), "deliver 0 not_retryable, done");
    EXPECT_EQ(hook.delivered.error, error::hook_threw);
    EXPECT_EQ(message_of(hook.delivered.thrown), "hook");
    hedge_script predicate(
        hedge_policy(10ms).retry_if([](error_code) -> bool { throw std::runtime_error("predicate"); }));
    predicate.start();
    EXPECT_EQ(predicate.fail(1, 1), "deliver 0 not_retryable, done");
    EXPECT_EQ(predicate.delivered.error, error::predicate_threw);
    EXPECT_EQ(message_of(predicate.delivered.thrown), "predicate");
}

TEST(decision_88, what_the_hook_throws_comes_out_unchanged_after_a_failure) {
    struct of_the_hook {};
    auto const throws = [](std::uint64_t) { throw of_the_hook(); };
    hedge_script at_once(hedge_policy(10ms).on_hedge(throws));
    at_once.start();
    EXPECT_EQ(at_once.fail(1, 1), "deliver 0 not_retryable, done");
    EXPECT_EQ(at_once.delivered.error, error::hook_threw);
    EXPECT_THROW(std::rethrow_exception(at_once.delivered.thrown), of_the_hook);

    hedge_script later(hedge_policy(10ms).on_hedge(throws));
    later.start();
    later.machine.heed(1, pushback::after(5ms));
    later.fail(1, 1, verdict::failure(std::make_exception_ptr(std::runtime_error("attempt"))));
    EXPECT_EQ(later.go_on(6), "deliver 0 not_retryable, done");
    EXPECT_THROW(std::rethrow_exception(later.delivered.thrown), of_the_hook);
}

// A limit of the attempt that the hedge is nested in may have told all of them to stop.
TEST(decision_48, a_nested_hedge_passes_on_that_an_attempt_was_permanent) {
    verdict const marked = verdict::failure(error_code(permanent(detail::aborted_error())));
    hedge_script cancelled(hedge_policy(10ms).nested_in({1, time_point::max(), nullptr}));
    cancelled.start();
    cancelled.go_on(10);
    cancelled.machine.cancel(true);
    cancelled.fail(1, 11, marked);
    EXPECT_EQ(cancelled.fail(2, 12, aborted_hedge()), "deliver 0 cancelled, done");
    EXPECT_EQ(detail::find_permanent(cancelled.delivered.error), detail::aborted_error());
    EXPECT_TRUE(verdict::failure(cancelled.delivered.thrown).is_permanent());

    hedge_script late(hedge_policy(10ms).total_timeout(20ms).nested_in({1, time_point::max(), nullptr}));
    late.start();
    late.go_on(20);
    EXPECT_EQ(late.fail(1, 21, marked), "deliver 0 deadline, done");
    EXPECT_EQ(detail::find_permanent(late.delivered.error), detail::timed_out_error());

    hedge_script alone(hedge_policy(10ms).total_timeout(20ms));
    alone.start();
    alone.go_on(20);
    alone.fail(1, 21, marked);
    EXPECT_EQ(alone.delivered.error, detail::timed_out_error());
    EXPECT_FALSE(detail::find_permanent(alone.delivered.error));
}

TEST(hedge_machine, a_callable_may_cancel) {
    hedge_machine* machine = nullptr;
    hedge_script hook(hedge_policy(10ms).on_hedge([&](std::uint64_t) { machine->cancel(true); }));
    machine = &hook.machine;
    hook.start();
    EXPECT_EQ(hook.go_on(10), "wait") << "the second does not begin";
    EXPECT_EQ(hook.fail(1, 11), "deliver 0 cancelled, done");
    hedge_script predicate(hedge_policy(10ms).retry_if([&](error_code) {
        machine->cancel(true);
        return true;
    }));
    machine = &predicate.machine;
    predicate.start();
    EXPECT_EQ(predicate.fail(1, 1), "deliver 0 cancelled, done");
}

// --- attempts that are lost

TEST(hedge_machine, one_that_never_completes_is_hedged) {
    hedge_script script(hedge_policy(10ms));
    script.start();
    EXPECT_EQ(script.drop(1, 1), "wait until 10");
    EXPECT_EQ(script.go_on(10), "begin 2, wait");
    EXPECT_EQ(script.succeed(2, 11), "deliver 2 succeeded, done");
}

TEST(hedge_machine, when_all_are_lost_there_is_nothing_to_deliver) {
    hedge_script script(hedge_policy(10ms));
    script.start();
    script.go_on(10);
    EXPECT_EQ(script.drop(1, 11), "wait");
    EXPECT_EQ(script.drop(2, 11), "abandon");
}

TEST(hedge_machine, a_failure_is_delivered_though_another_attempt_was_lost) {
    hedge_script script(hedge_policy(10ms));
    script.start();
    EXPECT_EQ(script.fail(1, 1), "begin 2, wait");
    EXPECT_EQ(script.drop(2, 2), "deliver 0 attempts, done");
    EXPECT_EQ(script.delivered.error, script.refused_connection().error());
    hedge_script won(hedge_policy(10ms));
    won.start();
    won.go_on(10);
    won.succeed(1, 11);
    EXPECT_EQ(won.drop(2, 12), "deliver 1 succeeded, done");
}

TEST(hedge_machine, what_is_delivered_of_a_failure_when_another_attempt_was_lost) {
    hedge_script rejected(hedge_policy(10ms));
    rejected.start();
    rejected.fail(1, 1, verdict::rejected());
    EXPECT_EQ(rejected.drop(2, 2), "deliver 0 attempts, done");
    EXPECT_EQ(rejected.delivered.error, error::attempt_refused) << "the value is gone";
    hedge_script thrown(hedge_policy(10ms));
    auto const failure = std::make_exception_ptr(std::runtime_error("no"));
    thrown.start();
    thrown.fail(1, 1, verdict::failure(failure));
    thrown.drop(2, 2);
    EXPECT_EQ(thrown.delivered.thrown, failure);
}

TEST(hedge_machine, what_the_operation_needs_may_fail) {
    hedge_script script(hedge_policy(10ms));
    script.start();
    script.machine.fail(detail::no_memory_error(), nullptr);
    EXPECT_EQ(script.go_on(1), "stop, wait");
    EXPECT_EQ(script.fail(1, 2), "deliver 0 not_retryable, done");
    EXPECT_EQ(script.delivered.error, detail::no_memory_error());
    hedge_script crowded(hedge_policy(10ms));
    crowded.machine.refuse(detail::no_buffer_space_error());
    EXPECT_EQ(crowded.go_on(0), "deliver 0 budget, done");
}

TEST(hedge_machine, what_a_nested_retry_shares_goes_with_the_machine_and_not_with_its_memory) {
    std::array<hedged_attempt, 3> memory;
    {
        hedge_machine machine(hedge_policy(0ms).max_attempts(3), memory);
        machine.start(noon);
        while (machine.next(noon).what == hedge_action::kind::begin) {
        }
        EXPECT_TRUE(machine.marks_of_nested(1));
        EXPECT_TRUE(machine.marks_of_nested(3));
        machine.on_success(1, noon);
        machine.on_dropped(2);
        EXPECT_TRUE(memory[2].is_running);
    }
    for (hedged_attempt const& one : memory)
        EXPECT_FALSE(one.marks) << "memory that is a part of an operation's block is never destroyed";
}

} // namespace
} // namespace asio_retry::test
