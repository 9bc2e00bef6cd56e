#include <asio_retry/asio_retry.hpp>

#include <boost/asio.hpp>

#include <stdexcept>

#if defined(ASIO_RETRY_STANDALONE)
#error "these are the headers for the other Asio"
#endif

namespace asio = boost::asio;

int attempts_with_boost() {
    asio::io_context io;
    asio_retry::virtual_time time(io);
    int attempts = 0;
    auto const refuse = [&]() -> boost::system::error_code {
        return ++attempts < 3 ? asio::error::connection_refused : boost::system::error_code();
    };
    asio_retry::async_retry(io, refuse, asio_retry::retry_policy(), [](boost::system::error_code ec) {
        if (ec)
            throw std::runtime_error(ec.message());
    });
    time.run();
    return attempts;
}
