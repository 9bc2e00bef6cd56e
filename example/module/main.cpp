// Asio comes from its headers, and the library from its module.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

import asio_retry;

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

asio::awaitable<std::string> fetch(int& calls) {
    if (++calls <= 2)
        throw boost::system::system_error(asio::error::connection_refused);
    co_return "hello after " + std::to_string(calls) + " calls";
}

asio::awaitable<void> session(std::string& page) {
    int calls = 0;
    auto const policy =
        asio_retry::retry_policy().backoff(asio_retry::exponential(1ms)).jitter(asio_retry::no_jitter());
    page = co_await asio_retry::async_retry([&] { return fetch(calls); }, policy);
}

} // namespace

int main() {
    asio::io_context io;
    std::string page;
    asio::co_spawn(io, session(page), [](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(e);
    });
    io.run();
    std::cout << page << '\n';
    return page == "hello after 3 calls" ? 0 : 1;
}
