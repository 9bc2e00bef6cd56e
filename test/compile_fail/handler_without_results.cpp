// expected at once: asio_retry: the handler must take what this operation completes with: (error_code, T...),
// where T... are its results
#include <asio_retry/async_retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/result.hpp>

#include <exception>

boost::system::result<int> fetch();

void start(boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    asio_retry::async_retry(io, fetch, asio_retry::retry_policy(), [](asio_retry::error_code, int) {});
#else
    asio_retry::async_retry(io, fetch, asio_retry::retry_policy(), [](asio_retry::error_code) {});
#endif
}
