// expected: retry: a blocking retry takes a plain callable; use async_retry for one that takes a completion
// token or returns an awaitable or a deferred operation
#include <asio_retry/retry.hpp>

#include <boost/asio/steady_timer.hpp>

void wait(boost::asio::steady_timer& timer) {
#ifdef FAULT_REMOVED
    asio_retry::retry([&] { timer.wait(); }, asio_retry::retry_policy());
#else
    asio_retry::retry([&](auto token) { return timer.async_wait(std::move(token)); },
                      asio_retry::retry_policy());
#endif
}
