#include <asio_retry/hedge_policy.hpp>
#include <asio_retry/traffic/adaptive_throttle.hpp>
#include <asio_retry/traffic/attempt_counter.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/cooldown.hpp>
#include <asio_retry/traffic/fleet_budget.hpp>
#include <asio_retry/traffic/keyed_gates.hpp>
#include <asio_retry/traffic/latency_quantile.hpp>
#include <asio_retry/traffic/overload_advisor.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/share_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>
#include <asio_retry/traffic/window_budget.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct refused_option {
    std::function<void()> make;
    char const* message; ///< the whole of it, but for the name of the library
};

/// Makes a `Made` of options of which one field is `value`.
template <typename Made, typename Options, typename Field, typename Value>
std::function<void()> with(Field Options::* field, Value value) {
    return [=] {
        Options options;
        options.*field = value;
        Made made(options);
    };
}

refused_option const refused_budgets[] = {
    {with<retry_budget>(&retry_budget_options::ratio, 1.5), "retry_budget.ratio = 1.5: must be in (0, 1]"},
    {with<retry_budget>(&retry_budget_options::window, 0s), "retry_budget.window = 0s: must be positive"},
    {with<retry_budget>(&retry_budget_options::keep, -1),
     "retry_budget.keep = -1: must be finite and not negative"},
    {with<retry_budget>(&retry_budget_options::initial, -1),
     "retry_budget.initial = -1: must be finite and not negative"},
    {with<retry_budget>(&retry_budget_options::per_second, -1),
     "retry_budget.per_second = -1: must be finite and not negative"},
    {with<token_budget>(&token_budget_options::capacity, 0), "token_budget.capacity = 0: must be positive"},
    {with<token_budget>(&token_budget_options::initial, 11.0),
     "token_budget.initial = 11: must not be more than the capacity, which is 10"},
    {with<token_budget>(&token_budget_options::per_success, -1),
     "token_budget.per_success = -1: must be finite and not negative"},
    {with<token_budget>(&token_budget_options::per_failure, -1),
     "token_budget.per_failure = -1: must be finite and not negative"},
    {with<token_budget>(&token_budget_options::threshold, -1.0),
     "token_budget.threshold = -1: must be finite and not negative"},
    {with<token_budget>(&token_budget_options::cost, -1),
     "token_budget.cost = -1: must be finite and not negative"},
    {with<token_budget>(&token_budget_options::timeout_cost, -1.0),
     "token_budget.timeout_cost = -1: must be finite and not negative"},
    {with<token_budget>(&token_budget_options::throttled_cost, -1.0),
     "token_budget.throttled_cost = -1: must be finite and not negative"},
    {[] { static_cast<void>(grpc_tokens(1001, 0.1)); }, "grpc_tokens.max_tokens = 1001: must be in (0, 1000]"},
    {[] { static_cast<void>(grpc_tokens(10, 0)); },
     "grpc_tokens.token_ratio = 0: must be finite and at least 0.001"},
    {with<window_budget>(&window_budget_options::ratio, 1001),
     "window_budget.ratio = 1001: must be in [0, 1000]"},
    {with<window_budget>(&window_budget_options::ttl, 61s), "window_budget.ttl = 61s: must be from 1s to 60s"},
    {with<share_budget>(&share_budget_options::share, 0), "share_budget.share = 0: must be in (0, 1]"},
    {with<fleet_budget>(&fleet_budget_options::batch, 0u), "fleet_budget.batch = 0: must be positive"},
    {with<fleet_budget>(&fleet_budget_options::interval, 0s), "fleet_budget.interval = 0s: must be positive"},
    {with<fleet_budget>(&fleet_budget_options::greatest_interval, 500ms),
     "fleet_budget.greatest_interval = 500ms: must not be less than the interval, which is 1s"},
    {with<fleet_budget>(&fleet_budget_options::lease, -1s), "fleet_budget.lease = -1s: must be positive"},
    {with<fleet_budget>(&fleet_budget_options::ratio, 0), "fleet_budget.ratio = 0: must be in (0, 1]"},
    {with<fleet_budget>(&fleet_budget_options::window, 0s), "fleet_budget.window = 0s: must be positive"},
    {with<fleet_budget>(&fleet_budget_options::capacity, 0.5),
     "fleet_budget.capacity = 0.5: must be finite and at least 1"},
    {with<fleet_budget>(&fleet_budget_options::per_second, -1),
     "fleet_budget.per_second = -1: must be finite and not negative"},
};

refused_option const refused_breakers[] = {
    {with<circuit_breaker>(&circuit_breaker_options::failure_rate, 0),
     "circuit_breaker.failure_rate = 0: must be in (0, 1]"},
    {with<circuit_breaker>(&circuit_breaker_options::min_attempts, 0u),
     "circuit_breaker.min_attempts = 0: must be positive"},
    {with<circuit_breaker>(&circuit_breaker_options::window, 0s),
     "circuit_breaker.window = 0s: must be positive"},
    {with<circuit_breaker>(&circuit_breaker_options::last, 1'000'001u),
     "circuit_breaker.last = 1000001: must be at most 1000000"},
    {with<circuit_breaker>(&circuit_breaker_options::slow_rate, 2),
     "circuit_breaker.slow_rate = 2: must be in [0, 1]"},
    {with<circuit_breaker>(&circuit_breaker_options::slow, -1ms),
     "circuit_breaker.slow = -1ms: must not be negative"},
    {with<circuit_breaker>(&circuit_breaker_options::open_for, 0s),
     "circuit_breaker.open_for = 0s: must be positive"},
    {with<circuit_breaker>(&circuit_breaker_options::growth, 0.5),
     "circuit_breaker.growth = 0.5: must be finite and at least 1"},
    {with<circuit_breaker>(&circuit_breaker_options::open_cap, 4s),
     "circuit_breaker.open_cap = 4s: must not be less than open_for, which is 5s"},
    {with<circuit_breaker>(&circuit_breaker_options::open_spread, 1),
     "circuit_breaker.open_spread = 1: must be in [0, 1)"},
    {with<circuit_breaker>(&circuit_breaker_options::probes, 1001u),
     "circuit_breaker.probes = 1001: must be from 1 to 1000"},
    {with<adaptive_throttle>(&adaptive_throttle_options::k, 0.5),
     "adaptive_throttle.k = 0.5: must be finite and at least 1"},
    {with<adaptive_throttle>(&adaptive_throttle_options::window, 999ms),
     "adaptive_throttle.window = 999ms: must be at least 1s"},
    {with<adaptive_throttle>(&adaptive_throttle_options::max_rejection, 1),
     "adaptive_throttle.max_rejection = 1: must be in (0, 1)"},
    {with<cooldown>(&cooldown_options::greatest, 0s), "cooldown.greatest = 0s: must be positive"},
    {with<cooldown>(&cooldown_options::spread, 1.5), "cooldown.spread = 1.5: must be in [0, 1]"},
    {with<overload_advisor>(&overload_advisor_options::retry_share, 0),
     "overload_advisor.retry_share = 0: must be in (0, 1]"},
    {with<overload_advisor>(&overload_advisor_options::min_requests, 0u),
     "overload_advisor.min_requests = 0: must be positive"},
    {with<overload_advisor>(&overload_advisor_options::window, 0s),
     "overload_advisor.window = 0s: must be positive"},
    {[] { attempt_counter counter(0s); }, "attempt_counter.window = 0s: must be positive"},
    {[] { keyed_gates<cooldown> gates(nullptr); }, "keyed_gates.make = empty: must be a callable"},
    {[] { keyed_gates<cooldown> gates([] { return std::make_shared<cooldown>(); }, 0); },
     "keyed_gates.greatest = 0: must be positive"},
    {[] { keyed_gates<cooldown>([] { return nullptr; }).at("peer"); },
     "keyed_gates.make = null: must make a gate"},
};

refused_option const refused_limits[] = {
    {with<aimd>(&aimd_options::least, 0u), "aimd.least = 0: must be positive"},
    {with<aimd>(&aimd_options::greatest, 0u), "aimd.greatest = 0: must not be less than least, which is 1"},
    {with<aimd>(&aimd_options::initial, 201u),
     "aimd.initial = 201: must not be more than greatest, which is 200"},
    {with<aimd>(&aimd_options::backoff_ratio, 1), "aimd.backoff_ratio = 1: must be in (0, 1)"},
    {with<aimd>(&aimd_options::timeout, 0s), "aimd.timeout = 0s: must be positive"},
    {with<gradient>(&gradient_options::least, 0u), "gradient.least = 0: must be positive"},
    {with<gradient>(&gradient_options::greatest, 19u),
     "gradient.greatest = 19: must not be less than least, which is 20"},
    {with<gradient>(&gradient_options::initial, 19u),
     "gradient.initial = 19: must not be less than least, which is 20"},
    {with<gradient>(&gradient_options::smoothing, 0), "gradient.smoothing = 0: must be in (0, 1]"},
    {with<gradient>(&gradient_options::queue, -1), "gradient.queue = -1: must be finite and not negative"},
    {with<gradient>(&gradient_options::tolerance, 0.5),
     "gradient.tolerance = 0.5: must be finite and at least 1"},
    {with<gradient>(&gradient_options::long_window, 0u), "gradient.long_window = 0: must be positive"},
};

refused_option const refused_hedges[] = {
    {[] { hedge_policy policy(-1s); }, "hedge_policy.delay = -1s: must not be negative"},
    {[] { hedge_policy policy(std::shared_ptr<latency_quantile>{}); },
     "hedge_policy.observed = null: must be a latency_quantile"},
    {[] { static_cast<void>(hedge_policy(1s).max_attempts(0)); },
     "hedge_policy.max_attempts = 0: must be from 1 to 16"},
    {[] { static_cast<void>(hedge_policy(1s).max_attempts(17)); },
     "hedge_policy.max_attempts = 17: must be from 1 to 16"},
    {[] { static_cast<void>(hedge_policy(1s).total_timeout(-1s)); },
     "total_timeout = -1s: must not be negative"},
    {[] { static_cast<void>(hedge_policy(1s).pushback_limit(-1s)); },
     "pushback_limit = -1s: must not be negative"},
    {[] { static_cast<void>(hedge_policy(1s).retry_if(std::function<bool(error_code)>())); },
     "retry_if = empty: must be a callable"},
    {[] { static_cast<void>(hedge_policy(1s).on_hedge(std::function<void(std::uint64_t)>())); },
     "on_hedge = empty: must be a callable"},
    {[] { latency_quantile seen(1); }, "latency_quantile.q = 1: must be in (0, 1)"},
    {[] { latency_quantile seen(0.5, -1s); }, "latency_quantile.initial = -1s: must not be negative"},
    {[] { latency_quantile seen(0.5, 1s, 0); }, "latency_quantile.min_samples = 0: must be at least 1"},
};

template <std::size_t N>
void all_name_their_field(refused_option const (&options)[N]) {
    for (refused_option const& one : options)
        EXPECT_THAT(one.make,
                    testing::ThrowsMessage<std::invalid_argument>(std::string("asio_retry: ") + one.message));
}

TEST(refused_fields, decision_04_an_option_of_a_budget_is_refused_by_its_name) {
    all_name_their_field(refused_budgets);
}

TEST(refused_fields, decision_04_an_option_of_a_breaker_or_throttle_is_refused_by_its_name) {
    all_name_their_field(refused_breakers);
}

TEST(refused_fields, decision_04_an_option_of_a_limit_is_refused_by_its_name) {
    all_name_their_field(refused_limits);
}

TEST(refused_fields, decision_04_an_argument_of_a_hedge_is_refused_by_its_name) {
    all_name_their_field(refused_hedges);
}

} // namespace
} // namespace asio_retry::test
