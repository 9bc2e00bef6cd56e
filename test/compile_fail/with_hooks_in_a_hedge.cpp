// expected: async_hedge: with_hooks is for async_retry; a hedge_policy has on_hedge
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/with_hooks.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

void send(boost::asio::io_context& io) {
    auto plain = [] { return 1; };
#ifdef FAULT_REMOVED
    auto operation = plain;
#else
    auto operation = asio_retry::with_hooks(plain, [](asio_retry::retry_event const&) {});
#endif
    asio_retry::async_hedge(io, operation, asio_retry::hedge_policy(std::chrono::seconds(1)),
                            boost::asio::detached);
}
