// expected: asio_retry: result types must be default-constructible: use a std::optional of the type
#include <asio_retry/async_retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/result.hpp>

struct page {
#ifdef FAULT_REMOVED
    page() = default;
#endif
    explicit page(int);
};

boost::system::result<page> fetch();

void start(boost::asio::io_context& io) {
    asio_retry::async_retry(io, fetch, asio_retry::retry_policy(), [](asio_retry::error_code, page) {});
}
