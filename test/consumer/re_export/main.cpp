#include <embedder.hpp>

#include <asio_retry/async_retry.hpp>

#include <boost/asio/io_context.hpp>

#include <cstdio>

namespace asio = boost::asio;

int main() {
    int attempts = 0;
    auto operation = [&]() -> asio_retry::error_code {
        ++attempts;
        return attempts < 2 ? asio::error::connection_refused : asio_retry::error_code();
    };

    asio::io_context io;
    asio_retry::error_code result = asio::error::operation_aborted;
    asio_retry::async_retry(io, operation, usual_policy(), [&](asio_retry::error_code ec) { result = ec; });
    io.run();
    std::printf("%d attempts: %s\n", attempts, result.message().c_str());
    return !result && attempts == 2 ? 0 : 1;
}
