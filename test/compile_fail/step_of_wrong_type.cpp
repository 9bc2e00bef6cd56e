// expected: before_retry: the step must be of a form that async_retry takes: callable, as an lvalue, with
// nothing, an attempt, a completion token, or the last two
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>

#include <boost/asio/awaitable.hpp>

boost::asio::awaitable<int> fetch();

boost::asio::awaitable<int> session() {
#ifdef FAULT_REMOVED
    auto step = [](asio_retry::attempt const&) {};
#else
    auto step = [](int) {};
#endif
    co_return co_await asio_retry::async_retry(asio_retry::before_retry(fetch, step),
                                               asio_retry::retry_policy());
}
