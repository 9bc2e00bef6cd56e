// expected at once: async_retry: this completion token has no executor to wait on, and async_retry needs
// one: async_retry(executor, operation, policy, token)
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

boost::asio::awaitable<int> fetch();

std::future<int> start([[maybe_unused]] boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    return asio_retry::async_retry(
        io, [] { return fetch(); }, asio_retry::retry_policy(), boost::asio::use_future);
#else
    return asio_retry::async_retry([] { return fetch(); }, asio_retry::retry_policy(), boost::asio::use_future);
#endif
}
