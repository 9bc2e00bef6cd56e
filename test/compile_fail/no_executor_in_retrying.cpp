// expected: async_retry: this completion token has no executor to wait on, and async_retry needs one:
// async_retry(executor, operation, policy, token), or retrying(policy, bind_executor(executor, token))
#include <asio_retry/retrying.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>

template <typename Token>
auto async_fetch(Token&& token) {
    auto start = [](auto handler) { std::move(handler)(boost::system::error_code()); };
    return boost::asio::async_initiate<Token, void(boost::system::error_code)>(start, token);
}

void fetch([[maybe_unused]] boost::asio::io_context& io) {
    auto handler = [](boost::system::error_code) {};
#ifdef FAULT_REMOVED
    async_fetch(asio_retry::retrying(asio_retry::retry_policy(), boost::asio::bind_executor(io, handler)));
#else
    async_fetch(asio_retry::retrying(asio_retry::retry_policy(), handler));
#endif
}
