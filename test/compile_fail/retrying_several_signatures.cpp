// expected alone: retrying: operations with several completion signatures are not supported
#include <asio_retry/retrying.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>

using asio_retry::error_code;

struct initiation {
    using executor_type = boost::asio::io_context::executor_type;
    executor_type executor;
    executor_type get_executor() const noexcept { return executor; }

    template <typename Handler>
    void operator()(Handler&& handler) const {
        std::forward<Handler>(handler)(error_code(), 1);
    }
};

template <typename Token>
auto async_use(boost::asio::io_context& io, Token&& token) {
#ifdef FAULT_REMOVED
    return boost::asio::async_initiate<Token, void(error_code, int)>(initiation{io.get_executor()}, token);
#else
    return boost::asio::async_initiate<Token, void(error_code, int), void(error_code)>(
        initiation{io.get_executor()}, token);
#endif
}

struct handler {
    void operator()(error_code) const;
    void operator()(error_code, int) const;
};

void start(boost::asio::io_context& io) {
    async_use(io, asio_retry::retrying(asio_retry::retry_policy(), handler()));
}
