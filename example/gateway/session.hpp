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

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <memory>
#include <utility>

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
    std::shared_ptr<trace_exporter> exporter; ///< null without `--traces`
    recent_failures failures;
    demo* trial;
    route_policies policies;
    asio_retry::retry_scope requests; ///< those that are being answered
    asio_retry::retry_scope reads;    ///< and sessions that wait for the next one
};

/// Answers the requests of one client, one after the other, until it closes the connection or the gateway is
/// told to stop. Everything runs on the strand of the socket.
class session {
public:
    session(boost::asio::ip::tcp::socket client, services& shared)
        : client_(std::move(client))
        , shared_(shared) {}

    boost::asio::awaitable<void> run();

private:
    boost::asio::awaitable<bool> read(request& question);
    boost::asio::awaitable<response> answer(request& question);
    boost::asio::awaitable<response> pass_on(request& question);
    boost::asio::awaitable<response> ask(request const& question, asio_retry::attempt which,
                                         boost::asio::ip::tcp::endpoint const& where);

    boost::asio::ip::tcp::socket client_;
    services& shared_;
    std::shared_ptr<asio_retry::request_trace> trace_; // of the request that is passed on
    upstream_connections connections_;
    boost::beast::flat_buffer buffer_;
};

} // namespace gateway
