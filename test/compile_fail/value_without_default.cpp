// expected: asio_retry: result types must be default-constructible: use a std::optional of the type
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
