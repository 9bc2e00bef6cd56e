// expected: async_retry: what the operation completes with must have a default constructor, for where it
// fails; a std::optional of it has one, and what returns permanent(ec) is given -> error_code
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
