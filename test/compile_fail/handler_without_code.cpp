// expected at once: asio_retry: the handler must take what this operation completes with: (error_code)
#include <asio_retry/async_retry.hpp>

#include <boost/asio/io_context.hpp>

#include <exception>

asio_retry::error_code fetch();

void start(boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    asio_retry::async_retry(io, fetch, asio_retry::retry_policy(), [](asio_retry::error_code) {});
#else
    asio_retry::async_retry(io, fetch, asio_retry::retry_policy(), [](std::exception_ptr) {});
#endif
}
