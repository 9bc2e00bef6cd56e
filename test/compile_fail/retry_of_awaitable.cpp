// expected: retry: a blocking retry takes a plain callable; for one that takes a completion token or returns an
// awaitable or a deferred operation there is async_retry
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
