// expected alone: retrying: the completion signature of the operation must be void(error_code, T...) or
// void(std::exception_ptr, T...); put adapters such as as_tuple inside: retrying(policy, as_tuple(token))
#include <asio_retry/retrying.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

void start(boost::asio::steady_timer& timer) {
    namespace asio = boost::asio;
#ifdef FAULT_REMOVED
    timer.async_wait(asio_retry::retrying(asio_retry::retry_policy(), asio::as_tuple(asio::deferred)));
#else
    timer.async_wait(asio::as_tuple(asio_retry::retrying(asio_retry::retry_policy(), asio::deferred)));
#endif
}
