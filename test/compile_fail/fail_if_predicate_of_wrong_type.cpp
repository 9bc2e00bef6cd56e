// expected: fail_if: the predicate must take the values of a successful completion and return bool
#include <asio_retry/async_retry.hpp>

#include <boost/asio/io_context.hpp>

#include <string>

void start(boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    auto is_failure = [](int value) { return value < 0; };
#else
    auto is_failure = [](std::string const& value) { return value.empty(); };
#endif
    auto judged = asio_retry::fail_if([] { return 1; }, is_failure);
    asio_retry::async_retry(io, judged, asio_retry::retry_policy(), [](std::exception_ptr, int) {});
}
