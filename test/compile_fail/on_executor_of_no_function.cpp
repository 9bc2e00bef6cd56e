// expected: on_executor: the function must be callable, as an lvalue, with nothing or with an attempt, and
// inside on_endpoint also with an endpoint; fail_if, with_hooks and the other wrappers go around on_executor
#include <asio_retry/async_retry.hpp>
#include <asio_retry/on_executor.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>

boost::asio::awaitable<int> ask(boost::asio::thread_pool& pool) {
#ifdef FAULT_REMOVED
    auto query = [](asio_retry::attempt) { return 1; };
#else
    auto query = [](int) { return 1; };
#endif
    auto operation = asio_retry::on_executor(pool, query);
    co_return co_await asio_retry::async_retry(operation, asio_retry::retry_policy());
}
