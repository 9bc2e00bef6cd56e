// expected: async_retry: what the operation completes with must have a default constructor, for where it fails;
// a std::optional of it has one
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>

struct page {
#ifdef FAULT_REMOVED
    page() = default;
#endif
    explicit page(int);
};

boost::asio::awaitable<page> fetch();

boost::asio::awaitable<void> session() {
    co_await asio_retry::async_retry([] { return fetch(); }, asio_retry::retry_policy());
}
