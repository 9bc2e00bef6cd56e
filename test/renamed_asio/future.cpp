#include <asio_retry/async_retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

namespace asio_retry::test {
namespace {

// It has its result all the same, though its attempts run on the system's threads.
TEST(renamed_asio, a_future_gets_its_result) {
    boost::asio::io_context io;
    auto const here = std::this_thread::get_id();
    std::thread::id attempted_on;
    int attempts = 0;
    auto const operation = [&] {
        attempted_on = std::this_thread::get_id();
        if (++attempts != 3)
            throw std::runtime_error("again");
        return 42;
    };
    auto const policy = retry_policy().backoff(constant(std::chrono::milliseconds(1)));
    std::future<int> result = async_retry(io, operation, policy, boost::asio::use_future);
    io.run();
    EXPECT_EQ(result.get(), 42);
    EXPECT_EQ(attempts, 3);
    EXPECT_NE(attempted_on, here);
}

} // namespace
} // namespace asio_retry::test
