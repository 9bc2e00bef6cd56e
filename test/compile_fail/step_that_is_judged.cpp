// expected: before_retry: fail_if, with_report and with_hooks are for the operation and not for its step; a
// step reports a failure by an error
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>

#include <boost/asio/awaitable.hpp>

boost::asio::awaitable<int> fetch();

boost::asio::awaitable<int> session() {
    auto renew = [] { return 503; };
#ifdef FAULT_REMOVED
    auto step = renew;
#else
    auto step = asio_retry::fail_if(renew, [](int status) { return status != 200; });
#endif
    co_return co_await asio_retry::async_retry(asio_retry::before_retry(fetch, step),
                                               asio_retry::retry_policy());
}
