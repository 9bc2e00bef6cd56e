// expected: async_retry: the order is: an executor, context, scope or attempt (if any), the operation, the
// policy, and a completion token (if any)
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>

boost::asio::awaitable<int> fetch();

boost::asio::awaitable<int> session(asio_retry::retry_scope& scope) {
#ifdef FAULT_REMOVED
    co_return co_await asio_retry::async_retry(scope, fetch, asio_retry::retry_policy());
#else
    co_return co_await asio_retry::async_retry(fetch, scope, asio_retry::retry_policy());
#endif
}
