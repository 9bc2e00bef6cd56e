// expected at once: asio_retry: the handler must take what this operation completes with: (std::exception_ptr,
// T), where T is its result
#include <asio_retry/async_hedge.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>

boost::asio::awaitable<int> fetch();

void start(boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    asio_retry::async_hedge(io, fetch, asio_retry::hedge_policy(std::chrono::seconds(1)),
                            [](std::exception_ptr, int) {});
#else
    asio_retry::async_hedge(io, fetch, asio_retry::hedge_policy(std::chrono::seconds(1)),
                            [](std::exception_ptr) {});
#endif
}
