// expected: async_retry: the policy is missing: async_retry(operation, policy); an executor, context, scope or
// attempt comes before them, a completion token last
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>

boost::asio::awaitable<int> fetch();

boost::asio::awaitable<int> session() {
#ifdef FAULT_REMOVED
    co_return co_await asio_retry::async_retry(fetch, asio_retry::retry_policy());
#else
    co_return co_await asio_retry::async_retry(fetch);
#endif
}
