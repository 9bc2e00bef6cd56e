// expected: retry: a blocking retry takes a plain callable; use async_retry for one that takes a completion
// token or returns an awaitable or a deferred operation
#include <asio_retry/retry.hpp>

#include <boost/asio/awaitable.hpp>

#ifdef FAULT_REMOVED
int fetch();
#else
boost::asio::awaitable<int> fetch();
#endif

void session() {
    asio_retry::retry(fetch, asio_retry::retry_policy());
}
