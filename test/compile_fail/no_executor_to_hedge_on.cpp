// expected at once: async_hedge: this completion token has no executor to wait on, and async_hedge needs
// one: async_hedge(executor, operation, policy, token)
#include <asio_retry/async_hedge.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>

void start([[maybe_unused]] boost::asio::io_context& io) {
    auto operation = [] { return 1; };
    auto handler = [](std::exception_ptr, int) {};
    asio_retry::hedge_policy const policy(std::chrono::seconds(1));
#ifdef FAULT_REMOVED
    asio_retry::async_hedge(io, operation, policy, handler);
#else
    asio_retry::async_hedge(operation, policy, handler);
#endif
}
