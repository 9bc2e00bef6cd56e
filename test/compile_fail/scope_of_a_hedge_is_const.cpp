// expected alone: async_hedge: the scope must be a variable that is not const and outlives the operations
// started in it
#include <asio_retry/async_hedge.hpp>

#include <boost/asio/detached.hpp>

void start(asio_retry::retry_scope& scope) {
#ifdef FAULT_REMOVED
    auto& here = scope;
#else
    auto const& here = scope;
#endif
    asio_retry::async_hedge(
        here,
        [](auto token) {
            return boost::asio::async_initiate<decltype(token), void(asio_retry::error_code)>([](auto) {},
                                                                                              token);
        },
        asio_retry::hedge_policy(std::chrono::seconds(1)), boost::asio::detached);
}
