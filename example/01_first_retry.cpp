// A coroutine that fails now and then is awaited through async_retry.
#include <asio_retry/async_retry.hpp>

#include <boost/asio.hpp>

#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

int calls = 0;

asio::awaitable<std::string> fetch_greeting() {
    if (++calls < 3)
        throw std::runtime_error("not ready yet");
    co_return "hello";
}

asio::awaitable<void> session() {
    auto const policy =
        asio_retry::retry_policy().backoff(asio_retry::exponential(10ms).cap(1s)).max_attempts(5);
    std::string const greeting = co_await asio_retry::async_retry(fetch_greeting, policy);
    std::cout << greeting << " after " << calls << " calls\n";
}

int main() {
    asio::io_context io;
    asio::co_spawn(io, session(), [](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(e);
    });
    io.run();
}
