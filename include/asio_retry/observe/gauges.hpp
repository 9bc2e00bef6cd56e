#pragma once

#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/fault_plan.hpp>
#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>
#include <asio_retry/traffic/keyed_gates.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace asio_retry {

namespace detail {

/// What the function writes, with numbers as in the "C" locale.
ASIO_RETRY_DECL std::string written_text(std::function<void(std::ostream&)> const& write);

} // namespace detail

/// Writes an endpoint as the value of a label: a string as it is, any other type with `<<`.
struct endpoint_text {
    /// Writes one endpoint. Numbers are written as in the "C" locale.
    template <typename Endpoint>
        requires std::convertible_to<Endpoint const&, std::string_view> ||
                 requires(std::ostream& out, Endpoint const& endpoint) { out << endpoint; }
    std::string operator()(Endpoint const& endpoint) const {
        if constexpr (std::convertible_to<Endpoint const&, std::string_view>) {
            return std::string(std::string_view(endpoint));
        } else {
            return detail::written_text([&](std::ostream& out) { out << endpoint; });
        }
    }
};

namespace detail {

using gauge_clock = std::function<time_point()>;
using endpoint_visitor = std::function<void(std::string const& text, endpoint_status const& status)>;
using breaker_visitor = std::function<void(std::string const& key, circuit_breaker const& breaker)>;

ASIO_RETRY_DECL void add_endpoint_gauges(retry_metrics& metrics, std::string const& prefix, gauge_clock now,
                                         std::function<void(endpoint_visitor const&, time_point)> for_each);
ASIO_RETRY_DECL void add_key_gauges(retry_metrics& metrics, std::string const& prefix,
                                    std::function<double()> size);
ASIO_RETRY_DECL void add_breaker_gauges(retry_metrics& metrics, std::string const& prefix, gauge_clock now,
                                        std::function<double()> size,
                                        std::function<void(breaker_visitor const&)> for_each);

} // namespace detail

/// Adds gauges for the endpoints of a set, each with a label `endpoint`, whose value `text` returns.
///
/// - `<prefix>_in_flight`: attempts that run at the endpoint
/// - `<prefix>_state`: 1 for the state of its circuit breaker, 0 for the others, which are labels `state`
/// - `<prefix>_failure_share`: share of failures among its recent attempts, in [0, 1]
/// - `<prefix>_latency_seconds`: median of its last successes, while it is known
/// - `<prefix>_ejected`: 1 while the set does not ask it because it fails or is slow, or 0
/// - `<prefix>_resting`: 1 while its server wants to be left alone, or 0
///
/// Endpoints that `assign` adds or removes come and go in the text. If two endpoints have the same text, the
/// first one counts: let `text` tell apart what the comparison tells apart. `now` returns the time for the
/// statuses; pass that of a `virtual_time` in tests.
///
/// Throws std::invalid_argument if a function or `set` is empty, or for names that `retry_metrics::add_gauges`
/// refuses; then it has added none.
template <typename Endpoint, typename Text = endpoint_text>
void add_gauges(retry_metrics& metrics, std::string const& prefix, std::shared_ptr<endpoint_set<Endpoint>> set,
                Text text = {}, std::function<time_point()> now = std::chrono::steady_clock::now) {
    static_assert(std::is_invocable_r_v<std::string, Text const&, Endpoint const&>,
                  "an Endpoint has to have a <<; or pass a function that returns its text");
    if (!set)
        detail::refuse("add_gauges.set", "null", "must be a set");
    if constexpr (detail::may_be_empty<Text>)
        detail::refuse_if_empty("add_gauges.text", text);
    detail::refuse_if_empty("add_gauges.now", now);
    detail::add_endpoint_gauges(
        metrics, prefix, std::move(now),
        [set = std::move(set), text = std::move(text)](detail::endpoint_visitor const& visit, time_point at) {
            set->for_each(
                [&](Endpoint const& endpoint, endpoint_status const& status) { visit(text(endpoint), status); },
                at);
        });
}

/// Adds gauges for the gates of many keys.
///
/// - `<prefix>_keys`: how many gates there are
///
/// If the gates are circuit breakers, there are two more, with a label `key`:
/// - `<prefix>_state`: 1 for the state of the breaker, 0 for the others, which are labels `state`
/// - `<prefix>_failure_share`: share of failures among the recent attempts, in [0, 1]
///
/// A scrape makes no gate younger. Each key is a series of its own, so `greatest` of the gates limits what
/// Prometheus has to keep. Throws as the function for an `endpoint_set` does.
template <typename Gate>
void add_gauges(retry_metrics& metrics, std::string const& prefix, std::shared_ptr<keyed_gates<Gate>> gates,
                std::function<time_point()> now = std::chrono::steady_clock::now) {
    if (!gates)
        detail::refuse("add_gauges.gates", "null", "must be gates");
    detail::refuse_if_empty("add_gauges.now", now);
    auto size = [gates] { return static_cast<double>(gates->size()); };
    if constexpr (std::derived_from<Gate, circuit_breaker>)
        detail::add_breaker_gauges(
            metrics, prefix, std::move(now), std::move(size),
            [gates = std::move(gates)](detail::breaker_visitor const& visit) {
                gates->for_each(
                    [&](std::string const& key, circuit_breaker const& breaker) { visit(key, breaker); });
            });
    else
        detail::add_key_gauges(metrics, prefix, std::move(size));
}

/// Adds gauges for a `fault_plan`.
///
/// - `<prefix>_enabled`: 1 while attempts have faults, or 0
/// - `<prefix>_attempts`: attempts that began while the plan was enabled
/// - `<prefix>_injected`: those with a fault, with a label `fault`: `error`, `lost_answer`, `delay` or `hang`
///
/// Throws as the function for an `endpoint_set` does.
ASIO_RETRY_DECL void add_gauges(retry_metrics& metrics, std::string const& prefix,
                                std::shared_ptr<fault_plan const> plan);

} // namespace asio_retry
