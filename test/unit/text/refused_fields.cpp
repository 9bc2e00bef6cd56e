#include <asio_retry/hedge_policy.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/retry_policy.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// What is refused in C++, and as text where it has one.
struct refused_field {
    std::function<void()> in_code;
    char const* in_text;
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

refused_field const refused_fields[] = {
    {[] { return retry_policy().max_attempts(0); }, "max_attempts(0)",
     "max_attempts = 0: must be at least 1; see unlimited_attempts()"},
    {[] { return retry_policy().max_elapsed(-1s); }, "max_elapsed(-1s)",
     "max_elapsed = -1s: must not be negative"},
    {[] { return retry_policy().max_waited(-250ms); }, "max_waited(-250ms)",
     "max_waited = -250ms: must not be negative"},
    {[] { return retry_policy().attempt_timeout(0s); }, "attempt_timeout(0ms)",
     "attempt_timeout = 0s: must be positive"},
    {[] { return retry_policy().total_timeout(-1min); }, "total_timeout(-60s)",
     "total_timeout = -1min: must not be negative"},
    {[] { return retry_policy().reset_after(-1h); }, "reset_after(-1h)",
     "reset_after = -1h: must not be negative"},
    {[] { return retry_policy().pushback_limit(-1us); }, "pushback_limit(-1us)",
     "pushback_limit = -1us: must not be negative"},
    {[] { return retry_policy().pushback_spread(1.5); }, "pushback_spread(1.5)",
     "pushback_spread = 1.5: must be in [0, 1]"},
    {[] { return constant(-1s); }, "constant(-1s)", "constant = -1s: must not be negative"},
    {[] { return constant(1s).cap(-1ns); }, "constant(1s, cap=-1ns)", "cap = -1ns: must not be negative"},
    {[] { return constant(2s).cap(1500ms); }, "constant(2s, cap=1.5s)",
     "cap = 1500ms: must not be below the base"},
    {[] { return linear(-1s, 0s); }, "linear(-1s, 0s)", "linear.initial = -1s: must not be negative"},
    {[] { return linear(1s, -90s); }, "linear(1s, -90s)", "linear.step = -90s: must not be negative"},
    {[] { return exponential(-1s); }, "exponential(-1s)", "exponential.base = -1s: must not be negative"},
    {[] { return exponential(1s, 0.5); }, "exponential(1s, 0.5)", "exponential.factor = 0.5: must be "},
    {[] { return polynomial(1s, -1); }, "polynomial(1s, -1)", "polynomial.exponent = -1: must be at least 0"},
    {[] { return fibonacci(-1s); }, "fibonacci(-1s)", "fibonacci.base = -1s: must not be negative"},
    {[] { return stepwise_exponential(2s, 2, 1s); }, "stepwise_exponential(2s, 2, 1s)",
     "stepwise_exponential.greatest = 1s: must not be below the base"},
    {[] { return truncated_binary(0, 1s); }, "truncated_binary(0, 1s)",
     "truncated_binary.N = 0: must be at least 1"},
    {[] { return slotted_binary(0s); }, "slotted_binary(0s)", "slotted_binary.slot = 0s: must be positive"},
    {[] { return schedule({-1s}); }, "schedule(-1s)", "schedule = -1s: must not be negative"},
    {[] { return chained(constant(1s), 0, constant(1s)); }, "chained(constant(1s), 0, constant(1s))",
     "chained.failures = 0: must be at least 1"},
    {[] { return full_jitter().unit(0s); }, "full_jitter(unit=0s)", "jitter.unit = 0s: must be positive"},
    {[] { return full_jitter().cap(-1s); }, "full_jitter(cap=-1s)", "jitter.cap = -1s: must not be negative"},
    {[] { return full_jitter().at_least(-1s); }, "full_jitter(at_least=-1s)",
     "jitter.at_least = -1s: must not be negative"},
    {[] { return proportional_jitter(2); }, "proportional_jitter(2)",
     "proportional_jitter.fraction = 2: must lie in [0, 1]"},
    {[] { return additive_jitter(-1s); }, "additive_jitter(-1s)",
     "additive_jitter.greatest = -1s: must not be negative"},
    {[] { return multiplicative_jitter(-1, 1); }, "multiplicative_jitter(-1, 1)",
     "multiplicative_jitter.least = -1: must be at least 0"},
    {[] { return windowed_jitter(-1s); }, "windowed_jitter(-1s)",
     "windowed_jitter.window = -1s: must not be negative"},
    {[] { return symmetric_jitter(-1s); }, "symmetric_jitter(-1s)",
     "symmetric_jitter.window = -1s: must not be negative"},
    {[] { return uniform_jitter(-1s); }, "uniform_jitter(-1s)",
     "uniform_jitter.least = -1s: must not be negative"},
    {[] { return log_normal_jitter(-1); }, "log_normal_jitter(-1)",
     "log_normal_jitter.sigma = -1: must be finite and at least 0"},
    {[] { return hedge_policy(-1s); }, nullptr, "delay = -1s: must not be negative"},
    {[] { return hedge_policy(1s).max_attempts(17); }, nullptr, "max_attempts = 17: must be from 1 to 16"},
    {[] { return hedge_policy(1s).total_timeout(-1s); }, nullptr, "total_timeout = -1s: must not be negative"},
};

TEST(refused_fields, decision_04_a_refusal_names_field_value_and_rule_in_code_and_text) {
    for (refused_field const& one : refused_fields) {
        std::string const expected = std::string("asio_retry: ") + one.message;
        EXPECT_THAT(refusal_by(one.in_code), testing::StartsWith(expected));
        if (one.in_text) {
            EXPECT_THAT(refusal_by([&] { return parse_policy(one.in_text); }),
                        testing::StartsWith(std::string("asio_retry: at 0: ") + one.message));
        }
    }
}

} // namespace
} // namespace asio_retry::test
