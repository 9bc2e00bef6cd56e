// expected: async_retry: the place to wait comes first: async_retry(scope, operation, policy)
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>

boost::asio::awaitable<int> fetch();

boost::asio::awaitable<int> session(asio_retry::retry_scope& scope) {
#ifdef FAULT_REMOVED
    co_return co_await asio_retry::async_retry(scope, fetch, asio_retry::retry_policy());
#else
    co_return co_await asio_retry::async_retry(fetch, asio_retry::retry_policy(), scope);
#endif
}
