// expected: asio_retry: the completion signature of the operation must be void(error_code, T...) or
// void(std::exception_ptr, T...)
#include <asio_retry/async_retry.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <system_error>

#ifdef FAULT_REMOVED
using code = asio_retry::error_code;
#else
using code = std::error_code;
#endif

struct operation {
    template <typename Token>
    auto operator()(Token token) const {
        return boost::asio::async_initiate<Token, void(code)>([](auto handler) { std::move(handler)(code()); },
                                                              token);
    }
};

void start(boost::asio::io_context& io) {
    asio_retry::async_retry(io, operation(), asio_retry::retry_policy(), boost::asio::detached);
}
