#include <asio_retry/policy_text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/profiles.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include <limits>
#include <locale>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view default_policy =
    "exponential(base=100ms, factor=2, cap=20s) full_jitter() max_attempts(3)";
constexpr std::string_view default_without_jitter =
    "exponential(base=100ms, factor=2, cap=20s) max_attempts(3)";

/// The text of the policy that a text gives.
std::string again(std::string_view text) {
    return to_string(parse_policy(text));
}

std::string again_backoff(std::string_view text) {
    return to_string(parse_policy(text).settings().backoff);
}

std::string again_jitter(std::string_view text) {
    return to_string(parse_policy(text).settings().jitter);
}

/// What `parse_policy` says of a wrong text, which must say the same position as `position()`.
std::string fault_in(std::string_view text) {
    try {
        (void)parse_policy(text);
    } catch (policy_syntax_error const& fault) {
        std::string const message = fault.what();
        std::string const begin = "asio_retry: at byte " + std::to_string(fault.position()) + ": ";
        EXPECT_THAT(message, StartsWith(begin)) << text;
        return message.substr(std::string("asio_retry: at byte ").size());
    }
    ADD_FAILURE() << "accepted: " << text;
    return "";
}

struct closed_gate final : retry_gate {
    bool acquire(failure_kind, time_point) noexcept override { return false; }
    void give_back(failure_kind) noexcept override {}
};

static_assert(std::is_base_of_v<std::invalid_argument, policy_syntax_error>);
static_assert(std::is_nothrow_copy_constructible_v<policy_syntax_error>);

TEST(policy_text, the_default_policy_says_all_that_it_is) {
    EXPECT_EQ(to_string(retry_policy()), default_policy);
    EXPECT_EQ(again(""), default_policy);
    EXPECT_EQ(again(" \t\r\n"), default_policy);
}

TEST(policy_text, reads_the_example_and_writes_it_in_the_largest_units) {
    EXPECT_EQ(again("exponential(base=500ms, factor=1.5, cap=60s) proportional_jitter(0.5) max_attempts(10) "
                    "max_elapsed(15min)"),
              "exponential(base=500ms, factor=1.5, cap=1min) proportional_jitter(0.5) max_attempts(10) "
              "max_elapsed(15min)");
    EXPECT_EQ(again("truncated_binary(growing_failures=10, greatest=10s) full_jitter()"),
              "truncated_binary(growing_failures=10, greatest=10s) full_jitter() max_attempts(3)");
}

// Each is written as C++ would take it: the same shape, made here and read from its text.
TEST(policy_text, every_backoff_is_written_and_read) {
    std::vector<std::pair<backoff, std::string>> const backoffs = {
        {constant(5ms), "constant(value=5ms)"},
        {linear(1s, 250ms), "linear(initial=1s, step=250ms)"},
        {exponential(100ms, 1.5).cap(20s), "exponential(base=100ms, factor=1.5, cap=20s)"},
        {stepwise_exponential(500ms, 1.5, 60s), "stepwise_exponential(base=500ms, factor=1.5, greatest=1min)"},
        {polynomial(2s, 3).cap(1h), "polynomial(base=2s, exponent=3, cap=1h)"},
        {fibonacci(1s), "fibonacci(base=1s)"},
        {truncated_binary(10, 10s), "truncated_binary(growing_failures=10, greatest=10s)"},
        {slotted_binary(51'200ns, 10), "slotted_binary(slot=51200ns, greatest_exponent=10)"},
        {schedule({1s, 2s, 4s}), "schedule(1s, 2s, 4s)"},
        {schedule({1s, 2s, 4s}).cap(3s), "schedule(1s, 2s, 4s, cap=3s)"},
        {chained(linear(1s, 1s).cap(2s), 5, constant(1min)),
         "chained(first=linear(initial=1s, step=1s, cap=2s), failures=5, then=constant(value=1min))"},
        {first_at_once(fibonacci(1s)),
         "chained(first=constant(value=0s, cap=0s), failures=1, then=fibonacci(base=1s))"},
    };
    for (auto const& [shape, text] : backoffs) {
        EXPECT_EQ(to_string(shape), text);
        backoff const read = parse_policy(text).settings().backoff;
        EXPECT_EQ(to_string(read), text);
        for (std::uint64_t failures = 1; failures != 20; ++failures)
            EXPECT_EQ(read.ceiling(failures), shape.ceiling(failures)) << text << failures;
    }
    EXPECT_EQ(backoffs.size(), static_cast<std::size_t>(detail::backoff_kind::custom) + 2)
        << "all but the user's";
}

TEST(policy_text, every_jitter_is_written_and_read) {
    std::vector<std::pair<jitter, std::string>> const jitters = {
        {no_jitter(), "no_jitter()"},
        {full_jitter(), "full_jitter()"},
        {equal_jitter(), "equal_jitter()"},
        {decorrelated_jitter(), "decorrelated_jitter()"},
        {proportional_jitter(0.5), "proportional_jitter(0.5)"},
        {additive_jitter(1s), "additive_jitter(1s)"},
        {multiplicative_jitter(0.8, 1.2), "multiplicative_jitter(least=0.8, greatest=1.2)"},
        {windowed_jitter(500ms), "windowed_jitter(500ms)"},
        {symmetric_jitter(500ms), "symmetric_jitter(500ms)"},
        {uniform_jitter(500ms), "uniform_jitter(500ms)"},
        {log_normal_jitter(0.25), "log_normal_jitter(0.25)"},
        {decorrelated_jitter_v2(), "decorrelated_jitter_v2()"},
        {full_jitter().unit(1s).cap(10min), "full_jitter(unit=1s, cap=10min)"},
        {full_jitter().at_least(9s), "full_jitter(at_least=9s)"},
        {proportional_jitter(0.5).beyond_cap(), "proportional_jitter(0.5, beyond_cap=true)"},
        {additive_jitter(1s).unit(1ms).cap(32s).beyond_cap(),
         "additive_jitter(1s, unit=1ms, cap=32s, beyond_cap=true)"},
    };
    for (auto const& [kind, text] : jitters) {
        EXPECT_EQ(to_string(kind), text);
        jitter const read = parse_policy(text).settings().jitter;
        EXPECT_EQ(to_string(read), text);
        random source(1), twin(1);
        for (int i = 0; i != 20; ++i)
            EXPECT_EQ(read.draw({3, 8s, 2s, 9s, 3s}, source), kind.draw({3, 8s, 2s, 9s, 3s}, twin)) << text;
    }
    EXPECT_EQ(jitters.size(), static_cast<std::size_t>(detail::jitter_name::custom) + 4)
        << "all but the user's";
}

TEST(policy_text, rules_of_failures_are_written_and_cannot_be_read) {
    auto const refused = [](error_code const&) { return true; };
    retry_policy const policy = retry_policy().when(refused, constant(1s)).max_attempts_when(refused, 2);
    std::string const rules =
        "when(<callable>, backoff=constant(value=1s)) max_attempts_when(<callable>, count=2)";
    EXPECT_EQ(to_string(policy), std::string(default_without_jitter) + " " + rules);
    EXPECT_EQ(fault_in(rules), "0: when stands for a callable, and a callable cannot be read from text");
    EXPECT_EQ(fault_in("max_attempts_when(<callable>, count=2)"),
              "0: max_attempts_when stands for a callable, and a callable cannot be read from text");
}

// The jitter that counts is written; it is left out where the backoffs have different ones by default.
TEST(policy_text, decision_89_a_text_without_a_jitter_has_that_of_its_backoffs) {
    EXPECT_EQ(again("constant(1s)"), "constant(value=1s) no_jitter() max_attempts(3)");
    EXPECT_EQ(again("schedule(1s, 2s)"), "schedule(1s, 2s) no_jitter() max_attempts(3)");
    EXPECT_EQ(again("constant(1s) full_jitter()"), "constant(value=1s) full_jitter() max_attempts(3)");
    EXPECT_EQ(again("constant(1s) when(timeout, schedule(2s))"),
              "constant(value=1s) no_jitter() max_attempts(3) when(timeout, backoff=schedule(2s))");
    std::string const mixed =
        "constant(value=1s) max_attempts(3) when(timeout, backoff=linear(initial=1s, step=1s))";
    EXPECT_EQ(again(mixed), mixed);
    EXPECT_EQ(again("equal_jitter() " + mixed).find("equal_jitter() "),
              std::string("constant(value=1s) ").size());
    retry_settings const& read = parse_policy(mixed).settings();
    EXPECT_EQ(to_string(read.jitter_of(read.backoff)), "no_jitter()");
    EXPECT_EQ(to_string(read.jitter_of(*read.rules[0].backoff)), "full_jitter()");
}

TEST(policy_text, decision_50_rules_of_kinds_are_written_and_read) {
    retry_policy const policy = retry_policy()
                                    .retry_if(failure_kind::overloaded, failure_kind::timeout)
                                    .when(failure_kind::timeout, constant(1s))
                                    .max_attempts_when(failure_kind::overloaded, 2)
                                    .when(failure_kind::throttled, exponential(1s).cap(20s));
    std::string const rules = " retry_if(timeout, overloaded) when(timeout, backoff=constant(value=1s)) "
                              "max_attempts_when(overloaded, count=2) when(throttled, "
                              "backoff=exponential(base=1s, factor=2, cap=20s))";
    EXPECT_EQ(to_string(policy), std::string(default_without_jitter) + rules);
    EXPECT_EQ(to_string(parse_policy(to_string(policy))), to_string(policy));
    EXPECT_EQ(to_string(parse_policy("when( timeout , backoff = constant(1s) )")),
              std::string(default_without_jitter) + " when(timeout, backoff=constant(value=1s))");
    EXPECT_EQ(fault_in("retry_if(timout)"), "9: expected a value, found 'timout'; did you mean timeout?");
    EXPECT_EQ(fault_in("retry_if(5s)"),
              "9: expected a kind of failure such as timeout for each kind of retry_if, found '5s'");
    EXPECT_EQ(fault_in("retry_if()"), "0: retry_if = {}: must have at least one kind of failure");
    EXPECT_EQ(fault_in("when(timeout)"), "12: expected a backoff for backoff of when, found none");
    EXPECT_EQ(fault_in("retry_if(timeout) any_failure()"),
              "18: expected no second retry_if, found 'any_failure'");
    EXPECT_EQ(fault_in("retry_if(timeout) retry_if(timeout)"),
              "18: expected no second retry_if, found 'retry_if'");
    EXPECT_EQ(fault_in("constant(timeout)"),
              "9: expected a duration such as 500ms for value of constant, found 'timeout'");
}

TEST(policy_text, every_setting_is_written_and_read) {
    retry_policy const policy = retry_policy()
                                    .unlimited_attempts()
                                    .max_elapsed(15min)
                                    .attempt_timeout(5s)
                                    .total_timeout(1h)
                                    .deadline(time_point(90s))
                                    .reset_after(30s)
                                    .clamp()
                                    .allow_total_cancellation()
                                    .retry_when_nested();
    std::string const text =
        "exponential(base=100ms, factor=2, cap=20s) full_jitter() unlimited_attempts() max_elapsed(15min) "
        "attempt_timeout(5s) total_timeout(1h) deadline(90s) reset_after(30s) clamp() "
        "allow_total_cancellation() retry_when_nested()";
    EXPECT_EQ(to_string(policy), text);
    EXPECT_EQ(again(text), text);
}

// What peers and gates may do to an operation is written where it is not the default.
TEST(policy_text, what_is_heeded_is_written_and_read) {
    EXPECT_EQ(to_string(retry_policy().pushback_limit(1min).pushback_spread(0.1)), default_policy);
    EXPECT_EQ(to_string(retry_policy().retry_sent(false).retry_sent(true)), default_policy);
    for (auto const& [policy, items] :
         {std::pair(retry_policy().wait_when_refused(), "wait_when_refused()"),
          std::pair(retry_policy().priority(request_priority::high), "priority(high)"),
          std::pair(retry_policy().wait_when_refused().priority(request_priority::low),
                    "wait_when_refused() priority(low)"),
          std::pair(retry_policy().max_waited(90s), "max_waited(90s)"),
          std::pair(retry_policy().idle_timeout(30s).setup_timeout(10s),
                    "setup_timeout(10s) idle_timeout(30s)"),
          std::pair(retry_policy().retry_sent(false), "retry_sent(false)"),
          std::pair(retry_policy().pushback_limit(30s), "pushback_limit(30s)"),
          std::pair(retry_policy().pushback_limit(1min, over_limit::clamp), "pushback_limit(1min, clamp=true)"),
          std::pair(retry_policy().pushback_limit(5s, over_limit::ignore).pushback_spread(0.25),
                    "pushback_limit(5s, ignore=true) pushback_spread(0.25)")}) {
        std::string const text = std::string(default_policy) + ' ' + items;
        EXPECT_EQ(to_string(policy), text);
        EXPECT_EQ(again(text), text);
        retry_settings const &a = policy.settings(), b = parse_policy(text).settings();
        EXPECT_EQ(a.pushback_limit, b.pushback_limit);
        EXPECT_EQ(a.over_pushback_limit, b.over_pushback_limit);
        EXPECT_EQ(a.pushback_spread, b.pushback_spread);
        EXPECT_EQ(a.wait_when_refused, b.wait_when_refused);
        EXPECT_EQ(a.priority, b.priority);
        EXPECT_EQ(a.max_waited, b.max_waited);
        EXPECT_EQ(a.setup_timeout, b.setup_timeout);
        EXPECT_EQ(a.idle_timeout, b.idle_timeout);
        EXPECT_EQ(a.retry_sent, b.retry_sent);
    }
    for (char const* wrong :
         {"pushback_limit(-1s)", "pushback_spread(2)", "pushback_limit(1s, clamp=true, ignore=true)",
          "classify(<callable>)", "observe(<observer>)", "max_waited(-1s)", "retry_sent()",
          "on_success(<callable>)"})
        EXPECT_THROW((void)parse_policy(wrong), policy_syntax_error) << wrong;
}

TEST(policy_text, an_earlier_name_is_read_until_0_5_and_written_anew) {
    std::string const now = std::string(default_policy) + " setup_timeout(10s)";
    EXPECT_EQ(to_string(parse_policy("set_up_within(10s)")), now);
    EXPECT_EQ(to_string(parse_policy("set_up_within(greatest=10s)")), now);
    EXPECT_EQ(fault_in("set_up_within(10s) setup_timeout(10s)"),
              "19: expected no second setup_timeout, found 'setup_timeout'");
    EXPECT_EQ(fault_in("set_up_within(0s)"), "0: setup_timeout = 0s: must be positive");
}

TEST(policy_text, a_priority_has_three_names) {
    EXPECT_EQ(to_string(parse_policy("priority(high) wait_when_refused()").priority(request_priority::normal)),
              to_string(parse_policy("wait_when_refused() priority(rank=normal)")));
    EXPECT_EQ(fault_in("priority(norml)"), "9: expected a value, found 'norml'; did you mean normal?");
    EXPECT_EQ(fault_in("priority(timeout)"),
              "9: expected high, normal or low for rank of priority, found 'timeout'");
    EXPECT_EQ(fault_in("priority()"), "9: expected high, normal or low for rank of priority, found none");
    EXPECT_EQ(fault_in("retry_if(high)"),
              "9: expected a kind of failure such as timeout for each kind of retry_if, found 'high'");
    EXPECT_THROW((void)retry_policy().priority(request_priority(3)), std::invalid_argument);
    EXPECT_EQ(fault_in("priority(high) priority(low)"), "15: expected no second priority, found 'priority'");
}

TEST(policy_text, decision_86_a_rate_limit_is_written_and_read) {
    for (char const* const items : {"rate_limit(n=100, per=1s, burst=20)", "rate_limit(n=1, per=1h)",
                                    "rate_limit(n=4294967295, per=5s, burst=4294967295)",
                                    "rate_limit(n=5, per=1500ms) wait_when_refused() priority(high)"}) {
        std::string const text = std::string(default_policy) + ' ' + items;
        EXPECT_EQ(again(text), text);
    }
    EXPECT_EQ(again("rate_limit(100, 1s, 20)"), again("rate_limit(burst=20, per=1000ms, n=100)"));
    EXPECT_EQ(again("rate_limit(100, 1s)"), again("rate_limit(100, 1s, burst=1)"));
    auto const gate = parse_policy("rate_limit(100, 1s, 20)").settings().gate;
    auto const* const limit = dynamic_cast<rate_limit const*>(gate.get());
    ASSERT_TRUE(limit);
    EXPECT_EQ(limit->numbers(), (rate_limit_numbers{100, 1s, 20}));
    EXPECT_NE(parse_policy("rate_limit(100, 1s, 20)").settings().gate, gate);
}

TEST(policy_text, decision_86_a_rate_limit_of_a_program_is_written) {
    auto const limit = std::make_shared<rate_limit>(100, 1s, 20);
    retry_policy const policy = retry_policy().gate(limit);
    EXPECT_EQ(to_string(policy), std::string(default_policy) + " rate_limit(n=100, per=1s, burst=20)");
    limit->update(7, 1min);
    EXPECT_EQ(to_string(policy), std::string(default_policy) + " rate_limit(n=7, per=1min)");
    EXPECT_EQ(again(to_string(policy)), to_string(policy));
    auto const several = all_gates({limit, std::make_shared<closed_gate>()});
    EXPECT_EQ(to_string(policy.gate(several)), std::string(default_policy) + " gate(<gate>)");
}

TEST(policy_text, decision_86_faults_of_a_rate_limit_are_named) {
    EXPECT_EQ(fault_in("rate_limit()"), "11: expected a whole number for n of rate_limit, found none");
    EXPECT_EQ(fault_in("rate_limit(100)"),
              "14: expected a duration such as 500ms for per of rate_limit, found none");
    EXPECT_EQ(fault_in("rate_limit(100, 1)"),
              "16: expected a duration such as 500ms for per of rate_limit, found '1'; did you mean 1s?");
    EXPECT_EQ(fault_in("rate_limit(1.5, 1s)"), "11: expected a whole number for n of rate_limit, found '1.5'");
    EXPECT_EQ(fault_in("rate_limit(1, 1s, bust=2)"),
              "18: expected a parameter of rate_limit (n, per, burst), found 'bust'; did you mean burst?");
    EXPECT_EQ(fault_in("rate_limit(1, 1s, 2, 3)"), "21: expected no further argument of rate_limit, found '3'");
    EXPECT_EQ(fault_in("clamp() rate_limit(1, 1s) rate_limit(2, 1s)"),
              "26: expected no second rate_limit, found 'rate_limit'");
    EXPECT_EQ(fault_in("rate_limit(-1, 1s)"), "0: rate_limit.n = -1: must be positive");
    EXPECT_EQ(fault_in("rate_limit(4294967296, 1s)"), "0: rate_limit.n = 4294967296: must be less than 2^32");
    EXPECT_EQ(fault_in("rate_limit(1, 1s, 4294967296)"),
              "0: rate_limit.burst = 4294967296: must be less than 2^32");
    EXPECT_EQ(fault_in("rate_limt(1, 1s)"), "0: unknown name 'rate_limt'; did you mean rate_limit?");
}

TEST(policy_text, a_fixed_limit_is_written_and_read) {
    for (char const* const items : {"concurrency_limit(fixed_limit(4))",
                                    "concurrency_limit(fixed_limit(4294967295)) wait_when_refused()"}) {
        std::string const text = std::string(default_policy) + ' ' + items;
        EXPECT_EQ(again(text), text);
    }
    EXPECT_EQ(again("concurrency_limit(algorithm=fixed_limit(n=4))"),
              again("concurrency_limit(fixed_limit(4))"));
    auto const gate = parse_policy("concurrency_limit(fixed_limit(4))").settings().gate;
    auto const* const limit = dynamic_cast<concurrency_limit<fixed_limit> const*>(gate.get());
    ASSERT_TRUE(limit);
    EXPECT_EQ(limit->limit(), 4u);
    EXPECT_FALSE(limit->has_queue());
    EXPECT_NE(parse_policy("concurrency_limit(fixed_limit(4))").settings().gate, gate);
}

TEST(policy_text, a_share_of_hedges_is_written_and_read) {
    for (char const* const items : {"hedge_share(0.05)", "hedge_share(0.333333, burst=1)", "hedge_share(1e-06)",
                                    "hedge_share(1, burst=4294967295)"}) {
        std::string const text = std::string(default_policy) + ' ' + items;
        EXPECT_EQ(again(text), text);
    }
    EXPECT_EQ(again("hedge_share(0.05, 10)"), again("hedge_share(share=5e-2)"));
    EXPECT_EQ(again("hedge_share(0.0123456789)"), again("hedge_share(0.012345)"));
    auto const gate = parse_policy("hedge_share(0.05, 20)").settings().gate;
    ASSERT_TRUE(dynamic_cast<token_budget const*>(gate.get()));
    EXPECT_NE(parse_policy("hedge_share(0.05, 20)").settings().gate, gate);
}

TEST(policy_text, gates_of_a_program_are_written_if_a_text_can_make_them) {
    auto const text_of_gate = [](std::shared_ptr<retry_gate> const& gate) {
        std::string const text = to_string(retry_policy().gate(gate));
        return text.substr(default_policy.size() + 1);
    };
    using fixed = concurrency_limit<fixed_limit>;
    EXPECT_EQ(text_of_gate(std::make_shared<fixed>(fixed_limit(4))), "concurrency_limit(fixed_limit(4))");
    EXPECT_EQ(text_of_gate(std::make_shared<fixed>(fixed_limit(4), queue_options{.greatest = 1})),
              "gate(<gate>)");
    EXPECT_EQ(text_of_gate(std::make_shared<concurrency_limit<aimd>>()), "gate(<gate>)");
    EXPECT_EQ(text_of_gate(hedge_share(0.05)), "hedge_share(0.05)");
    EXPECT_EQ(text_of_gate(hedge_share(0.5, 7)), "hedge_share(0.5, burst=7)");
    for (token_budget_options const& other :
         {token_budget_options(), token_budget_options{.initial = 0, .per_failure = 1},
          token_budget_options{.initial = 0, .threshold = 1}, token_budget_options{.initial = 0, .cost = 2},
          token_budget_options{.initial = 0, .timeout_cost = 2},
          token_budget_options{.initial = 0, .throttled_cost = 2},
          token_budget_options{.initial = 0, .refund = true},
          token_budget_options{.initial = 0, .per_success = 0},
          token_budget_options{.initial = 0, .per_success = 2},
          token_budget_options{.capacity = 1.5, .initial = 0},
          token_budget_options{.capacity = 1e10, .initial = 0}})
        EXPECT_EQ(text_of_gate(std::make_shared<token_budget>(other)), "gate(<gate>)");
}

TEST(policy_text, faults_of_fixed_limits_and_shares_are_named) {
    EXPECT_EQ(fault_in("concurrency_limit()"),
              "18: expected a limit such as fixed_limit(4) for algorithm of concurrency_limit, found none");
    EXPECT_EQ(fault_in("concurrency_limit(4)"),
              "18: expected a limit such as fixed_limit(4) for algorithm of concurrency_limit, found '4'");
    EXPECT_EQ(fault_in("concurrency_limit(aimd(4))"), "18: expected fixed_limit, found 'aimd'");
    EXPECT_EQ(fault_in("concurrency_limit(fixed_limit())"),
              "30: expected a whole number for n of fixed_limit, found none");
    EXPECT_EQ(fault_in("concurrency_limit(fixed_limit(2.5))"),
              "30: expected a whole number for n of fixed_limit, found '2.5'");
    EXPECT_EQ(fault_in("concurrency_limit(fixed_limit(0))"), "18: fixed_limit.n = 0: must be positive");
    EXPECT_EQ(fault_in("concurrency_limit(fixed_limit(4294967296))"),
              "18: fixed_limit.n = 4294967296: must be less than 2^32");
    EXPECT_EQ(
        fault_in("concurrency_limit(fixed_limit(9223372036854775808))"),
        "30: expected a whole number for n of fixed_limit of less than 2^63, found '9223372036854775808'");
    EXPECT_EQ(fault_in("hedge_share()"), "12: expected a number for share of hedge_share, found none");
    EXPECT_EQ(fault_in("hedge_share(5%)"), "13: expected ',' or ')', found '%'");
    EXPECT_EQ(fault_in("hedge_share(0)"), "0: hedge_share.share = 0: must be in [0.000001, 1]");
    EXPECT_EQ(fault_in("hedge_share(5)"), "0: hedge_share.share = 5: must be in [0.000001, 1]");
    EXPECT_EQ(fault_in("hedge_share(0.05, 0)"), "0: hedge_share.burst = 0: must be positive");
    EXPECT_EQ(fault_in("hedge_share(0.05, burst=4294967296)"),
              "0: hedge_share.burst = 4294967296: must be less than 2^32");
}

TEST(policy_text, a_policy_has_one_gate) {
    EXPECT_EQ(fault_in("hedge_share(0.05) rate_limit(1, 1s)"),
              "18: expected no second gate, found 'rate_limit'");
    EXPECT_EQ(fault_in("rate_limit(1, 1s) concurrency_limit(fixed_limit(4))"),
              "18: expected no second gate, found 'concurrency_limit'");
    EXPECT_EQ(fault_in("hedge_share(0.05) hedge_share(0.05)"),
              "18: expected no second hedge_share, found 'hedge_share'");
}

// Unlike a cap, which always is there, it was set.
TEST(policy_text, the_greatest_limit_is_written) {
    std::string const text = std::string(default_policy) + " max_elapsed(9223372036854775807ns)";
    EXPECT_EQ(to_string(retry_policy().max_elapsed(duration::max())), text);
    EXPECT_EQ(again(text), text);
    EXPECT_EQ(to_string(constant(1s).cap(duration::max())), "constant(value=1s)");
}

TEST(policy_text, settings_are_set) {
    retry_policy const policy = parse_policy(
        "clamp() max_attempts(7) max_elapsed(1s) attempt_timeout(2s) total_timeout(3s) deadline(4s) "
        "reset_after(5s) allow_total_cancellation() retry_when_nested()");
    retry_settings const& read = policy.settings();
    EXPECT_EQ(read.max_attempts, 7u);
    EXPECT_EQ(read.max_elapsed, duration(1s));
    EXPECT_EQ(read.attempt_timeout, duration(2s));
    EXPECT_EQ(read.total_timeout, duration(3s));
    EXPECT_EQ(read.deadline, time_point(4s));
    EXPECT_EQ(read.reset_after, duration(5s));
    EXPECT_TRUE(read.clamp && read.allow_total_cancellation && read.retry_when_nested);
    EXPECT_EQ(parse_policy("unlimited_attempts()").settings().max_attempts, std::nullopt);
    retry_policy const other = parse_policy("max_attempts(1)");
    EXPECT_FALSE(other.settings().clamp || other.settings().allow_total_cancellation ||
                 other.settings().retry_when_nested || other.settings().deadline);
}

TEST(policy_text, arguments_stand_in_their_order_and_then_by_name) {
    EXPECT_EQ(again_backoff("exponential(500ms, 1.5, cap=60s)"),
              "exponential(base=500ms, factor=1.5, cap=1min)");
    EXPECT_EQ(again_backoff("exponential(cap=60s, factor=1.5, base=500ms)"),
              "exponential(base=500ms, factor=1.5, cap=1min)");
    EXPECT_EQ(again_backoff("stepwise_exponential(500ms, greatest=60s, factor=1.5)"),
              "stepwise_exponential(base=500ms, factor=1.5, greatest=1min)");
    EXPECT_EQ(again_jitter("proportional_jitter(fraction=0.5)"), "proportional_jitter(0.5)");
    EXPECT_EQ(again_jitter("full_jitter(beyond_cap=false)"), "full_jitter()");
    EXPECT_EQ(again_backoff("constant(1s, cap=9223372036854775807ns)"), "constant(value=1s)");
    EXPECT_EQ(again_jitter("full_jitter(unit=1ns)"), "full_jitter()");
    EXPECT_EQ(again("max_attempts(count=7)"), again("max_attempts(7)"));
}

TEST(policy_text, what_cpp_defaults_may_be_left_out) {
    EXPECT_EQ(again_backoff("exponential(1s)"), "exponential(base=1s, factor=2)");
    EXPECT_EQ(again_backoff("slotted_binary(51.2us)"), "slotted_binary(slot=51200ns, greatest_exponent=10)");
}

TEST(policy_text, backoffs_stand_inside_one_another) {
    EXPECT_EQ(again_backoff("first_at_once(fibonacci(1s))"),
              "chained(first=constant(value=0s, cap=0s), failures=1, then=fibonacci(base=1s))");
    EXPECT_EQ(again_backoff("first_at_once(then = chained(schedule(1s, 2s), 2, constant(5s)), cap=4s)"),
              "chained(first=constant(value=0s, cap=0s), failures=1, then=chained(first=schedule(1s, 2s), "
              "failures=2, "
              "then=constant(value=5s)), cap=4s)");
}

TEST(policy_text, white_space_may_stand_between_all_words) {
    EXPECT_EQ(
        again("\n exponential ( base = 500ms ,\tfactor = 1.5 )\r\n\v\f full_jitter( ) max_attempts\n(10)\n"),
        again("exponential(base=500ms, factor=1.5) full_jitter() max_attempts(10)"));
    EXPECT_EQ(again("chained ( first = constant ( 1s ) , failures=1 , then=constant\n(2s) )"),
              again("chained(first=constant(1s), failures=1, then=constant(2s))"));
}

TEST(policy_text, flags_may_say_that_they_are_not_set) {
    EXPECT_EQ(again("pushback_limit(5s, clamp=false, ignore=false)"), again("pushback_limit(5s)"));
    EXPECT_EQ(again("pushback_limit(5s, clamp=false, ignore=true)"), again("pushback_limit(5s, ignore=true)"));
    EXPECT_EQ(again("pushback_limit(5s, clamp=true, ignore=false)"), again("pushback_limit(5s, clamp=true)"));
}

TEST(policy_text, items_stand_in_any_order) {
    EXPECT_EQ(again("max_attempts(4) equal_jitter() constant(1s)"),
              "constant(value=1s) equal_jitter() max_attempts(4)");
}

TEST(policy_text, durations_have_every_unit_and_are_exact) {
    std::vector<std::pair<std::string, duration>> const durations = {
        {"7ns", 7ns},
        {"7us", 7us},
        {"7ms", 7ms},
        {"7s", 7s},
        {"7min", 7min},
        {"7h", 7h},
        {"0s", 0s},
        {"0h", 0s},
        {"-0.0ms", 0s},
        {"-5ms", -5ms},
        {"0.1s", 100ms},
        {".1s", 100ms},
        {"1.5h", 90min},
        {"0.000000001s", 1ns},
        {"0.100000000000000000000000000000000000s", 100ms},
        {"000000000000000000000000000000000001s", 1s},
        {"0.0000000000025h", 9ns}, // one digit's share alone is a part of a nanosecond
        {"9223372036854775807ns", duration::max()},
        {"9223372036.854775807s", duration::max()},
        {"-9223372036854775808ns", duration::min()},
        {"-9223372036.854775808s", duration::min()},
    };
    for (auto const& [text, value] : durations)
        EXPECT_EQ(parse_policy("deadline(" + text + ")").settings().deadline, time_point(value)) << text;
}

TEST(policy_text, durations_are_written_in_the_largest_unit_that_divides_them) {
    auto const written = [](duration d) {
        std::string const text = to_string(retry_policy().deadline(time_point(d)));
        std::string const begin = std::string(default_policy) + " deadline(";
        EXPECT_THAT(text, StartsWith(begin));
        return text.substr(begin.size(), text.size() - begin.size() - 1);
    };
    EXPECT_EQ(written(0s), "0s");
    EXPECT_EQ(written(1ns), "1ns");
    EXPECT_EQ(written(1001ns), "1001ns");
    EXPECT_EQ(written(1500us), "1500us");
    EXPECT_EQ(written(1500ms), "1500ms");
    EXPECT_EQ(written(59s), "59s");
    EXPECT_EQ(written(60s), "1min");
    EXPECT_EQ(written(90min), "90min");
    EXPECT_EQ(written(48h), "48h");
    EXPECT_EQ(written(-1500ms), "-1500ms");
    EXPECT_EQ(written(duration::max()), "9223372036854775807ns");
    EXPECT_EQ(written(duration::min()), "-9223372036854775808ns");
}

TEST(policy_text, durations_that_are_not_whole_nanoseconds_or_too_long_are_refused) {
    EXPECT_EQ(fault_in("constant(0.0000000001s)"),
              "9: expected a whole number of nanoseconds, found '0.0000000001s'");
    EXPECT_EQ(fault_in("constant(0.5ns)"), "9: expected a whole number of nanoseconds, found '0.5ns'");
    EXPECT_EQ(fault_in("constant(0.00000000000001h)"),
              "9: expected a whole number of nanoseconds, found '0.00000000000001h'");
    for (std::string const text :
         {"9223372036854775808ns", "9223372036.854775808s", "-9223372036854775809ns", "2562048h",
          "18446744073709551616ns", "99999999999999999999999999999s", "18446744073709551615h"})
        EXPECT_EQ(fault_in("max_attempts(3) deadline(" + text + ")"),
                  "25: expected a duration of less than 2^63ns, found '" + text + "'");
}

TEST(policy_text, a_wrong_unit_is_refused_where_it_stands) {
    std::string const expected = "expected a unit (ns, us, ms, s, min or h), found ";
    EXPECT_EQ(fault_in("constant(500m)"), "12: " + expected + "'m'; did you mean min or ms?");
    EXPECT_EQ(fault_in("constant(value=1.5sec)"), "18: " + expected + "'sec'; did you mean s?");
    EXPECT_EQ(fault_in("constant(value=1.5minutes)"), "18: " + expected + "'minutes'; did you mean min?");
    EXPECT_EQ(fault_in("constant(1S)"), "10: " + expected + "'S'; did you mean s?");
    EXPECT_EQ(fault_in("max_elapsed(1\xc2\xb5s)"), "13: " + expected + "'\\xc2\\xb5s'; did you mean us?");
    EXPECT_EQ(fault_in("max_elapsed(1.5\xce\xbcs)"), "15: " + expected + "'\\xce\\xbcs'; did you mean us?");
    EXPECT_EQ(fault_in("max_elapsed(1s\xff)"), "13: " + expected + "'s\\xff'; did you mean s?");
    EXPECT_EQ(fault_in("constant(1e3s)"), "10: " + expected + "'e3s'");
    EXPECT_EQ(fault_in("constant(1e)"), "10: " + expected + "'e'");
    EXPECT_EQ(fault_in("exponential(1s, 2e+)"), "17: " + expected + "'e'");
}

TEST(policy_text, numbers_are_written_in_the_fewest_digits_that_read_back_as_the_same) {
    for (double const factor :
         {1., 1.1, 1.0000000000000002, 3.141592653589793, 1e300, std::numeric_limits<double>::max()})
        EXPECT_EQ(parse_policy(to_string(retry_policy().backoff(exponential(1s, factor))))
                      .settings()
                      .backoff.ceiling(2),
                  exponential(1s, factor).ceiling(2));
    EXPECT_EQ(to_string(exponential(1s, 1e22)), "exponential(base=1s, factor=1e+22)");
    EXPECT_EQ(again_backoff("exponential(1s, 15e-1)"), "exponential(base=1s, factor=1.5)");
    EXPECT_EQ(again_backoff("exponential(1s, 1.5E+0)"), "exponential(base=1s, factor=1.5)");
    EXPECT_EQ(again_jitter("proportional_jitter(.5)"), "proportional_jitter(0.5)");
    EXPECT_EQ(again_jitter("proportional_jitter(-0)"), "proportional_jitter(0)");
    EXPECT_EQ(again_jitter("proportional_jitter(5e-324)"), "proportional_jitter(5e-324)");
    EXPECT_EQ(again_jitter("proportional_jitter(0.1000000000000000055511151231257827)"),
              "proportional_jitter(0.1)");
}

TEST(policy_text, numbers_out_of_range_are_refused) {
    EXPECT_EQ(fault_in("exponential(1s, 1e999)"),
              "16: expected a number for factor of exponential in the range of double, found '1e999'");
    EXPECT_EQ(fault_in("max_attempts(9223372036854775808)"),
              "13: expected a whole number for count of max_attempts of less than 2^63, found "
              "'9223372036854775808'");
    EXPECT_EQ(fault_in("max_attempts(2.5)"),
              "13: expected a whole number for count of max_attempts, found '2.5'");
    EXPECT_EQ(fault_in("max_attempts(1e1)"),
              "13: expected a whole number for count of max_attempts, found '1e1'");
    EXPECT_NO_THROW((void)parse_policy("max_attempts(9223372036854775807)"));
}

#ifdef __cpp_rtti // with which a locale looks at a facet that it is given

/// A comma where others have a point, and points between thousands.
struct comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

TEST(policy_text, the_locale_changes_nothing) {
    std::string const text =
        "exponential(base=1234567ns, factor=1234.5) proportional_jitter(0.5) max_attempts(12345)";
    std::locale const before = std::locale::global(std::locale(std::locale::classic(), new comma));
    std::string const read = again(text);
    std::locale::global(before);
    EXPECT_EQ(read, text);
}

#endif

TEST(policy_text, every_profile_is_read_by_its_name_and_from_its_own_text) {
    for (profiles::profile const& p : profiles::all()) {
        std::string const text = to_string(p.make());
        EXPECT_EQ(again(std::string(p.name) + "()"), text);
        EXPECT_EQ(again(text), text);
    }
    EXPECT_FALSE(profiles::all().empty());
}

TEST(policy_text, later_items_change_a_profile) {
    EXPECT_EQ(again("unix_connect() full_jitter() max_attempts(9)"),
              to_string(profiles::unix_connect().jitter(full_jitter()).max_attempts(9)));
    EXPECT_EQ(again("unix_connect() constant(1s)"), to_string(profiles::unix_connect().backoff(constant(1s))));
}

TEST(policy_text, a_profile_stands_first_and_takes_no_argument) {
    EXPECT_EQ(fault_in("clamp() celery()"), "8: celery is a profile, which must be the first item");
    EXPECT_EQ(fault_in("celery() celery()"), "9: celery is a profile, which must be the first item");
    EXPECT_EQ(fault_in("celery(3)"), "7: expected no further argument of celery, found '3'");
    EXPECT_EQ(fault_in("celery(factor=1s)"), "7: expected no argument of celery, found 'factor'");
    EXPECT_EQ(fault_in("first_at_once(celery())"), "14: unknown name 'celery'; expected the name of a backoff");
}

TEST(policy_text, callables_have_a_stand_in) {
    retry_policy const policy = retry_policy()
                                    .backoff([](std::uint64_t) { return duration(1s); })
                                    .jitter([](backoff_step const& s, random&) { return s.ceiling; })
                                    .retry_if([](error_code) { return true; })
                                    .on_retry([](retry_event const&) {})
                                    .on_give_up([](stop_reason) {})
                                    .on_success([](retry_event const&) {})
                                    .gate(std::make_shared<closed_gate>())
                                    .classify([](error_code const&) { return failure_class(); })
                                    .observe(std::make_shared<retry_metrics>())
                                    .nested_in(attempt{});
    EXPECT_EQ(
        to_string(policy),
        "custom_backoff(<callable>) custom_jitter(<callable>) max_attempts(1) nested_in(<attempt>) "
        "retry_if(<callable>) on_retry(<callable>) on_give_up(<callable>) on_success(<callable>) gate(<gate>) "
        "classify(<callable>) observe(<observer>)");
    EXPECT_THAT(to_string(retry_policy().retry_if([](std::exception_ptr) { return true; })),
                HasSubstr(" retry_if(<callable>)"));
    EXPECT_EQ(to_string(backoff([](std::uint64_t) { return duration(1s); }).cap(1s)),
              "custom_backoff(<callable>, cap=1s)");
}

TEST(policy_text, callables_cannot_be_read) {
    std::string const no_callable = " stands for a callable, and a callable cannot be read from text";
    for (std::string const name :
         {"custom_backoff()", "custom_jitter(<callable>)", "retry_if(<callable>)", "on_retry(<callable>)",
          "on_give_up(<callable>)", "on_retry()", "custom_backoff(<callable>, cap=1s)"})
        EXPECT_EQ(fault_in("clamp() " + name), "8: " + name.substr(0, name.find('(')) + no_callable);
    EXPECT_EQ(fault_in("first_at_once(custom_backoff())"), "14: custom_backoff" + no_callable);
    EXPECT_EQ(fault_in("gate(<gate>)"), "0: gate stands for a gate, and a gate cannot be read from text");
    EXPECT_EQ(fault_in("nested_in(<attempt>)"),
              "0: nested_in stands for an outer attempt, and an outer attempt cannot be read from text");
    EXPECT_EQ(fault_in("constant(<callable>)"),
              "9: expected a duration such as 500ms for value of constant, found '<callable>'");
}

TEST(policy_text, what_is_no_word_is_refused_where_it_stands) {
    EXPECT_EQ(fault_in("5"), "0: expected an item such as max_attempts(10), found '5'");
    EXPECT_EQ(fault_in("clamp"), "5: expected '(', found the end");
    EXPECT_EQ(fault_in("clamp clamp()"), "6: expected '(', found 'clamp'");
    EXPECT_EQ(fault_in("clamp("), "6: expected a value, found the end");
    EXPECT_EQ(fault_in("clamp(\xff)"), "6: expected a value, found '\\xff'");
    EXPECT_EQ(fault_in(std::string("clamp(") + '\0' + ")"), "6: expected a value, found '\\x00'");
    EXPECT_EQ(fault_in("clamp())"), "7: expected white space or the end, found ')'");
    EXPECT_EQ(fault_in("clamp()full_jitter()"), "7: expected white space or the end, found 'full_jitter'");
    EXPECT_EQ(fault_in("clamp(),"),
              "7: expected white space or the end, found ','; separate items by white space alone");
    EXPECT_EQ(fault_in("linear(1s"), "9: expected ',' or ')', found the end");
    EXPECT_EQ(fault_in("on_retry(<callable)"), "18: expected '>', found ')'");
    EXPECT_EQ(fault_in("on_retry(<"), "10: expected '>', found the end");
    EXPECT_EQ(fault_in("linear(1s 2s)"), "10: expected ',' or ')', found '2'");
    EXPECT_EQ(fault_in("linear(1s,)"), "10: expected an argument, found ')'");
    EXPECT_EQ(fault_in("linear(,1s)"), "7: expected a value, found ','");
    EXPECT_EQ(fault_in("linear(initial=, 1s)"), "15: expected a value, found ','");
    EXPECT_EQ(fault_in("linear(initial 1s)"), "7: expected a value, found 'initial'");
    EXPECT_EQ(fault_in("constant(+1s)"), "9: expected a value, found '+'");
    EXPECT_EQ(fault_in("constant(- 1s)"), "9: expected a value, found '-'");
    EXPECT_EQ(fault_in("constant(1.s)"), "11: expected a digit behind the point, found 's'");
    EXPECT_EQ(fault_in("max_elapsed(-5.)"), "15: expected a digit behind the point, found ')'");
    EXPECT_EQ(fault_in("constant(.s)"), "9: expected a value, found '.'");
    EXPECT_EQ(fault_in("constant(5 x)"), "11: expected ',' or ')', found 'x'");
    EXPECT_EQ(fault_in("constant('5s')"), "9: expected a value, found '''");
}

TEST(policy_text, who_writes_cpp_is_told_how_a_text_has_it) {
    std::string const found = ": expected white space or the end, found '.'; ";
    EXPECT_EQ(fault_in("exponential(100ms).cap(1s)"),
              "18" + found + "did you mean exponential(100ms, cap=1s)?");
    EXPECT_EQ(fault_in("clamp() full_jitter().beyond_cap()"),
              "21" + found + "did you mean full_jitter(beyond_cap=true)?");
    EXPECT_EQ(fault_in("full_jitter().unit(f(1s))"), "13" + found + "did you mean full_jitter(unit=f)?");
    EXPECT_EQ(fault_in("exponential(100ms).cap"), "18" + found + "did you mean exponential(100ms, cap=...)?");
    EXPECT_EQ(fault_in("first_at_once(exponential(100ms).cap(1s))"),
              "32: expected ',' or ')', found '.'; did you mean exponential(100ms, cap=1s)?");
    EXPECT_EQ(fault_in("max_attempts(3).clamp()"), "15" + found + "separate items by white space");
    EXPECT_EQ(fault_in("clamp().\n"), "7" + found + "separate items by white space");
    EXPECT_EQ(fault_in(std::string("linear(\n") + std::string(50, ' ') + ").cap(1s)"),
              "59" + found + "did you mean linear(\\x0a" + std::string(32, ' ') + "..., cap=1s)?");
}

TEST(policy_text, who_writes_no_parentheses_is_told_to) {
    std::string const found = "12: expected '(', found ",
                      hint = "; write arguments in parentheses: max_attempts(";
    EXPECT_EQ(fault_in("max_attempts=5"), found + "'='" + hint + "5)");
    EXPECT_EQ(fault_in("max_attempts: 5 clamp()"), found + "':'" + hint + "5)");
    EXPECT_EQ(fault_in("max_attempts="), found + "'='");
    EXPECT_EQ(fault_in("max_attempts=\xff"), found + "'='");
    EXPECT_EQ(fault_in("max_attempts 5"), "13: expected '(', found '5'" + hint + "5)");
    EXPECT_EQ(fault_in("retry_sent=false"),
              "10: expected '(', found '='; write arguments in parentheses: retry_sent(false)");
}

TEST(policy_text, no_space_stands_between_a_number_and_its_unit) {
    EXPECT_EQ(fault_in("constant(5 s)"), "9: expected no space between a number and its unit, found '5 s'");
    EXPECT_EQ(fault_in("exponential(base=10  ms, factor=2)"),
              "17: expected no space between a number and its unit, found '10  ms'");
    EXPECT_EQ(fault_in("exponential(1s s)"), "15: expected ',' or ')', found 's'");
}

TEST(policy_text, unknown_names_are_refused_with_a_similar_one) {
    EXPECT_EQ(fault_in("clamp() exponentail(1s)"), "8: unknown name 'exponentail'; did you mean exponential?");
    EXPECT_EQ(fault_in("clamp() patience(1s)"),
              "8: unknown name 'patience'; expected the name of a backoff, a jitter, a setting or a profile");
    EXPECT_EQ(fault_in("first_at_once(full_jitter())"),
              "14: unknown name 'full_jitter'; expected the name of a backoff");
    EXPECT_EQ(fault_in("Constant(1s)"), "0: unknown name 'Constant'; did you mean constant?");
    EXPECT_EQ(fault_in("exponential(bse=1s)"),
              "12: expected a parameter of exponential (base, factor, cap), found 'bse'; did you mean base?");
    EXPECT_EQ(fault_in("schedule(delays=1s)"), "9: expected a parameter of schedule (cap), found 'delays'");
    EXPECT_EQ(fault_in("clamp(when=1s)"), "6: expected no argument of clamp, found 'when'");
}

TEST(policy_text, what_is_said_twice_is_refused) {
    EXPECT_EQ(fault_in("constant(1s) linear(1s, 1s)"), "13: expected no second backoff, found 'linear'");
    EXPECT_EQ(fault_in("full_jitter() full_jitter()"), "14: expected no second jitter, found 'full_jitter'");
    EXPECT_EQ(fault_in("max_elapsed(1s) max_elapsed(1s)"),
              "16: expected no second max_elapsed, found 'max_elapsed'");
    EXPECT_EQ(fault_in("max_attempts(2) unlimited_attempts()"),
              "16: expected no second max_attempts, found 'unlimited_attempts'");
    EXPECT_EQ(fault_in("clamp() clamp()"), "8: expected no second clamp, found 'clamp'");
    EXPECT_EQ(fault_in("constant(value=1s, value=1s)"),
              "19: expected no second value of constant, found 'value'");
    EXPECT_EQ(fault_in("constant(1s, value=1s)"), "13: expected no second value of constant, found 'value'");
}

TEST(policy_text, missing_and_surplus_arguments_are_refused) {
    EXPECT_EQ(fault_in("exponential()"),
              "12: expected a duration such as 500ms for base of exponential, found none");
    EXPECT_EQ(fault_in("exponential( factor=2 )"),
              "22: expected a duration such as 500ms for base of exponential, found none");
    EXPECT_EQ(fault_in("truncated_binary(10)"),
              "19: expected a duration such as 500ms for greatest of truncated_binary, found none");
    EXPECT_EQ(fault_in("chained(constant(1s), 5)"), "23: expected a backoff for then of chained, found none");
    EXPECT_EQ(fault_in("constant(1s, 2s)"), "13: expected no further argument of constant, found '2s'");
    EXPECT_EQ(fault_in("exponential(1s, 2, 60s)"),
              "19: expected no further argument of exponential, found '60s'");
    EXPECT_EQ(fault_in("clamp(true)"), "6: expected no further argument of clamp, found 'true'");
    EXPECT_EQ(fault_in("linear(initial=1s, 2s)"),
              "19: expected a named argument, as the one before, found '2s'");
}

TEST(policy_text, arguments_of_another_kind_are_refused) {
    EXPECT_EQ(fault_in("constant(500)"),
              "9: expected a duration such as 500ms for value of constant, found '500'; did you mean 500s?");
    EXPECT_EQ(
        fault_in("attempt_timeout(5)"),
        "16: expected a duration such as 500ms for greatest of attempt_timeout, found '5'; did you mean 5s?");
    EXPECT_EQ(fault_in("exponential(1s, factor=2s)"),
              "23: expected a number for factor of exponential, found '2s'");
    EXPECT_EQ(fault_in("max_attempts(true)"),
              "13: expected a whole number for count of max_attempts, found 'true'");
    EXPECT_EQ(fault_in("full_jitter(beyond_cap=1)"),
              "23: expected true or false for beyond_cap of full_jitter, found '1'");
    EXPECT_EQ(fault_in("first_at_once(1s)"), "14: expected a backoff for then of first_at_once, found '1s'");
    EXPECT_EQ(fault_in("constant(linear(1s, 1s))"),
              "9: expected a duration such as 500ms for value of constant, found 'linear'");
    EXPECT_EQ(fault_in("schedule(1s, 2)"),
              "13: expected a duration such as 500ms for each delay of schedule, found '2'; did you mean 2s?");
}

TEST(policy_text, what_cpp_refuses_is_refused_at_the_item) {
    EXPECT_EQ(fault_in("clamp() exponential(1s, 0.5)"),
              "8: exponential.factor = 0.5: must be a finite number of at least 1");
    EXPECT_EQ(fault_in("exponential(1s, cap=1ms)"), "0: cap = 1ms: must not be below the base, which is 1s");
    EXPECT_EQ(fault_in("constant(-1ns)"), "0: constant = -1ns: must not be negative");
    EXPECT_EQ(fault_in("schedule()"), "0: schedule = {}: must have at least one delay");
    EXPECT_EQ(fault_in("proportional_jitter(2)"), "0: proportional_jitter.fraction = 2: must be in [0, 1]");
    EXPECT_EQ(fault_in("full_jitter(unit=0s)"), "0: jitter.unit = 0s: must be positive");
    EXPECT_THAT(fault_in("max_attempts(0)"), StartsWith("0: max_attempts = 0: must be at least 1"));
    EXPECT_EQ(fault_in("attempt_timeout(0s)"), "0: attempt_timeout = 0s: must be positive");
    EXPECT_EQ(fault_in("first_at_once(constant(-1ns))"), "14: constant = -1ns: must not be negative");
    EXPECT_EQ(fault_in("chained(constant(1s), 0, constant(1s))"),
              "0: chained.failures = 0: must be at least 1");
}

TEST(policy_text, sixteen_backoffs_may_stand_inside_one_another) {
    auto const nested = [](int depth) {
        std::string text = "constant(1s)";
        for (int i = 1; i != depth; ++i)
            text = "first_at_once(" + text + ")";
        return text;
    };
    EXPECT_EQ(parse_policy(nested(16)).settings().backoff.ceiling(15), 0s);
    EXPECT_EQ(parse_policy(nested(16)).settings().backoff.ceiling(16), 1s);
    EXPECT_EQ(again(again(nested(16))), again(nested(16)));
    EXPECT_EQ(fault_in(nested(17)), std::to_string(16 * std::string("first_at_once(").size()) +
                                        ": more than 16 backoffs inside one another");
    std::string open;
    for (int i = 0; i != 100'000; ++i)
        open += "chained(";
    EXPECT_EQ(fault_in(open), "128: more than 16 backoffs inside one another");
}

TEST(policy_text, long_words_are_shown_in_part) {
    std::string expected = "0: unknown name '";
    expected.append(40, 'x').append("...'; expected the name of ");
    EXPECT_THAT(fault_in(std::string(100'000, 'x') + "()"), StartsWith(expected));
}

} // namespace
} // namespace asio_retry::test
