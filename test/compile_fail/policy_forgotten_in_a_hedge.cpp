// expected: async_hedge: there is no policy: async_hedge(operation, policy); an executor, context, scope or
// attempt stands before them, a completion token behind
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
