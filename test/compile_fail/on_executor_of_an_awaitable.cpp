// expected: on_executor: the function must block until it has its result: give an operation that returns an
// awaitable or a deferred operation to async_retry itself
#include <asio_retry/async_retry.hpp>
#include <asio_retry/on_executor.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>

boost::asio::awaitable<int> query();
int blocking_query();

boost::asio::awaitable<int> ask(boost::asio::thread_pool& pool) {
#ifdef FAULT_REMOVED
    auto operation = asio_retry::on_executor(pool, blocking_query);
#else
    auto operation = asio_retry::on_executor(pool, query);
#endif
    co_return co_await asio_retry::async_retry(operation, asio_retry::retry_policy());
}
