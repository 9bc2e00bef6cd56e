// expected: failure_of: it must say whether this disposition is a failure: static bool
// failed(Disposition const&)
#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_of.hpp>
#include <asio_retry/retrying.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#ifdef FAULT_REMOVED
using status = asio_retry::error_code;
#else
struct status {
    int number = 0;
};
template <>
struct asio_retry::failure_of<status> {
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

void start([[maybe_unused]] boost::asio::io_context& io) {
    asio_retry::async_retry(io, operation(), asio_retry::retry_policy(), boost::asio::detached);
}
