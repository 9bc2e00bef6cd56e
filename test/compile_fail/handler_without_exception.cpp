// expected at once: asio_retry: the handler must take what this operation completes with: (std::exception_ptr)
#include <asio_retry/async_retry.hpp>

#include <boost/asio/io_context.hpp>

#include <exception>

void fetch();

void start(boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    asio_retry::async_retry(io, fetch, asio_retry::retry_policy(), [](std::exception_ptr) {});
#else
    asio_retry::async_retry(io, fetch, asio_retry::retry_policy(), [](asio_retry::error_code) {});
#endif
}
