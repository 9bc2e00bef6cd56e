#include <asio_retry/policy_json.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// What is refused in C++, and as text and JSON where it has them.
struct refused_field {
    std::function<void()> in_code;
    char const* in_text;
    char const* in_json;
    char const* message;
};

std::string refusal_by(std::function<void()> const& act) {
    try {
        act();
    } catch (std::invalid_argument const& refusal) {
        return refusal.what();
    }
    return "nothing refused";
}

constexpr double nan_share = std::numeric_limits<double>::quiet_NaN();

refused_field const refused_fields[] = {
    {[] { return retry_policy().max_attempts(0); }, "max_attempts(0)", R"({"max_attempts": 0})",
     "max_attempts = 0: must be at least 1; see unlimited_attempts()"},
    {[] { return retry_policy().max_elapsed(-1s); }, "max_elapsed(-1s)", R"({"max_elapsed": "-1s"})",
     "max_elapsed = -1s: must not be negative"},
    {[] { return retry_policy().max_waited(-250ms); }, "max_waited(-250ms)", R"({"max_waited": "-250ms"})",
     "max_waited = -250ms: must not be negative"},
    {[] { return retry_policy().attempt_timeout(0s); }, "attempt_timeout(0ms)", R"({"attempt_timeout": "0ms"})",
     "attempt_timeout = 0s: must be positive"},
    {[] { return retry_policy().total_timeout(-1min); }, "total_timeout(-60s)", R"({"total_timeout": "-60s"})",
     "total_timeout = -1min: must not be negative"},
    {[] { return retry_policy().reset_after(-1h); }, "reset_after(-1h)", R"({"reset_after": "-1h"})",
     "reset_after = -1h: must not be negative"},
    {[] { return retry_policy().pushback_limit(-1us); }, "pushback_limit(-1us)",
     R"({"pushback_limit": "-1us"})", "pushback_limit = -1us: must not be negative"},
    {[] { return retry_policy().pushback_spread(1.5); }, "pushback_spread(1.5)", R"({"pushback_spread": 1.5})",
     "pushback_spread = 1.5: must be in [0, 1]"},
    {[] { return constant(-1s); }, "constant(-1s)", R"({"constant": "-1s"})",
     "constant = -1s: must not be negative"},
    {[] { return constant(1s).cap(-1ns); }, "constant(1s, cap=-1ns)",
     R"({"constant": {"value": "1s", "cap": "-1ns"}})", "cap = -1ns: must not be negative"},
    {[] { return constant(2s).cap(1500ms); }, "constant(2s, cap=1.5s)",
     R"({"constant": {"value": "2s", "cap": "1.5s"}})",
     "cap = 1500ms: must not be below the base, which is 2s"},
    {[] { return linear(-1s, 0s); }, "linear(-1s, 0s)", R"({"linear": ["-1s", "0s"]})",
     "linear.initial = -1s: must not be negative"},
    {[] { return linear(1s, -90s); }, "linear(1s, -90s)", R"({"linear": ["1s", "-90s"]})",
     "linear.step = -90s: must not be negative"},
    {[] { return exponential(-1s); }, "exponential(-1s)", R"({"exponential": "-1s"})",
     "exponential.base = -1s: must not be negative"},
    {[] { return exponential(1s, 0.5); }, "exponential(1s, 0.5)", R"({"exponential": ["1s", 0.5]})",
     "exponential.factor = 0.5: must be a finite number of at least 1"},
    {[] { return polynomial(1s, -1); }, "polynomial(1s, -1)", R"({"polynomial": ["1s", -1]})",
     "polynomial.exponent = -1: must be at least 0"},
    {[] { return fibonacci(-1s); }, "fibonacci(-1s)", R"({"fibonacci": "-1s"})",
     "fibonacci.base = -1s: must not be negative"},
    {[] { return stepwise_exponential(2s, 2, 1s); }, "stepwise_exponential(2s, 2, 1s)",
     R"({"stepwise_exponential": ["2s", 2, "1s"]})",
     "stepwise_exponential.greatest = 1s: must not be below the base, which is 2s"},
    {[] { return truncated_binary(0, 1s); }, "truncated_binary(0, 1s)", R"({"truncated_binary": [0, "1s"]})",
     "truncated_binary.growing_failures = 0: must be at least 1"},
    {[] { return slotted_binary(0s); }, "slotted_binary(0s)", R"({"slotted_binary": "0s"})",
     "slotted_binary.slot = 0s: must be positive"},
    {[] { return schedule({-1s}); }, "schedule(-1s)", R"({"schedule": ["-1s"]})",
     "schedule = -1s: must not be negative"},
    {[] { return chained(constant(1s), 0, constant(1s)); }, "chained(constant(1s), 0, constant(1s))",
     R"({"chained": [{"constant": "1s"}, 0, {"constant": "1s"}]})", "chained.failures = 0: must be at least 1"},
    {[] { return full_jitter().unit(0s); }, "full_jitter(unit=0s)", R"({"full_jitter": {"unit": "0s"}})",
     "jitter.unit = 0s: must be positive"},
    {[] { return full_jitter().cap(-1s); }, "full_jitter(cap=-1s)", R"({"full_jitter": {"cap": "-1s"}})",
     "jitter.cap = -1s: must not be negative"},
    {[] { return full_jitter().at_least(-1s); }, "full_jitter(at_least=-1s)",
     R"({"full_jitter": {"at_least": "-1s"}})", "jitter.at_least = -1s: must not be negative"},
    {[] { return proportional_jitter(2); }, "proportional_jitter(2)", R"({"proportional_jitter": 2})",
     "proportional_jitter.fraction = 2: must be in [0, 1]"},
    {[] { return additive_jitter(-1s); }, "additive_jitter(-1s)", R"({"additive_jitter": "-1s"})",
     "additive_jitter.greatest = -1s: must not be negative"},
    {[] { return multiplicative_jitter(-1, 1); }, "multiplicative_jitter(-1, 1)",
     R"({"multiplicative_jitter": [-1, 1]})", "multiplicative_jitter.least = -1: must be at least 0"},
    {[] { return windowed_jitter(-1s); }, "windowed_jitter(-1s)", R"({"windowed_jitter": "-1s"})",
     "windowed_jitter.window = -1s: must not be negative"},
    {[] { return symmetric_jitter(-1s); }, "symmetric_jitter(-1s)", R"({"symmetric_jitter": "-1s"})",
     "symmetric_jitter.window = -1s: must not be negative"},
    {[] { return uniform_jitter(-1s); }, "uniform_jitter(-1s)", R"({"uniform_jitter": "-1s"})",
     "uniform_jitter.least = -1s: must not be negative"},
    {[] { return log_normal_jitter(-1); }, "log_normal_jitter(-1)", R"({"log_normal_jitter": -1})",
     "log_normal_jitter.sigma = -1: must be finite and at least 0"},
    {[] { return retry_policy().setup_timeout(0s); }, "setup_timeout(0s)", R"({"setup_timeout": "0s"})",
     "setup_timeout = 0s: must be positive"},
    {[] { return retry_policy().idle_timeout(0s); }, "idle_timeout(0s)", R"({"idle_timeout": "0s"})",
     "idle_timeout = 0s: must be positive"},
    {[] { return retry_policy().max_attempts_when(failure_kind::timeout, 0); }, "max_attempts_when(timeout, 0)",
     R"({"max_attempts_when": ["timeout", 0]})", "max_attempts_when = 0: must be at least 1"},
    {[] { return retry_policy().when(failure_kind::permanent, constant(1s)); }, "when(permanent, constant(1s))",
     R"({"when": {"kind": "permanent", "backoff": {"constant": "1s"}}})", "when = permanent: is never retried"},
    {[] { return retry_policy().retry_if(failure_kind::timeout, failure_kind::none); },
     "retry_if(timeout, none)", R"({"retry_if": ["timeout", "none"]})",
     "retry_if = none: must be a kind of failure"},
    {[] { return retry_policy().max_attempts_when(any_failure, 0); }, nullptr, nullptr,
     "max_attempts_when = 0: must be at least 1"},
    {[] { return stepwise_exponential(-1s, 2, 1s); }, "stepwise_exponential(-1s, 2, 1s)",
     R"({"stepwise_exponential": ["-1s", 2, "1s"]})", "stepwise_exponential.base = -1s: must not be negative"},
    {[] { return stepwise_exponential(1s, 0.5, 1s); }, "stepwise_exponential(1s, 0.5, 1s)",
     R"({"stepwise_exponential": ["1s", 0.5, "1s"]})",
     "stepwise_exponential.factor = 0.5: must be a finite number of at least 1"},
    {[] { return polynomial(-1s, 1); }, "polynomial(-1s, 1)", R"({"polynomial": ["-1s", 1]})",
     "polynomial.base = -1s: must not be negative"},
    {[] { return truncated_binary(1, -1s); }, "truncated_binary(1, -1s)", R"({"truncated_binary": [1, "-1s"]})",
     "truncated_binary.greatest = -1s: must not be negative"},
    {[] { return slotted_binary(1s, 0); }, "slotted_binary(1s, 0)", R"({"slotted_binary": ["1s", 0]})",
     "slotted_binary.greatest_exponent = 0: must be at least 1"},
    {[] { return schedule({}); }, "schedule()", R"({"schedule": []})",
     "schedule = {}: must have at least one delay"},
    {[] { return multiplicative_jitter(2, 1); }, "multiplicative_jitter(2, 1)",
     R"({"multiplicative_jitter": [2, 1]})",
     "multiplicative_jitter.greatest = 1: must be finite, and not below least, which is 2"},
    {[] { return full_jitter().at_least(2s).cap(1s); }, "full_jitter(at_least=2s, cap=1s)",
     R"({"full_jitter": {"at_least": "2s", "cap": "1s"}})",
     "jitter.cap = 1s: must not be below at_least, which is 2s"},
    {[] { rate_limit(0, 1s); }, "rate_limit(0, 1s)", R"({"rate_limit": [0, "1s"]})",
     "rate_limit.n = 0: must be positive"},
    {[] { rate_limit(1, -1s); }, "rate_limit(1, -1s)", R"({"rate_limit": [1, "-1s"]})",
     "rate_limit.per = -1s: must be positive"},
    {[] { rate_limit(1, 1s, 0); }, "rate_limit(1, 1s, 0)", R"({"rate_limit": [1, "1s", 0]})",
     "rate_limit.burst = 0: must be positive"},
    {[] { rate_limit(11, 10ns); }, "rate_limit(11, 10ns)", R"({"rate_limit": [11, "10ns"]})",
     "rate_limit.n = 11: must leave an attempt a nanosecond at least"},
    {[] { hedge_share(nan_share); }, nullptr, nullptr, "hedge_share.share = nan: must be in [0.000001, 1]"},
    {[] { hedge_share(1.5); }, "hedge_share(1.5)", R"({"hedge_share": 1.5})",
     "hedge_share.share = 1.5: must be in [0.000001, 1]"},
    {[] { hedge_share(1e-7); }, "hedge_share(1e-7)", R"({"hedge_share": 1e-7})",
     "hedge_share.share = 1e-07: must be in [0.000001, 1]"},
    {[] { hedge_share(0.5, -1); }, "hedge_share(0.5, -1)", R"({"hedge_share": [0.5, -1]})",
     "hedge_share.burst = -1: must be positive"},
    {[] { fixed_limit(-1); }, nullptr, nullptr, "fixed_limit.n = -1: must be positive"},
    {[] { fixed_limit(std::int64_t(1) << 32); }, nullptr, nullptr,
     "fixed_limit.n = 4294967296: must be less than 2^32"},
};

/// The path to the item: that of its key.
std::string path_in(boost::json::value const& policy) {
    return "at /" + std::string(policy.get_object().begin()->key()) + ": ";
}

TEST(refused_fields, decision_04_a_refusal_names_field_value_and_rule_in_code_text_and_json) {
    for (refused_field const& one : refused_fields) {
        EXPECT_EQ(refusal_by(one.in_code), std::string("asio_retry: ") + one.message);
        if (!one.in_text)
            continue;
        EXPECT_EQ(refusal_by([&] { return parse_policy(one.in_text); }),
                  std::string("asio_retry: at byte 0: ") + one.message);
        boost::json::value const json = boost::json::parse(one.in_json);
        EXPECT_EQ(refusal_by([&] { return policy_from_json(json); }),
                  "asio_retry: " + path_in(json) + one.message);
    }
}

// What is no argument is named too: by the parameter that it stands for, or by the one that it is near to.
TEST(refused_fields, decision_04_what_cannot_be_read_is_named_by_its_parameter) {
    EXPECT_EQ(refusal_by([] { return parse_policy("truncated_binary(10s, 10)"); }),
              "asio_retry: at byte 17: expected a whole number for growing_failures of truncated_binary, found "
              "'10s'");
    EXPECT_EQ(
        refusal_by([] { return parse_policy("truncated_binary(growing_failure=3, greatest=1s)"); }),
        "asio_retry: at byte 17: expected a parameter of truncated_binary (growing_failures, greatest, cap), "
        "found 'growing_failure'; did you mean growing_failures?");
    auto const from_json = [](char const* json) {
        return refusal_by([json] { return policy_from_json(boost::json::parse(json)); });
    };
    EXPECT_EQ(from_json(R"({"exponential": {"base": 5, "cap": "1min"}})"),
              "asio_retry: at /exponential/base: expected a duration such as 500ms for base of exponential, "
              "found '5'; did you mean \"5s\"?");
    EXPECT_EQ(from_json(R"({"max_atempts": 3})"),
              "asio_retry: at /max_atempts: unknown name 'max_atempts'; did you mean max_attempts?");
    EXPECT_EQ(
        refusal_by([] { return grpc_retry_policy_from_json(boost::json::parse(R"({"maxAttempts": 1})")); }),
        "asio_retry: at /maxAttempts: expected a whole number of at least 2, found '1'");
}

} // namespace
} // namespace asio_retry::test
