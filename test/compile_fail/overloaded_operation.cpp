// expected at once: async_retry: this function is overloaded: pass a lambda that calls it, as in
// [] { return open(); }
#include <asio_retry/async_retry.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

int answer();
int answer(int question);

void start(boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    asio_retry::async_retry(io, [] { return answer(); }, asio_retry::retry_policy(), boost::asio::detached);
#else
    asio_retry::async_retry(io, answer, asio_retry::retry_policy(), boost::asio::detached);
#endif
}
