#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <random>

namespace asio_retry::test {

class dice {
public:
    explicit dice(unsigned seed)
        : engine_(seed) {}
    int operator()(int sides) { return int(engine_() % unsigned(sides)); }

private:
    std::minstd_rand engine_;
};

inline boost::asio::awaitable<void> nap(int microseconds) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor,
                                    std::chrono::microseconds(microseconds));
    co_await timer.async_wait(boost::asio::use_awaitable);
}

} // namespace asio_retry::test
