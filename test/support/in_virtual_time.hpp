#pragma once

#include "support/scripted_operation.hpp"

#include <asio_retry/virtual_time.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>

namespace asio_retry::test {

/// A context whose time goes on when the test says so. A fixture derives from it.
struct in_virtual_time {
    asio::io_context io;
    virtual_time time{io};
    time_point const begin = time.now();

    /// Runs `body` as a coroutine to its end, after which nothing waits any more. Returns how long that took.
    duration run(std::function<asio::awaitable<void>()> body);
};

} // namespace asio_retry::test
