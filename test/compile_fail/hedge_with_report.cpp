// expected: async_hedge: with_report is for async_retry
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/with_report.hpp>

#include <boost/asio/awaitable.hpp>

boost::asio::awaitable<int> fetch();

boost::asio::awaitable<int> session(asio_retry::retry_report& report, asio_retry::hedge_policy policy) {
#ifdef FAULT_REMOVED
    static_cast<void>(report);
    co_return co_await asio_retry::async_hedge(fetch, policy);
#else
    co_return co_await asio_retry::async_hedge(asio_retry::with_report(fetch, report), policy);
#endif
}
