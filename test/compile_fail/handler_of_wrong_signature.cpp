// expected at once: asio_retry: the handler must take what this operation completes with: (std::exception_ptr,
// T), where T is its result
#include <asio_retry/async_retry.hpp>

#include <boost/asio/io_context.hpp>

void start(boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    asio_retry::async_retry(io, [] { return 1; }, asio_retry::retry_policy(), [](std::exception_ptr, int) {});
#else
    asio_retry::async_retry(
        io, [] { return 1; }, asio_retry::retry_policy(), [](asio_retry::error_code, int) {});
#endif
}
