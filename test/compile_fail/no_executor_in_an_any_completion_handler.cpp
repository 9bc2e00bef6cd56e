// expected at once: async_retry: this completion token has no executor to wait on, and async_retry needs
// one: async_retry(executor, operation, policy, token)
#include <asio_retry/async_retry.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/io_context.hpp>

#include <utility>

boost::system::error_code fetch();

void start([[maybe_unused]] boost::asio::io_context& io,
           boost::asio::any_completion_handler<void(boost::system::error_code)> handler) {
#ifdef FAULT_REMOVED
    asio_retry::async_retry(io, fetch, asio_retry::retry_policy(), std::move(handler));
#else
    asio_retry::async_retry(fetch, asio_retry::retry_policy(), std::move(handler));
#endif
}
