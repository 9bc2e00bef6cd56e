// Any Asio operation can be tried again, with any completion token: here a connect, and a callback.
#include <asio_retry/async_retry.hpp>

#include <boost/asio.hpp>

#include <iostream>
#include <optional>

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

int main() {
    asio::io_context io;

    // The server comes up only after the client has begun.
    tcp::acceptor server(io, tcp::v4());
    server.bind({asio::ip::address_v4::loopback(), 0});
    auto const peer = server.local_endpoint();

    auto const listen_later = [&](asio_retry::retry_event const& e) {
        std::cout << "attempt " << e.attempt << ": " << e.error.message() << '\n';
        if (e.attempt == 2)
            server.listen();
    };
    auto const policy = asio_retry::retry_policy()
                            .backoff(asio_retry::exponential(10ms).cap(1s))
                            .max_attempts(5)
                            .on_retry(listen_later);

    // A socket whose connect failed is spoilt: every attempt makes a new one.
    std::optional<tcp::socket> socket;
    auto const connect = [&](auto token) {
        socket.emplace(io);
        return socket->async_connect(peer, std::move(token));
    };
    asio_retry::async_retry(io, connect, policy, [&](boost::system::error_code ec) {
        std::cout << (ec ? ec.message() : "connected") << '\n';
    });
    io.run();
}
