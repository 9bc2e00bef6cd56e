#pragma once

#include "fleet/redis_connection.hpp"
#include "integration/ports.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// A connection to a Redis that waits for each reply.
class redis_client {
public:
    explicit redis_client(unsigned short port)
        : connection_([&] {
            boost::asio::ip::tcp::socket socket(io_);
            socket.connect(on_loopback(port));
            return socket;
        }()) {}

    fleet::redis_reply command(std::vector<std::string> words) {
        fleet::redis_reply result;
        std::exception_ptr thrown;
        boost::asio::co_spawn(io_, connection_.command(std::move(words)),
                              [&](std::exception_ptr e, fleet::redis_reply reply) {
                                  thrown = e;
                                  result = std::move(reply);
                              });
        io_.restart();
        io_.run();
        if (thrown)
            std::rethrow_exception(thrown);
        return result;
    }

private:
    boost::asio::io_context io_{1};
    fleet::redis_connection connection_;
};

} // namespace asio_retry::test
