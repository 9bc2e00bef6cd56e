// expected: asio_retry: the operation given a completion token does not start an Asio asynchronous operation
// (return the result of its initiating function)
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

boost::asio::awaitable<void> session(boost::asio::steady_timer& timer) {
    auto wait = [&](auto token) {
#ifdef FAULT_REMOVED
        return timer.async_wait(std::move(token));
#else
        timer.async_wait(std::move(token));
#endif
    };
    co_await asio_retry::async_retry(wait, asio_retry::retry_policy());
}
