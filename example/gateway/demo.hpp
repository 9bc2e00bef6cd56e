#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace gateway {

/// Servers to try the gateway with, which can be stopped and started, and clients that ask it. All of them run
/// on a thread of their own. Any function may be called from any thread.
class demo {
public:
    /// The servers run when it returns.
    explicit demo(std::size_t servers);
    demo(demo const&) = delete;
    demo& operator=(demo const&) = delete;
    ~demo();

    std::vector<boost::asio::ip::tcp::endpoint> endpoints() const;
    bool runs(std::size_t index) const { return servers_[index].runs; }

    /// Refuses connections from now on, and closes those that there are.
    void stop(std::size_t index);
    void start(std::size_t index);

    /// Some thirty requests in a second from now on.
    void ask(boost::asio::ip::tcp::endpoint const& gateway);

private:
    using socket = boost::asio::ip::tcp::socket;

    struct server {
        explicit server(boost::asio::io_context& io);
        void open();

        socket reserved; // bound and never listening, so that nobody else takes the port during a stop
        boost::asio::ip::tcp::acceptor acceptor;
        boost::asio::ip::tcp::endpoint endpoint;
        std::vector<std::weak_ptr<socket>> clients;
        std::atomic<bool> runs = true;
    };

    static boost::asio::awaitable<void> accept(server& server);

    boost::asio::io_context io_;
    std::deque<server> servers_;
    std::jthread thread_;
};

} // namespace gateway
