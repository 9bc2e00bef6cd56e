#include "counter.hpp"

#include <boost/redis/src.hpp> // in one file of a program

#include <iostream>

asio::awaitable<void> visit(redis_client& client) {
    redis::request command;
    command.push("INCR", "visits");
    std::cout << co_await count(client, command, asking.retry_sent(false)) << '\n';
}

int main(int, char** arguments) {
    asio::io_context io(1);
    redis_client client{io.get_executor(), {}};
    client.server.addr.port = arguments[1];
    asio::cancellation_signal enough;
    auto const live = [&](asio_retry::attempt a) { return client.live(a); };
    auto const connected = [&]() -> asio::awaitable<void> {
        co_await asio_retry::async_retry(live, reconnecting);
    };
    asio::co_spawn(io, connected, asio::bind_cancellation_slot(enough.slot(), asio::detached));
    int status = 0;
    asio::co_spawn(io, visit(client), [&](std::exception_ptr e) {
        enough.emit(asio::cancellation_type::terminal); // whether it has counted or not
        try {
            if (e)
                std::rethrow_exception(e);
        } catch (std::exception const& failure) {
            std::cerr << failure.what() << '\n';
            status = 1;
        }
    });
    io.run();
    return status;
}
