// expected: asio_retry: the executor of the handler must be convertible to that of the awaitable
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

boost::asio::awaitable<int, boost::asio::io_context::executor_type> fetch();

#ifdef FAULT_REMOVED
using context = boost::asio::io_context;
#else
using context = boost::asio::thread_pool;
#endif

void start(context& where) {
    asio_retry::async_retry(where, [] { return fetch(); }, asio_retry::retry_policy(), boost::asio::detached);
}
