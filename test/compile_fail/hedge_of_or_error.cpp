// expected: async_hedge: or_error is for async_retry
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/fail_if.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

void start(boost::asio::io_context& io) {
    auto judged = asio_retry::fail_if([] { return 1; }, [](int value) { return value < 0; });
#ifdef FAULT_REMOVED
    asio_retry::async_hedge(io, judged, asio_retry::hedge_policy(std::chrono::seconds(1)),
                            boost::asio::detached);
#else
    asio_retry::async_hedge(io, judged.or_error(), asio_retry::hedge_policy(std::chrono::seconds(1)),
                            boost::asio::detached);
#endif
}
