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
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>

namespace asio_retry::test {

/// A fifth of the time a thread does a server's least: it passes a kilobyte through a connection and reads its
/// own CPU clock, and now and then it writes a line. Where such a turn is long, the time went to interrupts or
/// to the host of a virtual machine; the system counts it as the thread's all the same.
class plain_turns {
public:
    static constexpr std::chrono::milliseconds a_long_turn{5};

    explicit plain_turns(std::filesystem::path const& log)
        : log_(log) {}

    std::size_t long_ones() const noexcept { return long_; }

private:
    using tcp = boost::asio::ip::tcp;

    static std::chrono::nanoseconds cpu_time() noexcept {
        std::timespec now{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
    }

    void run(std::stop_token stop) {
        using namespace std::chrono_literals;
        boost::asio::io_context io;
        tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
        tcp::socket here(io), there(io);
        here.connect(acceptor.local_endpoint());
        acceptor.accept(there);
        std::array<char, 1'024> text{};
        while (!stop.stop_requested()) {
            auto const began = cpu_time();
            for (auto last = began; last < began + 2ms;) {
                boost::asio::write(here, boost::asio::buffer(text));
                boost::asio::read(there, boost::asio::buffer(text));
                auto const now = cpu_time();
                long_ += now - last > a_long_turn;
                last = now;
            }
            log_ << "a line as long as one of the gateway's own, which names a request" << std::endl;
            std::this_thread::sleep_for(8ms);
        }
    }

    std::ofstream log_;
    std::atomic<std::size_t> long_ = 0;
    std::jthread thread_{[this](std::stop_token stop) { run(stop); }};
};

} // namespace asio_retry::test
