#pragma once

#include "journal.hpp"
#include "totals.hpp"

#include <asio_retry/retry_scope.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <list>

namespace demo {

/// Sends one request after another from several workers, each with retries.
class client {
public:
    client(boost::asio::any_io_executor executor, boost::asio::ip::tcp::endpoint server, journal const& log);

    void start(std::size_t workers);

    /// Cancels every retry and pause; no request begins any more.
    void stop();

    /// Ends when no request is pending.
    boost::asio::awaitable<void> join();

    totals const& so_far() const noexcept { return totals_; }

private:
    boost::asio::awaitable<void> work(boost::asio::steady_timer& pause);
    boost::asio::awaitable<void> send_request();

    boost::asio::ip::tcp::endpoint server_;
    journal const& log_;
    asio_retry::retry_scope scope_;
    std::list<boost::asio::steady_timer> pauses_;
    totals totals_;
};

} // namespace demo
