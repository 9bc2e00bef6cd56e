// expected: asio_retry: the completion signature of the operation must be void(error_code, T...) or
// void(std::exception_ptr, T...)
#include <asio_retry/async_retry.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>

#ifdef FAULT_REMOVED
using signature = void(asio_retry::error_code, int);
#else
using signature = void(int);
#endif

struct initiation {
    template <typename Handler>
    void operator()(Handler&& handler) const {
#ifdef FAULT_REMOVED
        std::forward<Handler>(handler)(asio_retry::error_code(), 1);
#else
        std::forward<Handler>(handler)(1);
#endif
    }
};

struct operation {
    template <typename Token>
    auto operator()(Token token) const {
        return boost::asio::async_initiate<Token, signature>(initiation(), token);
    }
};

boost::asio::awaitable<int> session() {
    co_return co_await asio_retry::async_retry(operation(), asio_retry::retry_policy());
}
