#if defined(SHORT_NAME)
#include <asio_retry/asio_retry.hpp>
#else
#include <asio_retry_standalone/asio_retry/asio_retry.hpp>
#endif

#include <asio.hpp>

#include <stdexcept>
#include <system_error>

#if !defined(ASIO_RETRY_STANDALONE)
#error "these are the headers for the other Asio"
#endif

int attempts_with_asio() {
    asio::io_context io;
    asio_retry::virtual_time time(io);
    int attempts = 0;
    auto const refuse = [&]() -> std::error_code {
        return ++attempts < 3 ? asio::error::connection_refused : std::error_code();
    };
    asio_retry::async_retry(io, refuse, asio_retry::retry_policy(), [](std::error_code ec) {
        if (ec)
            throw std::runtime_error(ec.message());
    });
    time.run();
    return attempts;
}
