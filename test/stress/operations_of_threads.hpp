#pragma once

#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/consign.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace asio_retry::test {

/// Operations on a context that four threads run, so many of them at a time.
class operations_of_threads {
public:
    void run(int operations, int at_a_time) {
        left_ = operations;
        for (int i = 0; i != at_a_time; ++i)
            boost::asio::post(io_, [this] { start_next(); });
        std::vector<std::thread> threads;
        for (int i = 0; i != 4; ++i)
            threads.emplace_back([this] { io_.run(); });
        for (std::thread& thread : threads)
            thread.join();
    }

    std::size_t pending() { return scheduler(io_).pending(); }

protected:
    ~operations_of_threads() = default;

    /// One that ends calls this too.
    void start_next() {
        int const number = left_.fetch_sub(1);
        if (number > 0)
            start(number);
    }

    virtual void start(int number) = 0;

    template <typename Function>
    void at(std::chrono::microseconds when, Function function) {
        auto const timer = std::make_shared<boost::asio::steady_timer>(io_, when);
        timer->async_wait(boost::asio::consign([function](boost::system::error_code) { function(); }, timer));
    }

    boost::asio::io_context io_{4};

private:
    std::atomic<int> left_ = 0;
};

} // namespace asio_retry::test
