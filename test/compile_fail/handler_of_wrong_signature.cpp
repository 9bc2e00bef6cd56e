// expected: async_retry: the handler must take the operation's completion: (error_code, T...) if the operation
// takes a completion token or returns an error_code or a result, or else (std::exception_ptr[, T])
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
