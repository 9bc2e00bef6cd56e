// expected: asio_retry: operations with several completion signatures are not supported
#include <asio_retry/async_retry.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>

using asio_retry::error_code;

struct initiation {
    template <typename Handler>
    void operator()(Handler&& handler) const {
        std::forward<Handler>(handler)(error_code(), 1);
    }
};

struct operation {
    template <typename Token>
    auto operator()(Token token) const {
#ifdef FAULT_REMOVED
        return boost::asio::async_initiate<Token, void(error_code, int)>(initiation(), token);
#else
        return boost::asio::async_initiate<Token, void(error_code, int), void(error_code)>(initiation(), token);
#endif
    }
};

struct handler {
    void operator()(error_code) const;
    void operator()(error_code, int) const;
};

void start(boost::asio::io_context& io) {
    asio_retry::async_retry(io, operation(), asio_retry::retry_policy(), handler());
}
