// expected alone: retrying: result types must be default-constructible: use a std::optional of the type; an
// acceptor takes the socket: async_accept(socket, retrying(policy))
#include <asio_retry/retrying.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>

#ifdef FAULT_REMOVED
using value = int;
#else
struct value {
    explicit value(int) {}
};
#endif

struct initiation {
    using executor_type = boost::asio::io_context::executor_type;
    executor_type executor;
    executor_type get_executor() const noexcept { return executor; }

    template <typename Handler>
    void operator()(Handler&& handler) const {
        std::forward<Handler>(handler)(asio_retry::error_code(), value(1));
    }
};

template <typename Token>
auto async_use(boost::asio::io_context& io, Token&& token) {
    return boost::asio::async_initiate<Token, void(asio_retry::error_code, value)>(
        initiation{io.get_executor()}, token);
}

void start(boost::asio::io_context& io) {
    async_use(io,
              asio_retry::retrying(asio_retry::retry_policy(), [](asio_retry::error_code, value const&) {}));
}
