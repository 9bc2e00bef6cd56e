// expected: async_retry: it takes a retry_policy; a hedge_policy is for async_hedge
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>

boost::asio::awaitable<int> fetch();

boost::asio::awaitable<int> session(asio_retry::hedge_policy policy) {
#ifdef FAULT_REMOVED
    co_return co_await asio_retry::async_hedge(fetch, policy);
#else
    co_return co_await asio_retry::async_retry(fetch, policy);
#endif
}
