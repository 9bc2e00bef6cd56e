// expected: asio_retry: the operation must be callable, as an lvalue, with nothing, with an attempt, with a
// completion token, or with an attempt and a completion token
#include <asio_retry/async_retry.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#ifdef FAULT_REMOVED
boost::system::error_code fetch(asio_retry::attempt const& which);
#else
boost::system::error_code fetch(asio_retry::attempt& which);
#endif

void start(boost::asio::io_context& io) {
    asio_retry::async_retry(io, fetch, asio_retry::retry_policy(), boost::asio::detached);
}
