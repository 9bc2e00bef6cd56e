#pragma once

#include <asio_retry/retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>

#include <unistd.h>

namespace asio_retry::test {

namespace asio = boost::asio;
using asio::ip::tcp;

inline tcp::endpoint on_loopback(unsigned short port) {
    return {asio::ip::address_v4::loopback(), port};
}

/// Free a moment ago, and none of those that systems give to clients.
inline unsigned short free_port() {
    asio::io_context io;
    for (unsigned i = static_cast<unsigned>(::getpid());; ++i) {
        static unsigned next = 0;
        auto const candidate =
            on_loopback(static_cast<unsigned short>(10'000 + (i * 7 + ++next * 13) % 20'000));
        tcp::acceptor acceptor(io);
        boost::system::error_code taken;
        acceptor.open(candidate.protocol());
        acceptor.bind(candidate, taken);
        if (!taken)
            return candidate.port();
    }
}

inline void wait_until_it_answers(unsigned short port) {
    auto const connect = [&] {
        asio::io_context io;
        tcp::socket(io).connect(on_loopback(port));
    };
    retry(connect, retry_policy()
                       .backoff(constant(std::chrono::milliseconds(20)))
                       .unlimited_attempts()
                       .max_elapsed(std::chrono::seconds(20)));
}

} // namespace asio_retry::test
