// expected at once: async_retry: this completion token has no executor to wait on, and async_retry needs
// one: async_retry(executor, operation, policy, token)
#include <asio_retry/async_retry.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/system_executor.hpp>

void start([[maybe_unused]] boost::asio::io_context& io) {
    auto operation = [] { return 1; };
    auto handler = boost::asio::bind_executor(boost::asio::system_executor(), [](std::exception_ptr, int) {});
#ifdef FAULT_REMOVED
    asio_retry::async_retry(io, operation, asio_retry::retry_policy(), handler);
#else
    asio_retry::async_retry(operation, asio_retry::retry_policy(), handler);
#endif
}
