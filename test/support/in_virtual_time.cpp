#include "support/in_virtual_time.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <exception>
#include <utility>

namespace asio_retry::test {

duration in_virtual_time::run(std::function<asio::awaitable<void>()> body) {
    bool ended = false;
    asio::co_spawn(io, std::move(body), [&](std::exception_ptr e) {
        ended = true;
        if (e)
            std::rethrow_exception(e);
    });
    time.run();
    EXPECT_TRUE(ended);
    EXPECT_EQ(scheduler(io).pending(), 0u);
    return time.now() - begin;
}

} // namespace asio_retry::test
