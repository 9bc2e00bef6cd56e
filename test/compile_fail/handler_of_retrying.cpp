// expected: retrying: the inner handler must take the operation's completion
#include <asio_retry/retrying.hpp>

#include <boost/asio/steady_timer.hpp>

void start(boost::asio::steady_timer& timer) {
#ifdef FAULT_REMOVED
    timer.async_wait(asio_retry::retrying(asio_retry::retry_policy(), [](asio_retry::error_code) {}));
#else
    timer.async_wait(asio_retry::retrying(asio_retry::retry_policy(), [](int) {}));
#endif
}
