// expected: asio_retry: result types must be default-constructible: use a std::optional of the type; a
// callable that returns permanent(ec) needs the return type error_code
#include <asio_retry/async_retry.hpp>
#include <asio_retry/permanent.hpp>

#include <boost/asio/io_context.hpp>

void start(boost::asio::io_context& io) {
    auto code = [] { return make_error_code(boost::system::errc::not_supported); };
#ifdef FAULT_REMOVED
    auto operation = [code]() -> boost::system::error_code { return asio_retry::permanent(code()); };
#else
    auto operation = [code] { return asio_retry::permanent(code()); };
#endif
    auto handler = [](auto&&...) {};
    asio_retry::async_retry(io, operation, asio_retry::retry_policy(), handler);
}
