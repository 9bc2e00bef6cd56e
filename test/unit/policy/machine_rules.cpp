// Different failures, different delays: `when` and `max_attempts_when`.
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_machine.hpp>

#include "policy/rare_state.hpp"

#include "support/elements.hpp"
#include "support/policies.hpp"
#include "support/refuses.hpp"
#include "support/script.hpp"

#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::ElementsAre;

error_code code_a() {
    return boost::system::errc::make_error_code(boost::system::errc::connection_refused);
}
error_code code_b() {
    return boost::system::errc::make_error_code(boost::system::errc::resource_unavailable_try_again);
}
auto is(error_code expected) {
    return [expected](error_code const& code) { return code == expected; };
}

/// Doubles: 1 ms, 2 ms, 4 ms ...
backoff doubling(duration base) {
    return exponential(base, 2);
}
retry_policy doubling_policy() {
    return retry_policy().backoff(doubling(1ms)).jitter(no_jitter()).unlimited_attempts();
}

/// The delays after these failures.
std::vector<duration> delays_after(retry_policy const& policy, std::vector<error_code> const& failures) {
    machine_script script(policy);
    std::vector<duration> delays;
    EXPECT_THAT(script.start(), is_attempt());
    for (error_code const& failure : failures) {
        retry_action const action = script.fail({}, failure);
        if (action.what != retry_action::kind::wait)
            break;
        delays.push_back(action.delay);
        EXPECT_THAT(script.wake(), is_attempt());
    }
    return delays;
}

// --- when

TEST(machine_rules, each_failure_has_the_delay_of_its_rule_and_is_counted_apart) {
    auto const policy = doubling_policy().when(is(code_a()), doubling(1s)).when(is(code_b()), constant(1min));
    EXPECT_THAT(delays_after(policy, {code_a(), unreachable(), code_a(), code_b(), unreachable(), code_a(),
                                      code_b(), unreachable()}),
                elements(1s, 1ms, 2s, 1min, 2ms, 4s, 1min, 4ms));
}

// By default the delays of a rule have the jitter of its own backoff.
TEST(machine_rules, decision_89_the_delays_of_a_rule_are_exact_where_its_backoff_says_so) {
    auto const spread = retry_policy().backoff(exponential(1h)).when(is(code_a()), schedule({2s, 3s}));
    auto const drawn = delays_after(spread.unlimited_attempts(), {code_a(), unreachable(), code_a()});
    ASSERT_EQ(drawn.size(), 3u);
    EXPECT_EQ(drawn[0], 2s);
    EXPECT_NE(drawn[1], 1h);
    EXPECT_EQ(drawn[2], 3s);
    auto const exact = retry_policy().backoff(constant(1h)).when(is(code_a()), exponential(1h));
    auto const others = delays_after(exact.unlimited_attempts(), {unreachable(), code_a()});
    ASSERT_EQ(others.size(), 2u);
    EXPECT_EQ(others[0], 1h);
    EXPECT_NE(others[1], 1h);
    EXPECT_NE(delays_after(spread.jitter(full_jitter()), {code_a()})[0], 2s);
}

TEST(machine_rules, of_several_that_match_the_first_counts) {
    std::vector<std::string> asked;
    auto const noting = [&](char const* name, bool answer) {
        return [&asked, name, answer](error_code const&) {
            asked.push_back(name);
            return answer;
        };
    };
    auto const policy = doubling_policy()
                            .when(noting("first", false), constant(1s))
                            .when(noting("second", true), constant(2s))
                            .when(noting("third", true), constant(3s));
    EXPECT_THAT(delays_after(policy, {code_a()}), elements(2s));
    EXPECT_THAT(asked, elements("first", "second"));
}

TEST(machine_rules, a_second_one_with_the_same_predicate_changes_nothing) {
    auto const policy = doubling_policy().when(is(code_a()), constant(1s)).when(is(code_a()), constant(2s));
    EXPECT_THAT(delays_after(policy, {code_a(), code_a()}), elements(1s, 1s));
}

TEST(machine_rules, predicates_are_of_every_kind_that_retry_if_takes) {
    auto const delay_after = [](retry_policy const& policy, verdict const& failure) {
        machine_script script(policy);
        script.start();
        return script.fail({}, failure).delay;
    };
    auto const thrown = verdict::failure(std::make_exception_ptr(std::runtime_error("a")));
    auto const policy = doubling_policy();
    EXPECT_EQ(delay_after(policy.when([](error_code ec) { return ec == error::operation_threw; }, constant(1s)),
                          thrown),
              1s);
    auto const by_exception = policy.when(
        [](std::exception_ptr const& e) { return code_of(e) == error::operation_threw; }, constant(1s));
    EXPECT_EQ(delay_after(by_exception, thrown), 1s);
    EXPECT_EQ(delay_after(by_exception, verdict::failure(code_a())), 1ms);
    auto const by_event = policy.when([](retry_event const& e) { return e.attempt == 1; }, constant(1s));
    EXPECT_EQ(delay_after(by_event, thrown), 1s);
    auto const typed = policy.when<std::runtime_error>(
        [](std::runtime_error const& e) { return std::string(e.what()) == "a"; }, constant(1s));
    EXPECT_EQ(delay_after(typed, thrown), 1s);
    EXPECT_EQ(delay_after(typed, verdict::failure(std::make_exception_ptr(std::runtime_error("b")))), 1ms);
    EXPECT_EQ(delay_after(typed, verdict::failure(std::make_exception_ptr(std::logic_error("a")))), 1ms);
    EXPECT_EQ(delay_after(typed, verdict::failure(code_a())), 1ms);
    EXPECT_EQ(delay_after(policy.when(any_failure, constant(1s)), verdict::failure(code_a())), 1s);
    EXPECT_EQ(delay_after(policy.when(is(code_a()), constant(1s)),
                          verdict::failure(std::make_exception_ptr(boost::system::system_error(code_a())))),
              1s);
}

TEST(machine_rules, events_have_times) {
    std::vector<duration> elapsed;
    machine_script script(doubling_policy().when(
        [&](retry_event const& e) {
            elapsed.push_back(e.elapsed);
            return false;
        },
        constant(1s)));
    script.start();
    script.fail(5ms);
    script.wake(6ms);
    script.fail(9ms);
    EXPECT_THAT(elapsed, elements(5ms, 9ms));
    retry_policy const nothing_else =
        doubling_policy().when([](retry_event const&) { return true; }, constant(1s));
    EXPECT_TRUE(retry_machine(nothing_else).measures_time());
    EXPECT_FALSE(retry_machine(doubling_policy().when(any_failure, constant(1s))).measures_time());
}

TEST(machine_rules, rejected_values_are_failures_too) {
    auto const policy = doubling_policy().when(is(error::result_rejected), constant(1s));
    machine_script script(policy);
    script.start();
    EXPECT_THAT(script.fail({}, verdict::rejected()), is_wait(1s));
}

TEST(machine_rules, what_took_too_long_is_timed_out) {
    auto const policy =
        doubling_policy().attempt_timeout(1s).when(is(detail::timed_out_error()), constant(1min));
    machine_script script(policy);
    script.start();
    EXPECT_THAT(script.expire({}, 1s), is_wait(1min));
}

TEST(machine_rules, are_not_asked_about_what_is_not_retried) {
    int asked = 0;
    auto const counting = [&](error_code const&) { return ++asked != 0; };
    auto const policy =
        doubling_policy().retry_if(is(code_a())).when(counting, constant(1s)).max_attempts_when(counting, 1);
    {
        machine_script script(policy);
        script.start();
        EXPECT_THAT(script.fail({}, code_b()), is_completion(stop_reason::not_retryable, no_replacement));
    }
    {
        machine_script script(policy);
        script.start();
        EXPECT_THAT(script.fail_with(permanent(code_a())), is_completion(stop_reason::not_retryable, code_a()));
    }
    {
        machine_script script(policy.max_attempts(1));
        script.start();
        EXPECT_THAT(script.fail({}, code_a()), is_completion(stop_reason::attempts, no_replacement));
    }
    EXPECT_EQ(asked, 0);
}

TEST(machine_rules, common_limits_hold_for_all_failures_together) {
    auto const policy = doubling_policy().when(is(code_a()), constant(1s)).when(is(code_b()), constant(2s));
    EXPECT_THAT(delays_after(policy.max_attempts(4), {code_a(), code_b(), unreachable(), code_a(), code_b()}),
                elements(1s, 2s, 1ms));
    EXPECT_THAT(delays_after(policy.max_waited(3500ms), {code_a(), code_b(), code_a()}), elements(1s, 2s));
    machine_script script(policy.total_timeout(10s));
    script.start();
    EXPECT_THAT(script.fail(9500ms, code_a()), is_completion(stop_reason::deadline, no_replacement));
}

TEST(machine_rules, a_reset_resets_every_count) {
    auto const policy =
        doubling_policy().reset_after(1min).when(is(code_a()), doubling(1s)).max_attempts_when(is(code_a()), 3);
    machine_script script(policy);
    script.start();
    EXPECT_THAT(script.fail({}, code_a()), is_wait(1s));
    script.wake();
    EXPECT_THAT(script.fail({}, code_a()), is_wait(2s));
    script.wake(2s);
    EXPECT_THAT(script.fail(2min, code_a()), is_wait(1s)) << "healthy for long enough";
    script.wake(2min);
    EXPECT_THAT(script.fail(2min, unreachable()), is_wait(1ms));
    script.wake(2min);
    EXPECT_THAT(script.fail(2min, code_a()), is_wait(2s));
    script.wake(2min);
    EXPECT_THAT(script.fail(2min, code_a()), is_completion(stop_reason::attempts, no_replacement));
}

TEST(machine_rules, a_jitter_remembers_the_last_delay_of_each_apart) {
    std::vector<backoff_step> steps;
    auto const policy = doubling_policy()
                            .jitter([&](backoff_step step, random&) {
                                steps.push_back(step);
                                return step.ceiling / 2;
                            })
                            .when(is(code_a()), doubling(1s).cap(1min));
    delays_after(policy, {code_a(), unreachable(), code_a(), unreachable()});
    ASSERT_EQ(steps.size(), 4u);
    EXPECT_EQ(steps[0].base, 1s);
    EXPECT_EQ(steps[0].cap, 1min);
    EXPECT_EQ(steps[1].base, 1ms);
    EXPECT_EQ(steps[1].previous, 1ms);
    EXPECT_EQ(steps[2].failures, 2u);
    EXPECT_EQ(steps[2].base, 1s);
    EXPECT_EQ(steps[2].previous, 500ms);
    EXPECT_EQ(steps[3].failures, 2u);
    EXPECT_EQ(steps[3].previous, 500us);
    EXPECT_EQ(steps[3].cap, duration::max());
}

TEST(machine_rules, a_peers_pause_and_the_gate_hold_for_every_rule) {
    auto const policy = doubling_policy().pushback_spread(0).when(is(error::result_rejected), constant(1s));
    machine_script script(policy);
    script.start();
    judgement told;
    told.failed = true;
    told.said = pushback::after(5s);
    EXPECT_THAT(script.fail({}, verdict::rejected(told)), is_wait(5s));
    script.wake(5s);
    told.said = pushback::after(500ms);
    EXPECT_THAT(script.fail({}, verdict::rejected(told)), is_wait(1s));

    auto const tokens = std::make_shared<counting_tokens>(1);
    machine_script gated(policy.gate(tokens));
    gated.start();
    EXPECT_THAT(gated.fail({}, verdict::rejected()), is_wait(1s));
    gated.wake();
    EXPECT_THAT(gated.fail({}, verdict::rejected()), is_completion(stop_reason::budget, no_replacement));
}

TEST(machine_rules, a_tick_is_no_failure) {
    int asked = 0;
    machine_script script(
        doubling_policy().when([&](error_code const&) { return ++asked != 0; }, constant(1s)));
    script.machine.expect_ticks();
    script.start();
    EXPECT_THAT(script.fail({}, verdict::rejected()), is_wait(1ms));
    EXPECT_EQ(asked, 0);
}

// --- max_attempts_when

TEST(machine_rules, limits_count_their_failures_alone) {
    auto const policy = doubling_policy().max_attempts_when(is(code_a()), 2);
    EXPECT_THAT(delays_after(policy, {code_b(), code_b(), code_a(), code_b(), code_a(), code_b()}),
                elements(1ms, 2ms, 4ms, 8ms))
        << "the fifth is the second of its kind; the delays count all";
    machine_script script(doubling_policy().max_attempts_when(is(code_a()), 1));
    script.start();
    EXPECT_THAT(script.fail({}, code_a()), is_completion(stop_reason::attempts, no_replacement));
    EXPECT_THAT(script.give_ups, ElementsAre(is_give_up(stop_reason::attempts, 1, code_a())));
}

TEST(machine_rules, every_limit_that_matches_holds) {
    auto const policy = doubling_policy().max_attempts_when(any_failure, 9).max_attempts_when(is(code_a()), 2);
    EXPECT_EQ(delays_after(policy, {code_a(), code_a(), code_a()}).size(), 1u);
    auto const reversed =
        doubling_policy().max_attempts_when(is(code_a()), 2).max_attempts_when(any_failure, 3);
    EXPECT_EQ(delays_after(reversed, {code_b(), code_a(), code_b(), code_b()}).size(), 2u);
}

TEST(machine_rules, limits_and_delays_are_independent) {
    auto const policy =
        doubling_policy().max_attempts_when(is(code_a()), 3).when(is(code_a()), doubling(1s)).max_attempts(9);
    EXPECT_THAT(delays_after(policy, {code_a(), code_b(), code_a(), code_a()}), elements(1s, 1ms, 2s));
}

// --- the rest

TEST(machine_rules, decision_21_what_they_throw_completes_the_operation) {
    auto const throws = [](error_code const&) -> bool { throw std::runtime_error("mine"); };
    for (auto const& policy :
         {doubling_policy().when(throws, constant(1s)), doubling_policy().max_attempts_when(throws, 1)}) {
        machine_script script(policy);
        script.start();
        EXPECT_THAT(script.fail({}, code_a()), is_thrown(error::predicate_threw));
    }
    machine_script script(doubling_policy().when(any_failure, [](std::uint64_t) -> duration { throw 1; }));
    script.start();
    EXPECT_THAT(script.fail({}, code_a()), is_thrown(error::backoff_threw));
}

TEST(machine_rules, may_cancel) {
    retry_machine* machine = nullptr;
    machine_script script(doubling_policy().when(
        [&](error_code const&) {
            machine->cancel();
            return true;
        },
        constant(1s)));
    machine = &script.machine;
    script.start();
    EXPECT_THAT(script.fail({}, code_a()), is_completion(stop_reason::cancelled, detail::aborted_error()));
}

TEST(machine_rules, decision_4_refuse_nonsense) {
    std::function<bool(error_code const&)> const empty;
    EXPECT_THAT(calling([&] { static_cast<void>(retry_policy().when(empty, constant(1s))); }), refuses("when"));
    EXPECT_THAT(calling([&] { static_cast<void>(retry_policy().max_attempts_when(empty, 1)); }),
                refuses("max_attempts_when"));
    for (std::int64_t const count : {0, -1})
        EXPECT_THAT(calling([&] { static_cast<void>(retry_policy().max_attempts_when(any_failure, count)); }),
                    refuses("max_attempts_when", std::to_string(count), "at least 1"));
}

TEST(machine_rules, decision_24_one_policy_serves_many_operations) {
    auto const policy = doubling_policy().when(is(code_a()), doubling(1s));
    machine_script first(policy), second(policy);
    first.start();
    second.start();
    first.fail({}, code_a());
    first.wake();
    EXPECT_THAT(second.fail({}, code_a()), is_wait(1s));
    EXPECT_THAT(first.fail({}, code_a()), is_wait(2s));
    EXPECT_TRUE(retry_policy().settings().rules.empty());
    EXPECT_EQ(policy.settings().rules.size(), 1u);
}

// With the refusals of a gate the policy's own backoff counts on; those of rules do not.
TEST(machine_rules, refusals_count_for_the_policys_own_backoff) {
    struct refusing final : retry_gate {
        admission admit(std::uint64_t number, time_point now) noexcept override {
            return number == 2 && ++asked == 1 ? admission(now + 1s) : admission(now);
        }
        int asked = 0;
    };
    auto const policy = doubling_policy()
                            .gate(std::make_shared<refusing>())
                            .wait_when_refused()
                            .when(is(code_a()), constant(1min));
    machine_script script(policy);
    script.start();
    EXPECT_THAT(script.fail({}, code_a()), is_wait(1min));
    EXPECT_THAT(script.wake(), is_wait(1s + 1ms));
    EXPECT_THAT(script.wake(2s), is_attempt());
    EXPECT_THAT(script.fail(2s, code_b()), is_wait(2ms)) << "the refusal and this failure";
}

TEST(machine_rules, take_24_bytes_each_when_the_first_matches) {
    EXPECT_LE(sizeof(detail::rule_state), 24u);
}

} // namespace
} // namespace asio_retry::test
