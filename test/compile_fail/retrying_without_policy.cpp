// expected: retrying: the policy comes first, or a scope and then the policy; the completion token comes last
#include <asio_retry/retrying.hpp>

#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

void start(boost::asio::steady_timer& timer) {
#ifdef FAULT_REMOVED
    timer.async_wait(asio_retry::retrying(asio_retry::retry_policy(), boost::asio::deferred));
#else
    timer.async_wait(asio_retry::retrying(boost::asio::deferred));
#endif
}
