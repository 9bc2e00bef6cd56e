#pragma once

#include "budget.hpp"
#include "demo.hpp"
#include "recent_failures.hpp"
#include "settings.hpp"
#include "upstream_connections.hpp"
#include "upstream_pool.hpp"

#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace gateway {

/// What all sessions share.
struct services {
    /// `trial_` is none but with `--demo`, and outlives this.
    services(settings const& s, boost::asio::any_io_executor const& executor, demo* trial_);

    settings const& configured;
    upstream_pool pool;
    std::shared_ptr<asio_retry::retry_metrics> metrics = std::make_shared<asio_retry::retry_metrics>();
    budget_of_retries budget;
    recent_failures failures;
    std::atomic<std::uint64_t> asked = 0; ///< attempts that chose a server; every breaker refused the others
    demo* trial;
    asio_retry::retry_policy for_idempotent; ///< what may be done twice
    asio_retry::retry_policy for_others;     ///< is tried again only if it was surely not sent
    asio_retry::retry_scope requests;        ///< those that are being answered
    asio_retry::retry_scope reads;           ///< and sessions that wait for the next one
};

/// Answers the requests of one client, one after the other, until it closes the connection or the gateway is
/// told to stop. Everything runs on the strand of the socket.
class session {
public:
    session(boost::asio::ip::tcp::socket client, services& shared)
        : client_(std::move(client))
        , shared_(shared)
        , connections_(shared.pool.size()) {}

    boost::asio::awaitable<void> run();

private:
    boost::asio::awaitable<bool> read(request& question);
    boost::asio::awaitable<response> answer(request& question);
    boost::asio::awaitable<response> pass_on(request& question);
    boost::asio::awaitable<response> attempt_one(request const& question, asio_retry::attempt which);

    boost::asio::ip::tcp::socket client_;
    services& shared_;
    upstream_connections connections_;
    boost::beast::flat_buffer buffer_;
    std::vector<bool> has_failed_; ///< which servers attempts of this request have failed at
    std::uint64_t asked_ = 0;      ///< how many attempts of this request chose a server
};

} // namespace gateway
