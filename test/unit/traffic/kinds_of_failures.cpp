#include <asio_retry/retry_machine.hpp>

#include <asio_retry/traffic/adaptive_throttle.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"
#include "support/script.hpp"

#include <gtest/gtest.h>

#include <boost/system/system_error.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// What gates hear of a failure: each kind of failure, for each reason not to retry it, at each gate. Hooks,
// rules and observers are told the same.

namespace asio_retry::test {
namespace {

using boost::system::errc::make_error_code;
namespace errc = boost::system::errc;

struct unheard_of_category final : boost::system::error_category {
    char const* name() const noexcept override { return "foreign"; }
    std::string message(int) const override { return "something"; }
};

error_code unheard_of() {
    static unheard_of_category const category;
    return error_code(7, category);
}

template <typename Error>
verdict failed_with(Error const& error) {
    return verdict::failure(std::make_exception_ptr(error));
}

verdict judged_as_of(failure_kind kind) {
    return verdict::rejected({true, {kind, effect::possible}, {}});
}

/// None: the attempt is abandoned.
using heard = std::optional<failure_kind>;

struct failure_case {
    std::string name;
    verdict own;
    heard kind;           ///< where retry_if wants a retry, or is not asked
    heard refused;        ///< where retry_if refuses it
    bool expires = false; ///< attempt_timeout stops the attempt
    bool aborted = false; ///< retry_if refuses it by default
};

failure_case same(std::string name, verdict own, failure_kind kind, bool expires = false) {
    return {std::move(name), std::move(own), kind, kind, expires};
}

std::vector<failure_case> failure_cases() {
    using enum failure_kind;
    auto const reset = make_error_code(errc::connection_reset);
    auto const unheard = heard();
    return {
        same("transient", verdict::failure(reset), transient),
        same("transient exception", failed_with(boost::system::system_error(reset)), transient),
        same("timeout", verdict::failure(detail::timed_out_error()), timeout),
        same("throttled", judged_as_of(throttled), throttled),
        same("overloaded", judged_as_of(overloaded), overloaded),
        same("permanent", verdict::failure(make_error_code(errc::invalid_argument)), permanent),
        same("judged transient", judged_as_of(transient), transient),
        same("judged timeout", judged_as_of(timeout), timeout),
        same("judged permanent", judged_as_of(permanent), permanent),
        {"foreign code", verdict::failure(unheard_of()), transient, permanent},
        {"exception of a foreign code", failed_with(boost::system::system_error(unheard_of())), transient,
         permanent},
        {"exception without a code", failed_with(std::runtime_error("x")), transient, permanent},
        same("marked code", verdict::failure(error_code(asio_retry::permanent(reset))), permanent),
        same("marked exception", failed_with(asio_retry::permanent(std::runtime_error("x"))), permanent),
        same("attempt timeout", verdict::failure(detail::aborted_error()), timeout, true),
        same("attempt timeout that the attempt reports otherwise", verdict::failure(reset), timeout, true),
        same("attempt timeout and an unknown exception", failed_with(std::runtime_error("x")), timeout, true),
        same("attempt timeout that is marked",
             verdict::failure(error_code(asio_retry::permanent(detail::aborted_error()))), timeout, true),
        same("answer that is marked when the limit has come",
             failed_with(asio_retry::permanent(std::runtime_error("x"))), permanent, true),
        {"abort", verdict::failure(detail::aborted_error()), transient, unheard, false, true},
        {"abort of the standard library",
         failed_with(std::system_error(std::make_error_code(std::errc::operation_canceled))), transient,
         unheard, false, true},
        {"abort that is marked",
         failed_with(asio_retry::permanent(boost::system::system_error(detail::aborted_error()))), unheard,
         unheard, false, true},
    };
}

/// Why there is no retry. The failure comes a second after the start, and the wait would be 100 ms.
struct reason_case {
    std::string name;
    std::function<retry_policy(retry_policy const&)> policy;
    bool refuses = false;
    bool has_no_lease = false;
};

std::vector<reason_case> reason_cases() {
    return {
        {"it is retried", [](retry_policy const& p) { return p; }},
        {"any failure is retried", [](retry_policy const& p) { return p.retry_if(any_failure); }},
        {"attempts", [](retry_policy const& p) { return p.max_attempts(1); }},
        {"attempts, of any failure",
         [](retry_policy const& p) { return p.retry_if(any_failure).max_attempts(1); }},
        {"retry_sent", [](retry_policy const& p) { return p.retry_sent(false); }},
        {"retry_if", [](retry_policy const& p) { return p.retry_if([](error_code) { return false; }); }, true},
        {"retry_if of events",
         [](retry_policy const& p) { return p.retry_if([](retry_event const&) { return false; }); }, true},
        {"deadline", [](retry_policy const& p) { return p.total_timeout(1050ms); }},
        {"elapsed", [](retry_policy const& p) { return p.max_elapsed(1050ms); }},
        {"budget", [](retry_policy const& p) { return p; }, false, true},
        {"clamp", [](retry_policy const& p) { return p.max_elapsed(1s).clamp(); }},
        {"nested",
         [](retry_policy const& p) { return p.nested_in({1, time_point::max(), nullptr}).max_attempts(1); }},
    };
}

heard expected(failure_case const& failure, reason_case const& reason) {
    bool const wants_any = reason.name.find("any failure") != std::string::npos;
    bool const refuses = !wants_any && (reason.refuses || failure.aborted);
    return refuses ? failure.refused : failure.kind;
}

/// Lets one attempt of the policy fail.
retry_action play(failure_case const& failure, reason_case const& reason, std::shared_ptr<retry_gate> gate,
                  retry_policy policy = endless_every_100ms()) {
    machine_script script(
        reason.policy(policy.attempt_timeout(failure.expires ? 1s : 1h).gate(std::move(gate))));
    EXPECT_EQ(script.start().what, retry_action::kind::attempt);
    return failure.expires ? script.expire(0s, 1s, failure.own) : script.fail(1s, failure.own);
}

/// The end as it should be heard.
attempt_end end_of(heard kind, time_point began) {
    if (!kind)
        return {attempt_end::how::abandoned, failure_kind::none, failure_kind::none, 1, began, {}, {}};
    return {attempt_end::how::failed, *kind, failure_kind::none, 1, began + 1s, 1s, {}};
}

template <typename Test>
void for_each_case(Test test) {
    for (failure_case const& failure : failure_cases())
        for (reason_case const& reason : reason_cases()) {
            SCOPED_TRACE(failure.name + ", " + reason.name);
            test(failure, reason, expected(failure, reason));
        }
}

TEST(kinds_of_failures, decision_47_a_gate_hears_the_same_whatever_keeps_it_from_being_retried) {
    for_each_case([](failure_case const& failure, reason_case const& reason, heard const& kind) {
        auto const gate = std::make_shared<recording_gate>();
        gate->grants.assign(reason.has_no_lease, false);
        play(failure, reason, gate);
        ASSERT_EQ(gate->ends.size(), 1u);
        attempt_end const& end = gate->ends[0];
        EXPECT_EQ(end.outcome, kind ? attempt_end::how::failed : attempt_end::how::abandoned);
        EXPECT_EQ(word_for(end.kind), word_for(kind.value_or(failure_kind::none)));
    });
}

// A limit of the caller's own, inside the attempt.
TEST(kinds_of_failures, decision_76_a_refusal_by_a_gate_further_in_is_abandoned_and_retried) {
    std::vector<verdict> const refusals = {
        verdict::failure(error::circuit_open),
        verdict::failure(error::rate_limited),
        verdict::failure(error::too_many_in_flight),
        verdict::failure(error::attempt_refused),
        failed_with(boost::system::system_error(error::client_throttled)),
        verdict::failure(error_code(asio_retry::permanent(make_error_code(error::cooling_down))))};
    for (verdict const& refusal : refusals) {
        SCOPED_TRACE(refusal.error().message());
        auto const gate = std::make_shared<recording_gate>();
        auto const observer = std::make_shared<recording_observer>();
        machine_script script(endless_every_100ms().gate(gate).observe(observer));
        script.start();
        retry_action const next = script.fail(1s, refusal);
        EXPECT_EQ(next.what == retry_action::kind::wait, !refusal.is_permanent());
        EXPECT_EQ(gate->ends.at(0).outcome, attempt_end::how::abandoned);
        EXPECT_EQ(gate->ends[0].kind, failure_kind::none);
        EXPECT_EQ(gate->ends[0].now, script.begin);
        failure_kind const told = refusal.is_permanent() ? failure_kind::permanent : failure_kind::transient;
        EXPECT_EQ((refusal.is_permanent() ? script.give_ups : script.retries).at(0).kind, told);
        EXPECT_EQ(observer->events.at(2).failure, told);
        EXPECT_EQ(observer->events[2].error, refusal.error()) << "it is a failure of the operation";

        auto const around = std::make_shared<recording_gate>();
        hedge_script hedge(hedge_policy(20ms).max_attempts(2).gate(around));
        hedge.start();
        EXPECT_EQ(hedge.fail(1, 5, refusal).substr(0, 7), refusal.is_permanent() ? "deliver" : "begin 2");
        EXPECT_EQ(around->ends.at(0).outcome, attempt_end::how::abandoned);
        EXPECT_EQ(around->ends[0].kind, failure_kind::none);
    }
}

TEST(kinds_of_failures, decision_76_a_refusal_that_a_limit_or_a_judgement_has_made_of_it_is_none) {
    auto const gate = std::make_shared<recording_gate>();
    machine_script script(endless_every_100ms().attempt_timeout(1s).gate(gate));
    script.start();
    script.expire(0s, 1s, error::circuit_open);
    script.wake(1100ms);
    script.fail(1200ms, judged_as_of(failure_kind::overloaded));
    ASSERT_EQ(gate->ends.size(), 2u);
    EXPECT_EQ(gate->ends[0].kind, failure_kind::timeout);
    EXPECT_EQ(gate->ends[1].kind, failure_kind::overloaded);
}

TEST(kinds_of_failures, decision_76_retry_if_of_kinds_retries_it) {
    machine_script script(endless_every_100ms().retry_if(failure_kind::transient));
    script.start();
    EXPECT_THAT(script.fail(1s, error::circuit_open), is_wait(100ms));
}

// --- what everybody else is told

/// Plays with a machine of a policy what one attempt comes to, and compares what is told of it.
template <typename Play>
void expect_one_kind(retry_policy const& policy, Play const& play_attempt) {
    auto const gate = std::make_shared<recording_gate>();
    auto const observer = std::make_shared<recording_observer>();
    std::vector<failure_kind> with_gate, alone;
    auto const told_to = [&](std::vector<failure_kind>& kinds) {
        auto const hook = [&kinds](retry_event const& event) { kinds.push_back(event.kind); };
        return policy.on_retry(hook).on_give_up(hook);
    };
    play_attempt(told_to(with_gate).gate(gate).observe(observer));
    play_attempt(told_to(alone));
    ASSERT_EQ(gate->ends.size(), 1u);
    bool const is_abandoned = gate->ends[0].outcome == attempt_end::how::abandoned;
    std::string const kind(word_for(is_abandoned ? failure_kind::permanent : gate->ends[0].kind));
    for (std::vector<failure_kind> const& kinds : {with_gate, alone}) {
        ASSERT_EQ(kinds.size(), 1u);
        EXPECT_EQ(word_for(kinds[0]), kind) << "a hook";
    }
    for (observation const& each : observer->events) {
        bool const has_kind =
            each.what == observation::kind::attempt_ended || each.what == observation::kind::retry_decided;
        EXPECT_TRUE(!has_kind || word_for(each.failure) == kind) << "an observer";
    }
}

TEST(kinds_of_failures, decision_47_hooks_and_observers_are_told_what_a_gate_hears) {
    for_each_case([](failure_case const& failure, reason_case const& reason, heard const&) {
        expect_one_kind(endless_every_100ms(), [&](retry_policy const& policy) {
            auto const gate = policy.settings().gate;
            if (auto const recording = std::dynamic_pointer_cast<recording_gate>(gate))
                recording->grants.assign(reason.has_no_lease, false);
            play(failure, reason, gate, policy);
        });
    });
}

// Whoever ends it, while the attempt runs or as it is judged.
TEST(kinds_of_failures, decision_47_hooks_are_told_it_where_nobody_asks_whether_to_retry) {
    for (failure_case const& failure : failure_cases()) {
        SCOPED_TRACE(failure.name);
        auto const stop = [&](void (*tell)(machine_script&)) {
            return [&failure, tell](retry_policy const& policy) {
                machine_script script(policy);
                script.start();
                tell(script);
                script.fail(1s, failure.own);
            };
        };
        auto const cancel = [](machine_script& script) { script.machine.cancel(); };
        auto const drain = [](machine_script& script) { script.machine.drain(); };
        auto const expire = [](machine_script& script) {
            script.machine.on_attempt_limit(script.machine.attempt_limit(script.begin));
        };
        auto const limit_and_cancel = [](machine_script& script) {
            script.machine.on_attempt_limit(script.machine.attempt_limit(script.begin));
            script.machine.cancel();
        };
        auto const every = endless_every_100ms().retry_if(any_failure);
        expect_one_kind(every.attempt_timeout(1h), stop(cancel));
        expect_one_kind(every, stop(drain));
        expect_one_kind(every.total_timeout(1s), stop(expire));
        expect_one_kind(every.attempt_timeout(1s), stop(limit_and_cancel));
        expect_one_kind(endless_every_100ms().retry_if([](error_code) -> bool { throw 1; }),
                        [&](retry_policy const& policy) {
                            play(failure, reason_cases()[0], policy.settings().gate, policy);
                        });
        expect_one_kind(endless_every_100ms().classify([](error_code const&) -> failure_class { throw 1; }),
                        [&](retry_policy const& policy) {
                            play(failure, reason_cases()[2], policy.settings().gate, policy);
                        });
    }
}

// An answer on which nobody can decide, or none; whatever the attempt before came to.
TEST(kinds_of_failures, decision_47_hooks_are_told_it_where_there_is_no_failure_to_ask_about) {
    for (error_code const& code : {error_code(error::predicate_threw), detail::no_memory_error()}) {
        auto const policy = endless_every_100ms().classify(
            [](error_code const&) { return failure_class{failure_kind::overloaded, effect::none}; });
        expect_one_kind(policy, [&](retry_policy const& told) {
            machine_script script(told);
            script.start();
            script.machine.on_exception(code, nullptr, script.begin + 1s);
        });
        machine_script script(policy.attempt_timeout(1s));
        script.start();
        EXPECT_THAT(script.expire(0s, 1s), is_wait(100ms));
        EXPECT_THAT(script.wake(2s), is_attempt());
        script.machine.on_exception(code, nullptr, script.begin + 3s);
        EXPECT_EQ(script.give_ups.at(0).kind, failure_kind::permanent);
        EXPECT_EQ(script.give_ups.at(0).stopped, interruption::none) << "that was the attempt before";
        EXPECT_EQ(script.give_ups.at(0).limit, time_limit::none);
    }
}

// What ends an operation in a wait is no failure of an attempt.
TEST(kinds_of_failures, decision_47_a_wait_that_is_cancelled_does_not_repeat_the_kind_of_the_last_failure) {
    machine_script script(endless_every_100ms().retry_if(any_failure));
    script.start();
    EXPECT_THAT(script.fail(1s, detail::aborted_error()), is_wait(100ms));
    script.machine.cancel();
    script.wake(1050ms);
    EXPECT_EQ(script.retries.at(0).kind, failure_kind::transient);
    EXPECT_EQ(script.give_ups.at(0).kind, failure_kind::permanent);
}

// After a decision to retry rules ask for the same kind.
TEST(kinds_of_failures, decision_50_rules_are_of_the_kind_that_a_gate_hears) {
    int waits = 0;
    for_each_case([&](failure_case const& failure, reason_case const& reason, heard const& kind) {
        if (kind.value_or(failure_kind::permanent) == failure_kind::permanent)
            return; // for which there is no rule
        auto const is_of_kind = [&](retry_event const& event) { return event.kind == kind; };
        for (retry_policy const& policy : {endless_every_100ms().when(*kind, constant(7s)),
                                           endless_every_100ms().when(is_of_kind, constant(7s))}) {
            retry_action const action = play(failure, reason, nullptr, policy);
            waits += action.what == retry_action::kind::wait;
            EXPECT_EQ(action.delay, action.what == retry_action::kind::wait ? duration(7s) : duration());
        }
    });
    EXPECT_GT(waits, 50);
}

// Until `retry_if` has answered, the kind is what the policy says of the code.
TEST(kinds_of_failures, decision_50_retry_if_is_told_what_classify_says) {
    std::vector<failure_kind> asked;
    auto const asks = endless_every_100ms().retry_if([&](retry_event const& event) {
        asked.push_back(event.kind);
        return false;
    });
    auto const aborts_are_lost = [](error_code const& code) {
        return code == detail::aborted_error() ? failure_class{failure_kind::transient, effect::possible}
                                               : classify(code);
    };
    auto const fail = [](retry_policy const& policy, error_code const& code) {
        machine_script script(policy);
        script.start();
        return script.fail(1s, code).what;
    };
    fail(asks, detail::aborted_error());
    fail(asks, unheard_of());
    fail(asks.classify(aborts_are_lost), detail::aborted_error());
    using enum failure_kind;
    EXPECT_EQ(asked, (std::vector{permanent, transient, transient}));
    auto const lost = endless_every_100ms().retry_if(failure_kind::transient);
    EXPECT_EQ(fail(lost, detail::aborted_error()), retry_action::kind::complete);
    EXPECT_EQ(fail(lost.classify(aborts_are_lost), detail::aborted_error()), retry_action::kind::wait);
}

// --- gates

// A gate of the library's own that is told by a machine, and its twin that is told what is right.
template <typename Gate, typename State>
void expect_twins(Gate const& make, State state) {
    for_each_case([&](failure_case const& failure, reason_case const& reason, heard const& kind) {
        auto const told = make(), twin = make();
        play(failure, reason, told);
        time_point const began(1h);
        EXPECT_LE(twin->admit(1, began).until, began);
        attempt_end const end = end_of(kind, began);
        twin->on_end(end);
        EXPECT_EQ(state(*told, began + 1s), state(*twin, began + 1s));
    });
}

TEST(kinds_of_failures, decision_47_at_a_circuit_breaker) {
    expect_twins(
        [] {
            return std::make_shared<circuit_breaker>(
                circuit_breaker_options{.min_attempts = 1000, .consecutive = 1});
        },
        [](circuit_breaker const& gate, time_point now) { return gate.state(now); });
}

// A probe that failed never closes it, and one that says nothing leaves its place to another.
TEST(kinds_of_failures, decision_47_at_the_probe_of_a_circuit_breaker) {
    auto const half_open = [] {
        auto const gate = std::make_shared<circuit_breaker>(
            circuit_breaker_options{.consecutive = 1, .open_for = 5s, .probes = 1});
        gate->on_end({attempt_end::how::failed,
                      failure_kind::transient,
                      failure_kind::none,
                      1,
                      time_point(1h) - 10s,
                      1s,
                      {}});
        EXPECT_EQ(gate->state(time_point(1h)), breaker_state::half_open);
        return gate;
    };
    expect_twins(half_open, [](circuit_breaker& gate, time_point now) {
        return std::pair(gate.state(now), gate.admit(1, now).until <= now);
    });
    for_each_case([&](failure_case const& failure, reason_case const& reason, heard const& kind) {
        auto const gate = half_open();
        play(failure, reason, gate);
        bool const is_answer = kind == failure_kind::permanent || kind == failure_kind::throttled;
        auto const failed = kind ? breaker_state::open : breaker_state::half_open;
        EXPECT_EQ(gate->state(time_point(1h) + 1s), is_answer ? breaker_state::closed : failed);
    });
}

TEST(kinds_of_failures, decision_47_at_an_adaptive_throttle) {
    expect_twins([] { return std::make_shared<adaptive_throttle>(); },
                 [](adaptive_throttle const& gate, time_point now) { return gate.rejection(now); });
}

TEST(kinds_of_failures, decision_47_at_a_concurrency_limit) {
    expect_twins([] { return std::make_shared<concurrency_limit<aimd>>(aimd({.initial = 20})); },
                 [](concurrency_limit<aimd> const& gate, time_point) {
                     return std::pair(gate.limit(), gate.in_flight());
                 });
}

TEST(kinds_of_failures, decision_47_at_a_budget) {
    expect_twins([] { return std::make_shared<token_budget>(grpc_tokens(10, 0.1)); },
                 [](token_budget const& gate, time_point) { return gate.balance(); });
}

// --- what the policy says of a code

TEST(kinds_of_failures, decision_47_what_the_policy_says_of_a_code_counts) {
    for (bool const refuses : {false, true}) {
        auto const gate = std::make_shared<recording_gate>();
        auto const classifies =
            endless_every_100ms()
                .classify([](error_code const& code) {
                    return code == unheard_of() ? failure_class{failure_kind::overloaded, {}} : classify(code);
                })
                .retry_if([=](error_code) { return !refuses; });
        play({"", verdict::failure(unheard_of()), {}, {}}, reason_cases()[0], gate, classifies);
        play({"", failed_with(std::runtime_error("x")), {}, {}}, reason_cases()[0], gate, classifies);
        EXPECT_EQ(gate->ends.at(0).kind, failure_kind::overloaded);
        EXPECT_EQ(gate->ends.at(1).kind, refuses ? failure_kind::permanent : failure_kind::transient);
    }
}

// An abort that a policy retries is no answer, whatever classify says of it.
TEST(kinds_of_failures, decision_55_an_abort_that_is_retried_is_transient) {
    auto const gate = std::make_shared<recording_gate>();
    EXPECT_EQ(play({"", verdict::failure(detail::aborted_error()), {}, {}}, reason_cases()[1], gate).what,
              retry_action::kind::wait);
    EXPECT_EQ(gate->told, (std::vector<std::string>{"admit 1", "failed 1 transient", "acquire transient",
                                                    "give_back transient"}));
}

TEST(kinds_of_failures, decision_55_an_abort_that_no_limit_caused_leaves_a_probe_its_place) {
    circuit_breaker breaker({.consecutive = 1, .open_for = 5s, .probes = 1});
    auto const gate = std::shared_ptr<circuit_breaker>(std::shared_ptr<void>(), &breaker);
    play({"", verdict::failure(make_error_code(errc::connection_reset)), {}, {}}, reason_cases()[2], gate);
    EXPECT_EQ(breaker.state(time_point(1h) + 2s), breaker_state::open);
    machine_script probe(endless_every_100ms().gate(gate), time_point(1h) + 10s);
    EXPECT_THAT(probe.start(), is_attempt());
    EXPECT_GT(breaker.admit(1, probe.begin).until, probe.begin) << "its place is taken";
    probe.fail(1s, detail::aborted_error());
    EXPECT_EQ(breaker.state(probe.begin + 1s), breaker_state::half_open);
    EXPECT_LE(breaker.admit(1, probe.begin + 1s).until, probe.begin + 1s) << "its place is free";
}

// --- callables that throw

TEST(kinds_of_failures, decision_47_what_throws_in_a_judgement_says_nothing_of_the_server) {
    auto const throws =
        endless_every_100ms().retry_if([](error_code) -> bool { throw std::runtime_error("x"); });
    auto const classifier = endless_every_100ms().classify(
        [](error_code const&) -> failure_class { throw std::runtime_error("x"); });
    for (retry_policy const& policy : {throws, classifier})
        for (failure_case const& failure : failure_cases()) {
            SCOPED_TRACE(failure.name);
            auto const gate = std::make_shared<recording_gate>();
            play(failure, reason_cases()[0], gate, policy);
            heard const kind = failure.aborted ? heard() : failure.kind;
            ASSERT_EQ(gate->ends.size(), 1u);
            EXPECT_EQ(word_for(gate->ends[0].kind), word_for(kind.value_or(failure_kind::none)));
        }
}

// --- hedges

TEST(kinds_of_failures, decision_47_a_hedge_tells_them_too) {
    for (failure_case const& failure : failure_cases())
        for (bool const refuses : {false, true})
            for (int const attempts : {1, 3}) {
                SCOPED_TRACE(failure.name);
                auto const gate = std::make_shared<recording_gate>();
                auto policy = hedge_policy(1h).max_attempts(attempts).gate(gate);
                if (refuses)
                    policy = policy.retry_if([](error_code) { return false; });
                if (failure.expires)
                    policy = policy.total_timeout(5ms);
                hedge_script script(policy);
                script.start();
                if (failure.expires)
                    script.go_on(5);
                script.fail(1, 6, failure.own);
                heard const kind = refuses || failure.aborted ? failure.refused : failure.kind;
                ASSERT_FALSE(gate->ends.empty());
                EXPECT_EQ(gate->ends[0].outcome, kind ? attempt_end::how::failed : attempt_end::how::abandoned);
                EXPECT_EQ(word_for(gate->ends[0].kind), word_for(kind.value_or(failure_kind::none)));
            }
}

// Out of memory for its result says nothing of the server.
TEST(kinds_of_failures, decision_47_a_hedged_attempt_without_a_result_is_abandoned) {
    auto const gate = std::make_shared<recording_gate>();
    hedge_script script(hedge_policy(10ms).gate(gate));
    script.start();
    script.machine.on_exception(1, detail::no_memory_error(), nullptr, noon + 1ms);
    EXPECT_EQ(gate->told.back(), "abandoned 1");
}

} // namespace
} // namespace asio_retry::test
