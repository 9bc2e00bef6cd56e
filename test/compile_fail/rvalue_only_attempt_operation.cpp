// expected: asio_retry: the operation is called as an lvalue once per attempt, but its call operator is for
// rvalues only
#include <asio_retry/async_retry.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

struct operation {
#ifdef FAULT_REMOVED
    int operator()(asio_retry::attempt);
#else
    int operator()(asio_retry::attempt) &&;
#endif
};

void start(boost::asio::io_context& io) {
    asio_retry::async_retry(io, operation(), asio_retry::retry_policy(), boost::asio::detached);
}
