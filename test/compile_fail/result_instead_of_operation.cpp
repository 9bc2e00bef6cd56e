// expected: async_retry: the operation must be callable, as an lvalue, with nothing, with an attempt, with a
// completion token, or with an attempt and a completion token
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>

boost::asio::awaitable<int> fetch();

boost::asio::awaitable<int> session() {
#ifdef FAULT_REMOVED
    co_return co_await asio_retry::async_retry(fetch, asio_retry::retry_policy());
#else
    co_return co_await asio_retry::async_retry(fetch(), asio_retry::retry_policy());
#endif
}
