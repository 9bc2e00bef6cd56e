// On SIGTERM what runs may finish, for a while; on SIGINT, or at the second signal, everything stops.
#include <asio_retry/async_retry.hpp>

#include <boost/asio.hpp>

#include <csignal>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> slow_but_sure() {
    asio::steady_timer timer(co_await asio::this_coro::executor, 200ms);
    co_await timer.async_wait(asio::use_awaitable);
    std::cout << "a running attempt finished\n";
}

boost::system::error_code refuse() {
    return asio::error::connection_refused;
}

int main() {
    asio::io_context io;
    asio_retry::retry_scope scope(io.get_executor());

    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](boost::system::error_code ec, int signal) {
        if (ec)
            return;
        if (signal == SIGINT)
            return scope.cancel();
        scope.async_drain(5s, [&](boost::system::error_code, std::size_t cancelled) {
            std::cout << "drained, " << cancelled << " attempts had to be cancelled\n";
            signals.cancel();
        });
        signals.async_wait([&](boost::system::error_code again, int) { again ? void() : scope.cancel(); });
    });

    auto const policy = asio_retry::retry_policy().backoff(asio_retry::constant(1h)).unlimited_attempts();
    asio_retry::async_retry(scope, slow_but_sure, policy, asio::detached);
    asio_retry::async_retry(scope, refuse, policy, [](boost::system::error_code ec) {
        std::cout << "a wait of an hour ended: " << ec.message() << '\n';
    });
    asio::post(io, [] { std::raise(SIGTERM); });
    io.run();
}
