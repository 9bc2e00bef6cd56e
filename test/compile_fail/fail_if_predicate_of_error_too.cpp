// expected: fail_if: the predicate must take the values of a successful completion and return bool
#include <asio_retry/async_retry.hpp>

#include <boost/asio/awaitable.hpp>

boost::asio::awaitable<std::tuple<asio_retry::error_code, int>> fetch();

boost::asio::awaitable<int> session() {
#ifdef FAULT_REMOVED
    auto is_failure = [](int value) { return value < 0; };
#else
    auto is_failure = [](asio_retry::error_code, int value) { return value < 0; };
#endif
    auto judged = asio_retry::fail_if(fetch, is_failure);
    co_return co_await asio_retry::async_retry(judged, asio_retry::retry_policy());
}
