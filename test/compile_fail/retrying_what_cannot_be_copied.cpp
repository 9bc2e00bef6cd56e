// expected alone: retrying: an argument of this operation cannot be copied, so it cannot be started again; use
// async_retry with a callable that makes the argument for each attempt
#include <asio_retry/retrying.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>

#include <memory>

struct initiation {
    using executor_type = boost::asio::io_context::executor_type;
    executor_type executor;
    executor_type get_executor() const noexcept { return executor; }

    template <typename Handler, typename Argument>
    void operator()(Handler&& handler, Argument) const {
        std::forward<Handler>(handler)(asio_retry::error_code());
    }
};

template <typename Token>
auto async_use(boost::asio::io_context& io, std::unique_ptr<int> argument, Token&& token) {
#ifdef FAULT_REMOVED
    return boost::asio::async_initiate<Token, void(asio_retry::error_code)>(initiation{io.get_executor()},
                                                                            token, *argument);
#else
    return boost::asio::async_initiate<Token, void(asio_retry::error_code)>(initiation{io.get_executor()},
                                                                            token, std::move(argument));
#endif
}

void start(boost::asio::io_context& io) {
    async_use(io, std::make_unique<int>(),
              asio_retry::retrying(asio_retry::retry_policy(), [](asio_retry::error_code) {}));
}
