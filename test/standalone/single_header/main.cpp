#include "operation.hpp"

#define ASIO_RETRY_IMPLEMENTATION
#include <asio_retry.hpp>

#include <asio/io_context.hpp>

int main() {
    int attempts = 0;
    asio_retry::error_code result = asio::error::operation_aborted;
    asio::io_context io;
    asio_retry::async_retry(
        io, [&] { return attempt_once(attempts); }, policy(), [&](asio_retry::error_code ec) { result = ec; });
    io.run();
    return !result && attempts == 2 ? 0 : 1;
}
