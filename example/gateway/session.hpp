#pragma once

#include "budget.hpp"
#include "demo.hpp"
#include "recent_failures.hpp"
#include "route_policies.hpp"
#include "settings.hpp"
#include "trace_exporter.hpp"
#include "upstream_connections.hpp"

#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <memory>
#include <optional>

namespace gateway {

/// The servers behind the gateway.
using upstream_set = asio_retry::endpoint_set<boost::asio::ip::tcp::endpoint>;

/// What all sessions share.
struct services {
    /// `trial_` is none but with `--demo`, and outlives this.
    services(settings const& s, boost::asio::any_io_executor const& executor, demo* trial_);

    settings const& configured;
    std::shared_ptr<upstream_set> upstreams;
    std::shared_ptr<asio_retry::retry_metrics> metrics = std::make_shared<asio_retry::retry_metrics>();
    budget_of_retries budget;
    std::optional<trace_exporter> exporter; ///< none without `--traces`
    recent_failures failures;
    demo* trial;
    route_policies policies;
    asio_retry::retry_scope requests; ///< those that are being answered
    asio_retry::retry_scope reads;    ///< and sessions that wait for the next one
};

/// Answers the requests of one client, one after the other, until it closes the connection or the gateway is
/// told to stop. Throws std::exception if the client is gone, or speaks something else.
///
/// Precondition: it runs on the strand of the socket.
boost::asio::awaitable<void> serve(boost::asio::ip::tcp::socket client, services& shared);

/// What the gateway answers itself, and passes on to no server; none if it does not.
std::optional<response> answer_itself(request const& question, services& shared);

} // namespace gateway
