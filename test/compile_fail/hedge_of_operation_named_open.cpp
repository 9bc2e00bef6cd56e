// expected at once: async_hedge: this function is overloaded: pass a lambda that calls it, as in
// [] { return open(); }
#include <asio_retry/async_hedge.hpp>

#include <boost/asio/awaitable.hpp>

#include <fcntl.h> // which has another one

boost::asio::awaitable<int> open();

boost::asio::awaitable<int> connect(asio_retry::hedge_policy policy) {
#ifdef FAULT_REMOVED
    auto const operation = [] { return open(); };
    co_return co_await asio_retry::async_hedge(operation, policy);
#else
    co_return co_await asio_retry::async_hedge(open, policy);
#endif
}
