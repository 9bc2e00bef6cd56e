#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace gateway {

/// A server to try the gateway with, on a thread of its own. It runs at first. Any function may be called from
/// any thread.
class demo_server {
public:
    demo_server();

    boost::asio::ip::tcp::endpoint endpoint() const { return reserved_.local_endpoint(); }
    bool runs() const;
    void start();

    /// Refuses connections from now on, and closes those that there are.
    void stop();

private:
    struct running {
        explicit running(boost::asio::ip::tcp::endpoint const& where);
        ~running() { io.stop(); }

        boost::asio::io_context io{1};
        boost::asio::ip::tcp::acceptor acceptor;
        std::jthread thread;
    };

    boost::asio::io_context io_;
    boost::asio::ip::tcp::socket reserved_; // never listens, so that nobody else takes the port during a stop
    std::mutex mutable mutex_;
    std::optional<running> running_;
};

/// Servers to try the gateway with, and clients that ask it.
class demo {
public:
    explicit demo(std::size_t servers)
        : servers_(servers) {}
    ~demo() { io_.stop(); }

    std::vector<boost::asio::ip::tcp::endpoint> endpoints() const;
    demo_server& server(std::size_t index) { return servers_[index]; }

    /// Some thirty requests in a second from now on. To be called once.
    void ask(boost::asio::ip::tcp::endpoint const& gateway);

private:
    std::deque<demo_server> servers_;
    boost::asio::io_context io_{1};
    std::jthread clients_;
};

} // namespace gateway
