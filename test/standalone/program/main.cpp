#include <asio_retry/asio_retry.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <system_error>

int main() {
    asio::io_context io;
    auto const policy = asio_retry::retry_policy().backoff(asio_retry::constant(std::chrono::milliseconds(1)));
    int attempts = 0;
    auto const operation = [&]() -> asio::awaitable<int> {
        if (++attempts < 3)
            throw std::system_error(asio::error::connection_refused);
        co_return attempts;
    };
    int value = 0;
    auto const program = [&]() -> asio::awaitable<void> {
        value = co_await asio_retry::async_retry(operation, policy);
    };
    asio::co_spawn(io, program, asio::detached);
    io.run();
    return value == 3 ? 0 : 1;
}
