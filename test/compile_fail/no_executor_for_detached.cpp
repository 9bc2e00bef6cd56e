// expected at once: async_retry: this completion token has no executor to wait on, and async_retry needs
// one: async_retry(executor, operation, policy, token)
#include <asio_retry/async_retry.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

void fetch();

void start([[maybe_unused]] boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    asio_retry::async_retry(io, fetch, asio_retry::retry_policy(), boost::asio::detached);
#else
    asio_retry::async_retry(fetch, asio_retry::retry_policy(), boost::asio::detached);
#endif
}
