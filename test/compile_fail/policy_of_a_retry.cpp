// expected: async_hedge: it takes a hedge_policy; a retry_policy is for async_retry
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>

boost::asio::awaitable<int> fetch();

boost::asio::awaitable<int> session(asio_retry::retry_policy policy) {
#ifdef FAULT_REMOVED
    co_return co_await asio_retry::async_retry(fetch, policy);
#else
    co_return co_await asio_retry::async_hedge(fetch, policy);
#endif
}
