// expected: async_hedge: the policy is missing: async_hedge(operation, policy); an executor, context, scope or
// attempt comes before them, a completion token last
#include <asio_retry/async_hedge.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>

boost::asio::awaitable<int> fetch();

boost::asio::awaitable<int> session() {
#ifdef FAULT_REMOVED
    co_return co_await asio_retry::async_hedge(fetch, asio_retry::hedge_policy(std::chrono::seconds(1)));
#else
    co_return co_await asio_retry::async_hedge(fetch, std::chrono::seconds(1));
#endif
}
