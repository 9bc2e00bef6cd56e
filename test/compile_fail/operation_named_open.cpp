// expected at once: async_retry: this function is overloaded: pass a lambda that calls it, as in
// [] { return open(); }
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>

#include <fcntl.h> // which has another one

boost::asio::awaitable<int> open();

boost::asio::awaitable<int> connect(asio_retry::retry_policy policy) {
#ifdef FAULT_REMOVED
    auto const operation = [] { return open(); };
    co_return co_await asio_retry::async_retry(operation, policy);
#else
    co_return co_await asio_retry::async_retry(open, policy);
#endif
}
