#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio.hpp>

#include <csignal>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);

// The server: it reads a name and says hello, but not to its first two clients.
asio::awaitable<void> serve(tcp::acceptor& acceptor) {
    for (int client = 1;; ++client) {
        tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
        std::string name, answer = "hello, ";
        co_await asio::async_read_until(socket, asio::dynamic_buffer(name), '\n', no_throw);
        answer += name;
        if (client == 2)
            co_await asio::async_read(socket, asio::dynamic_buffer(name), no_throw);
        else if (client > 2)
            co_await asio::async_write(socket, asio::buffer(answer), no_throw);
    }
}

asio_retry::retry_policy make_policy() {
    auto const log = [](asio_retry::retry_event const& e) {
        std::cout << "retry: " << e.message() << '\n';
        std::raise(SIGTERM); // in place of an operator
    };
    return asio_retry::retry_policy()
        .backoff(asio_retry::exponential(10s).cap(60s))
        .jitter(asio_retry::equal_jitter())
        .max_attempts(5)     // the first one included
        .attempt_timeout(2s) // stops an attempt that takes longer
        .total_timeout(5min) // ends the operation, with all its attempts and waits
        .on_retry(log);
}

// One attempt.
asio::awaitable<std::string> ask(tcp::endpoint server) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server, asio::use_awaitable);
    co_await asio::async_write(socket, asio::buffer("Ada\n", 4), asio::use_awaitable);
    std::string answer;
    co_await asio::async_read_until(socket, asio::dynamic_buffer(answer), '\n', asio::use_awaitable);
    co_return answer;
}

asio::awaitable<void> shut_down(asio_retry::retry_scope& scope) {
    asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
    co_await signals.async_wait(asio::use_awaitable);
    std::cout << "told to exit\n";
    co_await scope.async_drain(5s, asio::use_awaitable);
}

asio::awaitable<void> session(asio_retry::retry_scope& scope, tcp::endpoint server) {
    try {
        auto const policy = make_policy();
        std::string const answer = co_await asio_retry::async_retry(scope, [&] { return ask(server); }, policy);
        std::cout << answer;
    } catch (boost::system::system_error const& e) {
        std::cout << "failed: " << e.code().message() << '\n';
    }
}

int main() {
    asio::io_context io;
    tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    asio::co_spawn(io, serve(acceptor), asio::detached);
    asio_retry::retry_scope scope(io);
    asio::co_spawn(io, shut_down(scope), asio::detached);
    asio::co_spawn(io, session(scope, acceptor.local_endpoint()), [&](std::exception_ptr) { io.stop(); });
    io.run();
}
