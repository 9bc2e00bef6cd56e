// expected alone: with_hooks: the third argument is called at the end: it must take a retry_event const& or a
// stop_reason, or be nullptr
#include <asio_retry/async_retry.hpp>
#include <asio_retry/with_hooks.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

void start(boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    auto log = [](asio_retry::stop_reason) {};
#else
    auto log = [](asio_retry::error_code) {};
#endif
    asio_retry::async_retry(io, asio_retry::with_hooks([] { return 1; }, nullptr, log),
                            asio_retry::retry_policy(), boost::asio::detached);
}
