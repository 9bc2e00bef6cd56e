// expected: asio_retry: the operation is called as an lvalue once per attempt, but its call operator is for
// rvalues only
#include <asio_retry/async_retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

struct operation {
    boost::asio::steady_timer& timer;

    template <typename Token>
#ifdef FAULT_REMOVED
    auto operator()(Token token){
#else
    auto operator()(Token token) && {
#endif
        return timer.async_wait(std::move(token));
}
}
;

boost::asio::awaitable<void> session(boost::asio::steady_timer& timer) {
    operation wait{timer};
    co_await asio_retry::async_retry(wait, asio_retry::retry_policy(), boost::asio::use_awaitable);
}
