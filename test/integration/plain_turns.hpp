#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <stop_token>
#include <thread>

namespace asio_retry::test {

/// Two threads that do a server's least: they wait for a moment, pass a kilobyte through a connection, and read
/// their own CPU clock. If such a turn is long, the system took the time for the wait itself: to put the thread
/// to sleep, to wake it, and for interrupts. It counts all of that as the thread's.
class plain_turns {
public:
    static constexpr std::chrono::milliseconds a_long_turn{5};

    std::size_t long_ones() const noexcept { return long_; }

private:
    using tcp = boost::asio::ip::tcp;

    static std::chrono::nanoseconds cpu_time() noexcept {
        std::timespec now{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
    }

    void run(std::stop_token stop) {
        boost::asio::io_context io;
        tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
        tcp::socket here(io), there(io);
        here.connect(acceptor.local_endpoint());
        acceptor.accept(there);
        std::array<char, 1'024> text{};
        for (auto last = cpu_time(); !stop.stop_requested();) {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            boost::asio::write(here, boost::asio::buffer(text));
            boost::asio::read(there, boost::asio::buffer(text));
            auto const now = cpu_time();
            long_ += now - last > a_long_turn;
            last = now;
        }
    }

    std::atomic<std::size_t> long_ = 0;
    std::jthread first_{[this](std::stop_token stop) { run(stop); }};
    std::jthread second_{[this](std::stop_token stop) { run(stop); }};
};

} // namespace asio_retry::test
