#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_machine.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/elements.hpp"
#include "support/recording_gate.hpp"
#include "support/script.hpp"

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Although its operation is refused a little later, when something else has cancelled it.
TEST(retry_machine, decision_26_tells_the_gate_when_it_was_asked_for_an_attempt_that_never_began) {
    gated_script script;
    ASSERT_TRUE(script.machine.may_start(script.begin));
    script.machine.cancel();
    EXPECT_EQ(script.machine.start(script.begin + 80ms).reason, stop_reason::cancelled);
    EXPECT_THAT(script.told(), elements("admit 1", "abandoned 1"));
    EXPECT_EQ(script.gate->ends[0].now, script.begin);
}

// A gate is asked before every attempt and told of its end; a retry is asked for in between.
TEST(retry_machine, decision_26_tells_the_gate_the_story_of_an_operation) {
    gated_script script;
    EXPECT_THAT(script.start(), is_attempt());
    EXPECT_THAT(script.fail(3ms), is_wait(100ms));
    EXPECT_THAT(script.wake(103ms), is_attempt());
    EXPECT_THAT(script.fail(110ms, detail::timed_out_error()), is_wait(100ms));
    EXPECT_THAT(script.wake(210ms), is_attempt());
    script.machine.on_success(script.begin + 215ms);
    EXPECT_THAT(script.told(), elements("admit 1", "failed 1 transient", "acquire transient", "admit 2",
                                        "failed 2 timeout", "acquire timeout", "admit 3", "succeeded 3"));
    ASSERT_THAT(script.gate->ends, SizeIs(3));
    EXPECT_EQ(script.gate->ends[0].took, 3ms);
    EXPECT_EQ(script.gate->ends[0].after, failure_kind::none);
    EXPECT_EQ(script.gate->ends[1].took, 7ms);
    EXPECT_EQ(script.gate->ends[1].after, failure_kind::transient);
    EXPECT_EQ(script.gate->ends[2].took, 5ms);
    EXPECT_EQ(script.gate->ends[2].after, failure_kind::timeout);
    EXPECT_EQ(script.gate->ends[2].now, script.begin + 215ms);
    script.destroy();
    EXPECT_THAT(script.gate->ends, SizeIs(3));
    EXPECT_TRUE(script.gate->is_balanced());
}

// Its kind is the same whether the predicate wants a retry or not, and the predicate is asked once.
TEST(retry_machine, decision_47_what_is_not_retried_has_the_kind_that_it_has) {
    int asked = 0;
    gated_script script(endless_every_100ms().retry_if([&](error_code) { return ++asked < 2; }));
    script.start();
    script.fail();
    script.wake();
    EXPECT_THAT(script.fail(), is_completion(stop_reason::not_retryable, no_replacement));
    EXPECT_EQ(asked, 2);
    EXPECT_THAT(script.told(), elements("admit 1", "failed 1 transient", "acquire transient", "admit 2",
                                        "failed 2 transient"));

    gated_script marked;
    marked.start();
    marked.fail({}, verdict::failure(std::make_exception_ptr(permanent_error(unreachable()))));
    EXPECT_THAT(marked.told(), elements("admit 1", "failed 1 permanent"));
}

// Limits of attempts say nothing about the failure.
TEST(retry_machine, the_last_failure_has_the_kind_that_it_has) {
    gated_script script(endless_every_100ms().max_attempts(1));
    script.start();
    EXPECT_THAT(script.fail(), is_completion(stop_reason::attempts, no_replacement));
    EXPECT_THAT(script.told(), elements("admit 1", "failed 1 transient"));
}

TEST(retry_machine, a_policy_may_classify_by_itself) {
    std::vector<error_code> asked;
    auto const answer = [&](failure_class what) {
        return endless_every_100ms().classify([&asked, what](error_code const& code) {
            asked.push_back(code);
            return what;
        });
    };
    gated_script script(answer({failure_kind::throttled, effect::none}));
    script.start();
    script.fail();
    EXPECT_THAT(script.told(), elements("admit 1", "failed 1 throttled", "acquire throttled"));
    EXPECT_THAT(asked, testing::Each(unreachable()));

    gated_script none(answer({failure_kind::none, effect::none}));
    none.start();
    none.fail();
    EXPECT_THAT(none.told(), elements("admit 1", "failed 1 transient", "acquire transient"));

    asked.clear();
    random source(1);
    retry_machine unasked(answer({}));
    unasked.start();
    unasked.on_failure(verdict::failure(unreachable()), {}, source);
    EXPECT_THAT(asked, IsEmpty()) << "without a gate, an observer and hooks nobody wants to know";
}

// A predicate or a classification that throws ends the operation, and says nothing of the attempt. A value on
// which nobody can decide is an answer.
TEST(retry_machine, decision_21_what_throws_in_a_judgement_ends_the_operation) {
    gated_script predicate(
        endless_every_100ms().retry_if([](error_code) -> bool { throw std::runtime_error("x"); }));
    predicate.start();
    EXPECT_THAT(predicate.fail(), is_thrown(error::predicate_threw));
    EXPECT_THAT(predicate.told(), elements("admit 1", "failed 1 transient"));

    gated_script classifier(endless_every_100ms().classify(
        [](error_code const&) -> failure_class { throw std::runtime_error("x"); }));
    classifier.start();
    EXPECT_THAT(classifier.fail(), is_thrown(error::predicate_threw));
    EXPECT_THAT(classifier.told(), elements("admit 1", "failed 1 transient"));

    gated_script judged;
    judged.start();
    judged.machine.on_exception(error::predicate_threw, std::make_exception_ptr(1), judged.begin);
    EXPECT_THAT(judged.told(), elements("admit 1", "failed 1 permanent"));
}

// An attempt that its limit ended is a timeout; one that the caller told to stop says nothing about the peer.
TEST(retry_machine, tells_limits_from_cancellations) {
    gated_script limited(endless_every_100ms().attempt_timeout(1s));
    limited.start();
    EXPECT_THAT(limited.expire(0s, 1s), is_wait(100ms));
    EXPECT_THAT(limited.told(), elements("admit 1", "failed 1 timeout", "acquire timeout"));

    gated_script total(endless_every_100ms().total_timeout(1s));
    total.start();
    EXPECT_THAT(total.expire(0s, 1s), is_completion(stop_reason::deadline, detail::timed_out_error()));
    EXPECT_THAT(total.told(), elements("admit 1", "failed 1 timeout"));

    gated_script cancelled;
    cancelled.start();
    cancelled.machine.cancel();
    cancelled.fail();
    EXPECT_THAT(cancelled.told(), elements("admit 1", "abandoned 1"));

    gated_script drained;
    drained.start();
    drained.machine.drain();
    drained.fail();
    EXPECT_THAT(drained.told(), elements("admit 1", "failed 1 transient"))
        << "nobody told it: it failed by itself";

    gated_script exhausted;
    exhausted.start();
    exhausted.machine.on_exception(detail::no_memory_error(), nullptr);
    EXPECT_THAT(exhausted.told(), elements("admit 1", "abandoned 1"));
}

// What the attempt marks is an answer, unless it is that it was told to stop.
TEST(retry_machine, decision_47_what_is_marked_after_its_time_is_an_answer_but_for_the_abort) {
    for (auto const& policy :
         {endless_every_100ms().total_timeout(1s), endless_every_100ms().attempt_timeout(1s)}) {
        gated_script answered(policy);
        answered.start();
        answered.expire(0s, 1s, verdict::failure(std::make_exception_ptr(permanent(unreachable()))));
        EXPECT_EQ(answered.told().back(), "failed 1 permanent");
        gated_script silent(policy);
        silent.start();
        silent.expire(0s, 1s, verdict::failure(std::make_exception_ptr(permanent(detail::aborted_error()))));
        EXPECT_EQ(silent.told().back(), "failed 1 timeout");
    }
}

TEST(retry_machine, a_drain_does_not_take_a_cancellation_back) {
    gated_script script;
    script.start();
    script.machine.cancel();
    script.machine.drain();
    script.fail();
    EXPECT_EQ(script.told().back(), "abandoned 1");
}

// So a gate knows which attempt it was, though nobody may know when it ended.
TEST(retry_machine, an_abandoned_attempt_says_when_it_was_let_in) {
    gated_script cancelled;
    cancelled.start();
    cancelled.fail();
    cancelled.wake(100ms);
    cancelled.machine.cancel();
    cancelled.fail(150ms);
    ASSERT_THAT(cancelled.gate->ends, SizeIs(2));
    EXPECT_EQ(cancelled.gate->ends[1].outcome, attempt_end::how::abandoned);
    EXPECT_EQ(cancelled.gate->ends[1].now, cancelled.begin + 100ms);

    gated_script dropped;
    dropped.start();
    dropped.destroy();
    ASSERT_THAT(dropped.gate->ends, SizeIs(1));
    EXPECT_EQ(dropped.gate->ends[0].now, dropped.gate->asked_at[0]);
}

// Whatever becomes of the operation, what was let in ends and what was taken is given back.
TEST(retry_machine, decision_26_its_destructor_leaves_nothing_behind) {
    gated_script running;
    running.start();
    running.destroy();
    EXPECT_THAT(running.told(), elements("admit 1", "abandoned 1"));

    gated_script waiting;
    waiting.start();
    waiting.fail(0s, detail::timed_out_error());
    waiting.destroy();
    EXPECT_THAT(waiting.told(),
                elements("admit 1", "failed 1 timeout", "acquire timeout", "give_back timeout"));

    gated_script no_room;
    EXPECT_TRUE(no_room.machine.may_start(no_room.begin));
    no_room.machine.refuse(detail::no_buffer_space_error(), no_room.begin);
    EXPECT_THAT(no_room.told(), elements("admit 1", "abandoned 1"));

    gated_script cancelled;
    cancelled.start();
    cancelled.fail();
    cancelled.machine.cancel();
    EXPECT_THAT(cancelled.wake(50ms), is_completion(stop_reason::cancelled, detail::aborted_error()));
    EXPECT_THAT(cancelled.told(),
                elements("admit 1", "failed 1 transient", "acquire transient", "give_back transient"));
    for (auto* each : {&running, &waiting, &no_room, &cancelled})
        EXPECT_TRUE(each->gate->is_balanced());
}

// The gate of a policy that measures nothing is asked without a time, and compares with none.
TEST(retry_machine, a_gate_that_measures_no_time_gets_none) {
    gated_script script(endless_every_100ms().total_timeout(1h), false);
    script.gate->refusals = {let_in, no_idea};
    EXPECT_THAT(script.start(), is_attempt());
    script.fail();
    EXPECT_THAT(script.wake(), is_completion(stop_reason::refused, unreachable()));
    EXPECT_THAT(script.gate->asked_at, ElementsAre(time_point(), time_point()));
    EXPECT_FALSE(retry_machine(retry_policy().gate(script.gate)).measures_time());
}

// --- refused

// A first attempt that is refused does not begin: the operation ends with what the gate says.
TEST(retry_machine, a_refused_first_attempt_ends_with_the_refusal) {
    gated_script script;
    script.gate->refusals = {5s};
    EXPECT_FALSE(script.machine.may_start(script.begin));
    EXPECT_TRUE(script.machine.was_refused());
    EXPECT_FALSE(script.machine.may_start(script.begin + 1ms)) << "it is asked once";
    EXPECT_THAT(script.start(), is_completion(stop_reason::refused, error::circuit_open));
    EXPECT_THAT(script.told(), elements("refuse 1"));
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::refused, 0, error::circuit_open)));
}

// Refused after a wait the operation ends with its last error, and its exception, though the result is gone.
TEST(retry_machine, a_refused_retry_ends_with_the_last_error) {
    gated_script code;
    code.gate->refusals = {let_in, no_idea};
    code.start();
    code.fail();
    EXPECT_THAT(code.wake(100ms), is_completion(stop_reason::refused, unreachable()));
    EXPECT_THAT(code.told(), elements("admit 1", "failed 1 transient", "acquire transient", "refuse 2",
                                      "give_back transient"));
    EXPECT_THAT(code.give_ups, ElementsAre(is_give_up(stop_reason::refused, 1, unreachable())));

    gated_script thrown;
    thrown.gate->refusals = {let_in, no_idea};
    thrown.start();
    auto const own = std::make_exception_ptr(std::runtime_error("x"));
    thrown.fail({}, verdict::failure(own));
    retry_action const action = thrown.wake(100ms);
    EXPECT_EQ(action.reason, stop_reason::refused);
    EXPECT_EQ(action.thrown, own);
    EXPECT_EQ(action.error, error::operation_threw);
}

// A value that was rejected is gone after the wait; there is nothing to deliver but the refusal.
TEST(retry_machine, a_refused_retry_of_a_rejected_value_ends_with_the_refusal) {
    gated_script script;
    script.gate->refusals = {let_in, no_idea};
    script.start();
    script.fail({}, verdict::rejected());
    EXPECT_THAT(script.wake(100ms), is_completion(stop_reason::refused, error::circuit_open));
}

TEST(retry_machine, a_refused_retry_of_a_value_rejected_after_an_error_ends_with_the_refusal) {
    gated_script script;
    script.gate->refusals = {let_in, let_in, no_idea};
    script.start();
    script.fail();
    script.wake(100ms);
    script.fail(100ms, verdict::rejected());
    EXPECT_THAT(script.wake(200ms), is_completion(stop_reason::refused, error::circuit_open));
}

// It would be a success of which there is no result.
TEST(retry_machine, a_refusal_without_an_error_is_a_refusal_all_the_same) {
    struct careless final : retry_gate {
        admission admit(std::uint64_t, time_point now) noexcept override { return {now + 1s, error_code()}; }
    };
    machine_script script(endless_every_100ms().gate(std::make_shared<careless>()));
    script.start();
    ASSERT_THAT(script.give_ups, SizeIs(1));
    EXPECT_EQ(script.give_ups[0].error, error::attempt_refused);

    machine_script waiting(endless_every_100ms()
                               .gate(std::make_shared<careless>())
                               .wait_when_refused()
                               .deadline(time_point(1h) + 3s));
    EXPECT_THAT(waiting.start(), is_wait(1100ms));
    EXPECT_THAT(waiting.wake(1100ms), is_wait(1100ms));
    EXPECT_THAT(waiting.wake(2200ms), is_completion(stop_reason::deadline, error::attempt_refused));
}

// What one attempt was refused with is not what the next one ends with.
TEST(retry_machine, a_refusal_is_forgotten_when_its_attempt_begins) {
    gated_script script(endless_every_100ms().wait_when_refused().deadline(time_point(1h) + 6s));
    script.gate->refusals = {5s};
    script.gate->grants = {false, false};
    script.start();
    EXPECT_THAT(script.wake(5100ms), is_attempt());
    EXPECT_THAT(script.fail(5850ms, verdict::rejected()), is_wait(100ms));
    EXPECT_THAT(script.wake(5950ms), is_completion(stop_reason::deadline, error::attempt_refused));
}

// Each machine has 48 bytes for them. Asio keeps the frame of an awaited operation in a scope for the next one,
// unless a machine takes more than this.
TEST(retry_machine, what_gates_and_observers_need_is_small) {
    EXPECT_LE(sizeof(retry_machine), 136u);
}

// It is asked last, so that nobody pays for a retry that limits or the peer forbid.
TEST(retry_machine, asks_for_no_retry_that_is_not_made) {
    auto const story_of = [](retry_policy const& policy, pushback said = {}) {
        gated_script script(policy);
        script.start();
        script.machine.heed(said);
        EXPECT_EQ(script.fail(50ms).what, retry_action::kind::complete);
        return script.told();
    };
    auto const once = elements("admit 1", "failed 1 transient");
    EXPECT_THAT(story_of(endless_every_100ms().max_attempts(1)), once);
    EXPECT_THAT(story_of(endless_every_100ms().max_elapsed(100ms)), once);
    EXPECT_THAT(story_of(endless_every_100ms().deadline(time_point(1h) + 100ms)), once);
    EXPECT_THAT(story_of(endless_every_100ms(), pushback::never()), once);
    EXPECT_THAT(story_of(endless_every_100ms(), pushback::after(61s)), once);
    EXPECT_THAT(story_of(endless_every_100ms().backoff([](std::uint64_t) -> duration { throw 7; })), once);
    EXPECT_THAT(story_of(endless_every_100ms().retry_if([](error_code) { return false; })), once);
}

// A budget that grants no retry ends the operation before a wait, as ever.
TEST(retry_machine, decision_27_a_refused_lease_ends_the_operation) {
    gated_script script;
    script.gate->grants = {false};
    script.start();
    EXPECT_THAT(script.fail(), is_completion(stop_reason::budget, no_replacement));
    EXPECT_THAT(script.told(), elements("admit 1", "failed 1 transient", "no lease transient"));
    EXPECT_TRUE(script.gate->is_balanced());
}

// --- and waits

retry_policy doubling() {
    return retry_policy().backoff(exponential(100ms)).jitter(no_jitter()).max_attempts(2).wait_when_refused();
}

// The backoff counts refusals; attempts are not spent; the time that the gate names is waited for too.
TEST(retry_machine, waits_when_refused_until_the_gate_lets_it_in) {
    gated_script script(doubling());
    script.gate->refusals = {5s, no_idea, no_idea, let_in, 1s};
    EXPECT_THAT(script.start(), is_wait(5100ms));
    EXPECT_THAT(script.wake(5100ms), is_wait(200ms));
    EXPECT_THAT(script.wake(5300ms), is_wait(400ms));
    EXPECT_THAT(script.wake(5700ms), is_attempt());
    EXPECT_EQ(script.machine.current_attempt().number, 1u);
    EXPECT_THAT(script.fail(6s), is_wait(800ms));
    EXPECT_THAT(script.wake(6800ms), is_wait(2600ms));
    EXPECT_THAT(script.wake(9400ms), is_attempt());
    EXPECT_THAT(script.fail(9400ms), is_completion(stop_reason::attempts, no_replacement));
    EXPECT_THAT(script.told(), elements("refuse 1", "refuse 1", "refuse 1", "admit 1", "failed 1 transient",
                                        "acquire transient", "refuse 2", "admit 2", "failed 2 transient"))
        << "the lease is kept while it waits for its attempt";
    EXPECT_THAT(script.retries, ElementsAre(is_retry(1, 800ms))) << "once per failure";
    EXPECT_TRUE(script.gate->is_balanced());
}

TEST(retry_machine, waits_when_refused_a_lease_and_asks_for_it_again) {
    gated_script script(doubling());
    script.gate->grants = {false, false, true};
    script.start();
    EXPECT_THAT(script.fail(0s, detail::timed_out_error()), is_wait(100ms));
    EXPECT_THAT(script.wake(100ms), is_wait(400ms));
    EXPECT_THAT(script.wake(500ms), is_attempt());
    EXPECT_THAT(script.told(), elements("admit 1", "failed 1 timeout", "no lease timeout", "no lease timeout",
                                        "acquire timeout", "admit 2"));
    script.destroy();
    EXPECT_TRUE(script.gate->is_balanced());
}

TEST(retry_machine, a_wait_for_a_lease_is_not_what_the_gate_said_before) {
    gated_script script(endless_every_100ms().wait_when_refused());
    script.gate->refusals = {let_in, 10s};
    script.gate->grants = {true, false, false};
    script.start();
    script.fail();
    EXPECT_THAT(script.wake(100ms), is_wait(10100ms));
    EXPECT_THAT(script.wake(11s), is_attempt());
    EXPECT_THAT(script.fail(11s), is_wait(100ms));
    EXPECT_THAT(script.wake(12s), is_wait(100ms));
}

TEST(retry_machine, a_wait_when_refused_has_jitter_where_there_is_randomness) {
    std::vector<duration> before;
    auto const drawn = [&](backoff_step step, random& source) {
        source();
        before.push_back(step.previous);
        return step.ceiling / 2;
    };
    gated_script script(doubling().jitter(drawn));
    script.gate->refusals = {no_idea, no_idea, no_idea};
    EXPECT_THAT(script.machine.start(script.begin, script.source), is_wait(50ms));
    EXPECT_THAT(script.machine.on_wait_over(script.begin + 50ms, script.source), is_wait(100ms));
    EXPECT_THAT(script.wake(150ms), is_wait(400ms));
    EXPECT_THAT(before, elements(100ms, 50ms)) << "what was drawn for the refusal before";
}

TEST(decision_21, what_throws_as_a_wait_when_refused_is_computed_is_named) {
    gated_script backoff(
        doubling().backoff([](std::uint64_t) -> duration { throw std::runtime_error("mine"); }));
    backoff.gate->refusals = {no_idea};
    EXPECT_THAT(backoff.start(), is_thrown(error::backoff_threw));

    gated_script jitter(
        doubling().jitter([](backoff_step, random&) -> duration { throw std::runtime_error("mine"); }));
    jitter.gate->refusals = {no_idea};
    EXPECT_THAT(jitter.machine.start(jitter.begin, jitter.source), is_thrown(error::jitter_threw));
}

// Limits of time hold for it, and a cancellation ends it.
TEST(retry_machine, a_wait_when_refused_keeps_within_limits) {
    gated_script elapsed(doubling().max_elapsed(1s));
    elapsed.gate->refusals = {no_idea, no_idea, no_idea, no_idea};
    EXPECT_THAT(elapsed.start(), is_wait(100ms));
    EXPECT_THAT(elapsed.wake(100ms), is_wait(200ms));
    EXPECT_THAT(elapsed.wake(300ms), is_wait(400ms));
    EXPECT_THAT(elapsed.wake(700ms), is_completion(stop_reason::elapsed, error::circuit_open));

    gated_script total(doubling().total_timeout(1s));
    total.gate->refusals = {let_in, 2s};
    total.start();
    total.fail(100ms);
    EXPECT_THAT(total.wake(200ms), is_completion(stop_reason::deadline, unreachable()));

    gated_script cancelled(doubling());
    cancelled.gate->refusals = {5s};
    EXPECT_THAT(cancelled.start(), is_wait(5100ms));
    cancelled.machine.cancel();
    EXPECT_THAT(cancelled.wake(1s), is_completion(stop_reason::cancelled, detail::aborted_error()));
    EXPECT_THAT(cancelled.told(), elements("refuse 1"));
    for (auto* each : {&elapsed, &total, &cancelled})
        EXPECT_TRUE(each->gate->is_balanced());
}

TEST(retry_machine, its_time_counts_from_the_first_question) {
    gated_script script(endless_every_100ms().max_elapsed(150ms).wait_when_refused());
    script.gate->refusals = {no_idea};
    EXPECT_FALSE(script.machine.may_start(script.begin));
    EXPECT_THAT(script.machine.start(script.begin + 100ms),
                is_completion(stop_reason::elapsed, error::circuit_open));
}

// The refusals are forgotten with the failures.
TEST(retry_machine, a_new_outage_begins_with_the_shortest_wait_again) {
    gated_script script(doubling().unlimited_attempts().reset_after(1s));
    script.gate->refusals = {no_idea, no_idea};
    script.start();
    script.wake(100ms);
    EXPECT_THAT(script.wake(300ms), is_attempt());
    EXPECT_THAT(script.fail(400ms), is_wait(400ms));
    EXPECT_THAT(script.wake(800ms), is_attempt());
    EXPECT_THAT(script.fail(2s), is_wait(100ms));
}

// --- what is plugged in may do anything but throw

TEST(retry_machine, a_gate_may_cancel_the_operation) {
    struct cancelling_gate final : retry_gate {
        admission admit(std::uint64_t number, time_point now) noexcept override {
            if (number == at)
                machine->cancel();
            ++running;
            return now;
        }
        void on_end(attempt_end const& end) noexcept override {
            --running;
            last = end;
        }
        std::uint64_t at = 1;
        retry_machine* machine = nullptr;
        int running = 0;
        attempt_end last;
    };
    for (std::uint64_t const at : {1u, 2u}) {
        auto const gate = std::make_shared<cancelling_gate>();
        machine_script script(endless_every_100ms().gate(gate));
        gate->machine = &script.machine;
        gate->at = at;
        retry_action action = script.start();
        if (at == 2) {
            script.fail();
            action = script.wake(100ms);
        }
        EXPECT_THAT(action, is_completion(stop_reason::cancelled, detail::aborted_error()));
        EXPECT_EQ(gate->running, 0);
        EXPECT_EQ(gate->last.outcome, attempt_end::how::abandoned);
        EXPECT_EQ(gate->last.number, at);
        EXPECT_EQ(gate->last.after, failure_kind::none) << "what a retry cost is given back";
    }
}

// A ticker makes no attempts.
TEST(retry_machine, asks_for_ticks_as_for_retries_alone) {
    gated_script script;
    script.machine.expect_ticks();
    script.start();
    script.fail({}, verdict::rejected());
    script.wake();
    script.fail({}, verdict::rejected());
    script.destroy();
    EXPECT_THAT(script.told(), elements("acquire transient", "acquire transient", "give_back transient"));
}

} // namespace
} // namespace asio_retry::test
