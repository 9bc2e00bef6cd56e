#include <asio_retry/observe/gauges.hpp>
#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>
#include <asio_retry/traffic/keyed_gates.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Writes a text for Prometheus with everything that there is in such a text, and with a gauge for each
// argument, whose label has the argument as its value. There is an operation of a policy with that name, too.

namespace {

using namespace asio_retry;
using namespace std::chrono_literals;

/// What an observer hears of an operation whose last attempt succeeds.
void observe_operation(retry_metrics& metrics, std::uint64_t attempts, bool is_hedge,
                       std::string_view policy = {}) {
    using kind = observation::kind;
    auto const tell = [&](kind what, std::uint64_t attempt, duration delay = {}) {
        observation event;
        event.what = what;
        event.attempt = attempt;
        event.failure = attempt == attempts ? failure_kind::none : failure_kind::timeout;
        event.took = 20ms;
        event.delay = delay;
        event.is_hedge = is_hedge;
        event.policy = policy;
        metrics.on_event(event);
    };
    tell(kind::started, 0);
    for (std::uint64_t attempt = 1; attempt <= attempts; ++attempt) {
        if (attempt > 1 && !is_hedge)
            tell(kind::retry_decided, attempt, 10ms);
        tell(kind::attempt_began, attempt);
        tell(kind::attempt_ended, attempt);
    }
    tell(kind::ended, attempts, 10ms * static_cast<int>(attempts - 1));
}

} // namespace

int main(int count, char** arguments) {
    auto const metrics = std::make_shared<retry_metrics>(metrics_options{.grpc = true, .open_telemetry = true});
    auto const budget = std::make_shared<retry_budget>();
    metrics->add_gauge("orders_retry_budget", "Retries that the budget would grant now.",
                       [budget] { return budget->balance(std::chrono::steady_clock::now()); });
    for (int i = 1; i < count; ++i)
        metrics->add_gauge("tested_labels", "One of each \"text\".\nAnd \\ in the help.",
                           {{"number", std::to_string(i)}, {"text", arguments[i]}}, [i] { return double(i); });
    std::vector<std::string> const given(arguments + 1, arguments + count);
    metrics->add_gauges("tested_set", "The same as a set.", [given](gauge_sink const& put) {
        for (std::string const& each : given)
            put({{"text", each}}, static_cast<double>(each.size()));
    });
    metrics->add_gauges("tested_empty_set", "A set without members.", [](gauge_sink const&) {});

    auto const servers =
        std::make_shared<endpoint_set<std::string>>(std::vector<std::string>{"a:80", "[::1]:80"});
    add_gauges(*metrics, "orders", servers);
    auto const tenants =
        std::make_shared<keyed_gates<circuit_breaker>>([] { return std::make_shared<circuit_breaker>(); });
    for (std::string const& each : given)
        (void)tenants->at(each);
    add_gauges(*metrics, "tenants", tenants);

    for (std::uint64_t attempts = 1; attempts != 5; ++attempts)
        for (bool const is_hedge : {false, true})
            observe_operation(*metrics, attempts, is_hedge);
    for (std::string const& each : given) // as the name of a policy
        observe_operation(*metrics, 1, false, each);
    std::cout << metrics->prometheus("service=\"the \\\"orders\\\" \xe2\x82\xac\",zone=\"a\nb\"");
}
