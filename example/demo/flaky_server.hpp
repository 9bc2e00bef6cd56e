#pragma once

#include "journal.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <list>

namespace demo {

/// An HTTP server on loopback that answers, refuses, resets, says 503 or hangs, by rotation.
class flaky_server {
public:
    using tcp = boost::asio::ip::tcp;

    flaky_server(boost::asio::any_io_executor executor, journal const& log);

    tcp::endpoint endpoint() const { return reserved_.local_endpoint(); }

    void start();

    /// Drops every connection and wait, so that nothing keeps the context running.
    void stop();

private:
    using connection = std::list<tcp::socket>::iterator;

    void listen();

    /// Waits, or less long if the server is stopped.
    boost::asio::awaitable<void> pass(std::chrono::milliseconds time);

    boost::asio::awaitable<void> take_breaks();
    boost::asio::awaitable<void> accept_connections();
    boost::asio::awaitable<void> serve(connection peer, std::size_t number);

    journal const& log_;
    tcp::socket reserved_;
    tcp::acceptor acceptor_;
    boost::asio::steady_timer next_break_;
    std::list<tcp::socket> connections_;
    std::size_t accepted_ = 0;
    bool stopped_ = false;
};

} // namespace demo
