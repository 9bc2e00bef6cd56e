#include "counter.hpp"

#include <boost/redis/src.hpp> // in one file of a program

#include <iostream>

asio::awaitable<void> visit(redis_client& client) {
    redis::request command;
    command.push("INCR", "visits");
    std::cout << co_await count(client, command, asking.retry_sent(false)) << '\n';
}

int main(int, char** arguments) {
    using namespace asio::experimental::awaitable_operators;
    asio::io_context io(1);
    redis_client client{io.get_executor(), {}};
    client.server.addr.port = arguments[1];
    auto const live = [&](asio_retry::attempt a) { return client.live(a); };
    auto const until_visited = [&]() -> asio::awaitable<void> {
        co_await (asio_retry::async_retry(live, reconnecting, asio::use_awaitable) || visit(client));
    };
    asio::co_spawn(io, until_visited, [](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(e);
    });
    io.run();
}
