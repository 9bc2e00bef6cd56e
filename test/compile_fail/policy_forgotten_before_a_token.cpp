// expected: async_retry: the policy is missing: async_retry(operation, policy); an executor, context, scope or
// attempt comes before them, a completion token last
#include <asio_retry/async_retry.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

void start(boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    asio_retry::async_retry(io, [] { return 1; }, asio_retry::retry_policy(), boost::asio::detached);
#else
    asio_retry::async_retry(io, [] { return 1; }, boost::asio::detached);
#endif
}
