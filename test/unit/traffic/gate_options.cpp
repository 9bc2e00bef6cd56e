#include <asio_retry/traffic/adaptive_throttle.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/cooldown.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/share_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>
#include <asio_retry/traffic/window_budget.hpp>

#include "support/gate_values.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace asio_retry::test {
namespace {

/// That `Gate` refuses the options, and names the field, the value and a rule.
template <typename Gate, typename Options>
void refuses_field(Options const& options, std::string const& field, std::string const& value) {
    EXPECT_THAT(calling([&] { Gate{options}; }),
                testing::ThrowsMessage<std::invalid_argument>(
                    testing::StartsWith("asio_retry: " + field + " = " + value + ": must ")));
}

template <typename Gate, typename Options>
void refuses_as_number(double Options::* field, std::string const& name) {
    std::pair<double, char const*> const bad[] = {
        {nan, "nan"}, {infinity, "inf"}, {-infinity, "-inf"}, {-1, "-1"}, {-1e-300, "-1e-300"}};
    for (auto const& [value, text] : bad) {
        Options options;
        options.*field = value;
        refuses_field<Gate>(options, name, text);
    }
}

template <typename Gate, typename Options>
void refuses_as_number(std::optional<double> Options::* field, std::string const& name) {
    std::pair<double, char const*> const bad[] = {{nan, "nan"}, {infinity, "inf"}, {-1, "-1"}};
    for (auto const& [value, text] : bad) {
        Options options;
        options.*field = value;
        refuses_field<Gate>(options, name, text);
    }
}

template <typename Gate, typename Options>
void refuses_as_duration(saturating_duration Options::* field, std::string const& name) {
    for (duration const value : {duration(-1), duration::min()}) {
        Options options;
        options.*field = value;
        refuses_field<Gate>(options, name, std::to_string(value.count()) + "ns");
    }
}

TEST(gate_options, decision_04_are_finite_and_not_negative_whatever_the_field) {
    using budget = retry_budget_options;
    refuses_as_number<retry_budget>(&budget::ratio, "retry_budget.ratio");
    refuses_as_number<retry_budget>(&budget::keep, "retry_budget.keep");
    refuses_as_number<retry_budget>(&budget::initial, "retry_budget.initial");
    refuses_as_number<retry_budget>(&budget::per_second, "retry_budget.per_second");
    refuses_as_duration<retry_budget>(&budget::window, "retry_budget.window");

    using tokens = token_budget_options;
    refuses_as_number<token_budget>(&tokens::capacity, "token_budget.capacity");
    refuses_as_number<token_budget>(&tokens::initial, "token_budget.initial");
    refuses_as_number<token_budget>(&tokens::per_success, "token_budget.per_success");
    refuses_as_number<token_budget>(&tokens::per_failure, "token_budget.per_failure");
    refuses_as_number<token_budget>(&tokens::threshold, "token_budget.threshold");
    refuses_as_number<token_budget>(&tokens::cost, "token_budget.cost");
    refuses_as_number<token_budget>(&tokens::timeout_cost, "token_budget.timeout_cost");
    refuses_as_number<token_budget>(&tokens::throttled_cost, "token_budget.throttled_cost");

    refuses_as_number<window_budget>(&window_budget_options::ratio, "window_budget.ratio");
    refuses_as_number<share_budget>(&share_budget_options::share, "share_budget.share");

    using throttle = adaptive_throttle_options;
    refuses_as_number<adaptive_throttle>(&throttle::k, "adaptive_throttle.k");
    refuses_as_number<adaptive_throttle>(&throttle::max_rejection, "adaptive_throttle.max_rejection");
    refuses_as_duration<adaptive_throttle>(&throttle::window, "adaptive_throttle.window");

    using breaker = circuit_breaker_options;
    refuses_as_number<circuit_breaker>(&breaker::failure_rate, "circuit_breaker.failure_rate");
    refuses_as_number<circuit_breaker>(&breaker::slow_rate, "circuit_breaker.slow_rate");
    refuses_as_number<circuit_breaker>(&breaker::growth, "circuit_breaker.growth");
    refuses_as_number<circuit_breaker>(&breaker::open_spread, "circuit_breaker.open_spread");
    refuses_as_duration<circuit_breaker>(&breaker::window, "circuit_breaker.window");
    refuses_as_duration<circuit_breaker>(&breaker::slow, "circuit_breaker.slow");
    refuses_as_duration<circuit_breaker>(&breaker::open_for, "circuit_breaker.open_for");
    refuses_as_duration<circuit_breaker>(&breaker::open_cap, "circuit_breaker.open_cap");

    refuses_as_number<aimd>(&aimd_options::backoff_ratio, "aimd.backoff_ratio");
    refuses_as_duration<aimd>(&aimd_options::timeout, "aimd.timeout");
    refuses_as_number<gradient>(&gradient_options::smoothing, "gradient.smoothing");
    refuses_as_number<gradient>(&gradient_options::queue, "gradient.queue");
    refuses_as_number<gradient>(&gradient_options::tolerance, "gradient.tolerance");

    refuses_as_number<cooldown>(&cooldown_options::spread, "cooldown.spread");
    refuses_as_duration<cooldown>(&cooldown_options::greatest, "cooldown.greatest");

    struct ratio_of_grpc {
        double tokens = 10, ratio = 0.1;
    };
    struct grpc {
        explicit grpc(ratio_of_grpc const& o) { (void)grpc_tokens(o.tokens, o.ratio); }
    };
    refuses_as_number<grpc>(&ratio_of_grpc::tokens, "grpc_tokens.max_tokens");
    refuses_as_number<grpc>(&ratio_of_grpc::ratio, "grpc_tokens.token_ratio");
}

} // namespace
} // namespace asio_retry::test
