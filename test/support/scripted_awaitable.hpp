#pragma once

#include "support/scripted_operation.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace asio_retry::test {

/// A coroutine that takes a turn of its executor, and throws the script's next error.
inline asio::awaitable<void> awaitable_scripted(script& s) {
    error_code const ec = s.next();
    co_await asio::post(asio::use_awaitable);
    if (ec)
        throw boost::system::system_error(ec);
}

} // namespace asio_retry::test
