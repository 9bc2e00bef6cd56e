#include <asio_retry/retry_machine.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/script.hpp"

#include <memory>

namespace asio_retry::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

auto is_cancelled() {
    return is_completion(stop_reason::cancelled, detail::aborted_error());
}

struct fake_probe final : detail::cancellation_probe {
    bool stops(bool total_counts) const noexcept override { return terminal || (total && total_counts); }
    bool terminal = false;
    bool total = false;
};

// Cancelled before the start, an operation makes no attempt.
TEST(decision_15, cancelled_before_the_start_makes_no_attempt) {
    machine_script script(endless_every_100ms());
    script.machine.cancel();
    EXPECT_THAT(script.start(), is_cancelled());
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::cancelled, 0, detail::aborted_error())));
}

// Cancelled before the start and after its deadline, an operation is cancelled rather than late.
TEST(decision_15, cancelled_before_the_start_wins_over_the_deadline) {
    machine_script script(endless_every_100ms().total_timeout(0s));
    script.machine.cancel();
    EXPECT_THAT(script.start(), is_cancelled());
}

// Cancelled during an attempt that then fails, the operation is aborted, and on_give_up is told of the failure.
TEST(decision_14, cancelled_in_an_attempt_that_fails) {
    machine_script script(endless_every_100ms());
    script.start();
    script.machine.cancel();
    EXPECT_THAT(script.fail(), is_cancelled());
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::cancelled, 1, unreachable())));
    EXPECT_THAT(script.retries, IsEmpty());
}

// Cancelled during an attempt that also reached its limit, the operation is aborted.
TEST(decision_14, cancelled_in_an_attempt_that_expires) {
    machine_script script(endless_every_100ms().attempt_timeout(1s).total_timeout(1s));
    script.start();
    script.machine.cancel();
    EXPECT_THAT(script.expire(0s, 1s), is_cancelled());
    EXPECT_THAT(script.give_ups, SizeIs(1));
}

// Cancelled during an attempt that then succeeds, the operation has succeeded.
TEST(decision_12, a_success_wins_over_a_cancellation) {
    machine_script script(endless_every_100ms());
    script.start();
    script.machine.cancel();
    EXPECT_THAT(script.machine.on_success(), is_completion(stop_reason::succeeded, no_replacement));
    EXPECT_THAT(script.give_ups, IsEmpty());
}

// Cancelled while waiting, the operation makes no further attempt.
TEST(decision_15, cancelled_while_waiting_makes_no_attempt) {
    machine_script script(endless_every_100ms());
    script.start();
    EXPECT_THAT(script.fail(), is_wait(100ms));
    script.machine.cancel();
    EXPECT_THAT(script.wake(50ms), is_cancelled());
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::cancelled, 1, detail::aborted_error())));
}

// A cancellation by the predicate, the backoff or the jitter is seen before the gate is asked or a retry
// announced.
TEST(decision_15, cancelled_by_a_callback_begins_no_wait) {
    retry_machine* machine = nullptr;
    auto const gate = std::make_shared<counting_tokens>(9);
    retry_policy const policy = endless_every_100ms().gate(gate);
    auto const predicate = [&](error_code) {
        machine->cancel();
        return true;
    };
    auto const shape = [&](std::uint64_t) {
        machine->cancel();
        return duration(1s);
    };
    auto const kind = [&](backoff_step, random&) {
        machine->cancel();
        return duration(1s);
    };
    for (retry_policy const& cancelling :
         {policy.retry_if(predicate), policy.backoff(shape), policy.jitter(kind)}) {
        machine_script script(cancelling);
        machine = &script.machine;
        script.start();
        EXPECT_THAT(script.fail(), is_cancelled());
        EXPECT_THAT(script.retries, IsEmpty());
        EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::cancelled, 1, unreachable())));
    }
    EXPECT_EQ(gate->asked, 0);
}

// A predicate that cancels and refuses: the cancellation is the reason, not the failure.
TEST(decision_15, cancelled_by_a_predicate_that_refuses) {
    retry_machine* machine = nullptr;
    machine_script script(endless_every_100ms().retry_if([&](error_code) {
        machine->cancel();
        return false;
    }));
    machine = &script.machine;
    script.start();
    EXPECT_THAT(script.fail(), is_cancelled());
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::cancelled, 1, unreachable())));
}

// A cancellation by on_retry itself is seen before the wait, and the lease is returned.
TEST(decision_15, cancelled_by_on_retry_begins_no_wait) {
    retry_machine* machine = nullptr;
    auto const gate = std::make_shared<counting_tokens>(1);
    machine_script script(
        endless_every_100ms().gate(gate).on_retry([&](retry_event const&) { machine->cancel(); }));
    machine = &script.machine;
    script.start();
    EXPECT_THAT(script.fail(), is_cancelled());
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::cancelled, 1, unreachable())));
    EXPECT_EQ(gate->asked, 1);
    EXPECT_EQ(gate->left, 1);
}

// A total cancellation counts while the first attempt has not begun or runs.
TEST(decision_16, total_counts_until_the_first_failure) {
    machine_script before(endless_every_100ms());
    EXPECT_TRUE(before.machine.cancel_total());
    EXPECT_THAT(before.start(), is_cancelled());

    machine_script during(endless_every_100ms());
    during.start();
    EXPECT_FALSE(during.machine.cancelled());
    EXPECT_TRUE(during.machine.cancel_total());
    EXPECT_TRUE(during.machine.cancelled());
    EXPECT_THAT(during.fail(), is_cancelled());
}

// After a failed attempt a total cancellation does nothing, neither in the wait nor in later attempts.
TEST(decision_16, total_is_ignored_after_a_failed_attempt) {
    machine_script script(endless_every_100ms());
    script.start();
    script.fail();
    EXPECT_FALSE(script.machine.cancel_total());
    EXPECT_FALSE(script.machine.cancelled());
    EXPECT_THAT(script.wake(), is_attempt());
    EXPECT_FALSE(script.machine.cancel_total());
    EXPECT_THAT(script.fail(), is_wait(100ms));
}

// A policy may let a total cancellation count there too.
TEST(decision_16, total_counts_after_a_failed_attempt_if_the_policy_allows_it) {
    machine_script script(endless_every_100ms().allow_total_cancellation());
    script.start();
    script.fail();
    EXPECT_TRUE(script.machine.cancel_total());
    EXPECT_THAT(script.wake(), is_cancelled());
}

// One that is ignored stays so, whatever came before it.
TEST(decision_16, total_after_a_failure_is_not_passed_on_even_after_terminal) {
    machine_script script(endless_every_100ms());
    script.start();
    script.fail();
    script.machine.cancel();
    EXPECT_FALSE(script.machine.cancel_total());
    EXPECT_THAT(script.wake(), is_cancelled());
}

// Repeated and late cancellations do nothing: on_give_up is called once.
TEST(decision_18, repeated_cancellations_do_nothing) {
    machine_script script(endless_every_100ms());
    script.start();
    script.fail();
    script.machine.cancel();
    script.machine.cancel();
    EXPECT_THAT(script.wake(), is_cancelled());
    script.machine.cancel();
    script.machine.cancel_total();
    EXPECT_THAT(script.give_ups, SizeIs(1));
}

// A probe is asked before the start, after a failed attempt and after a wait.
TEST(decision_15, a_probe_is_asked_before_every_initiation) {
    fake_probe probe;
    auto const watched = [&](machine_script& script) -> machine_script& {
        probe.terminal = false;
        script.machine.watch(probe);
        return script;
    };
    machine_script before(endless_every_100ms()), during(endless_every_100ms()), waiting(endless_every_100ms());
    watched(before);
    probe.terminal = true;
    EXPECT_THAT(before.start(), is_cancelled());

    watched(during).start();
    probe.terminal = true;
    EXPECT_THAT(during.fail(), is_cancelled());

    watched(waiting).start();
    EXPECT_THAT(waiting.fail(), is_wait(100ms));
    probe.terminal = true;
    EXPECT_THAT(waiting.wake(), is_cancelled());
}

// What a probe said once is latched.
TEST(decision_15, a_probe_that_stopped_the_operation_is_not_asked_again) {
    fake_probe probe;
    machine_script script(endless_every_100ms());
    script.machine.watch(probe);
    script.start();
    probe.terminal = true;
    EXPECT_TRUE(script.machine.cancelled());
    probe.terminal = false;
    EXPECT_THAT(script.fail(), is_cancelled());
}

// A probe is asked after the callbacks as well.
TEST(decision_15, a_probe_is_asked_after_on_retry) {
    fake_probe probe;
    machine_script script(endless_every_100ms().on_retry([&](retry_event const&) { probe.terminal = true; }));
    script.machine.watch(probe);
    script.start();
    EXPECT_THAT(script.fail(), is_cancelled());
}

// A probe is told whether a total cancellation counts: it does for a failing first attempt, not for the second.
TEST(decision_16, a_probe_is_told_whether_total_counts) {
    fake_probe probe;
    machine_script first(endless_every_100ms()), second(endless_every_100ms());
    first.machine.watch(probe);
    second.machine.watch(probe);
    first.start();
    second.start();
    EXPECT_THAT(second.fail(), is_wait(100ms));
    probe.total = true;
    EXPECT_THAT(first.fail(), is_cancelled());
    EXPECT_THAT(second.wake(), is_attempt());
    EXPECT_THAT(second.fail(), is_wait(100ms));
}

} // namespace
} // namespace asio_retry::test
