// expected: asio_retry: this is an awaitable, which can be awaited only once: pass a callable that makes one
// for each attempt, as in [] { return fetch(); }
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
