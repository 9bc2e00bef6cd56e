// expected at once: asio_retry: the handler must take what this operation completes with: (D, T...), where D
// tells its failure and T... are its results
#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_of.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>

#ifdef FAULT_REMOVED
using status = asio_retry::error_code;
#else
struct status {
    int number = 0;
};
template <>
struct asio_retry::failure_of<status> {
    static bool failed(status const& s) { return s.number != 0; }
    static asio_retry::error_code code(status const& s) { return asio_retry::error(s.number); }
    static status make(asio_retry::error_code const& code) { return {code.value()}; }
};
#endif

struct operation {
    template <typename Token>
    auto operator()(Token&& token) const {
        return boost::asio::async_initiate<Token, void(status)>(
            [](auto handler) { std::move(handler)(status()); }, token);
    }
};

void start(boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    asio_retry::async_retry(io, operation(), asio_retry::retry_policy(), [](status) {});
#else
    asio_retry::async_retry(io, operation(), asio_retry::retry_policy(), [](int) {});
#endif
}
