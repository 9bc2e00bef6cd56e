// A client that stays connected: after a good while the next outage begins with the shortest delay again, but a
// connection that is lost as soon as it is made does not reset the backoff.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/fresh_connection.hpp>

#include <boost/asio.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

// Takes three clients, one after the other, sends each a line and hangs up: on the third after it has said
// goodbye.
asio::awaitable<void> serve(tcp::acceptor& acceptor) {
    for (std::string const line : {"first\n", "second\n", "goodbye\n"}) {
        tcp::socket client = co_await acceptor.async_accept(asio::use_awaitable);
        co_await asio::async_write(client, asio::buffer(line), asio::use_awaitable);
    }
}

asio::awaitable<void> stay_connected(unsigned short port) {
    auto const executor = co_await asio::this_coro::executor;
    tcp::socket socket(executor);
    asio_retry::fresh_connection connect(socket, "127.0.0.1", std::to_string(port));

    auto const session = [&](asio_retry::attempt attempt) -> asio::awaitable<void> {
        co_await connect(asio::use_awaitable);
        for (std::string line; line != "goodbye\n";) {
            line.clear();
            co_await asio::async_read_until(socket, asio::dynamic_buffer(line), '\n', asio::use_awaitable);
            attempt.mark_healthy(); // it has not only connected, but answered
            std::cout << "received " << line;
        }
    };
    auto const print = [](asio_retry::retry_event const& e) {
        std::cout << "lost connection " << e.attempt << ": " << e.error.message() << '\n';
    };
    auto const policy = asio_retry::retry_policy()
                            .backoff(asio_retry::exponential(1ms).cap(30s))
                            .unlimited_attempts()
                            .reset_after(60s)
                            .on_retry(print);
    co_await asio_retry::async_retry(session, policy);
}

void rethrow(std::exception_ptr e) {
    if (e)
        std::rethrow_exception(e);
}

int main() {
    asio::io_context io;
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    asio::co_spawn(io, serve(acceptor), rethrow);
    asio::co_spawn(io, stay_connected(acceptor.local_endpoint().port()), rethrow);
    io.run();
}
