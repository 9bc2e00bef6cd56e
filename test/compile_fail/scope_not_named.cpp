// expected alone: async_retry: the scope must be a variable that is not const and outlives the operations
// started in it
#include <asio_retry/async_retry.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

void start(boost::asio::io_context& io) {
    asio_retry::retry_scope scope(io);
#ifdef FAULT_REMOVED
    asio_retry::async_retry(scope, [] { return 1; }, asio_retry::retry_policy(), boost::asio::detached);
#else
    asio_retry::async_retry(
        asio_retry::retry_scope(scope), [] { return 1; }, asio_retry::retry_policy(), boost::asio::detached);
#endif
}
