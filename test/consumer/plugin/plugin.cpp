#include <asio_retry/async_retry.hpp>
#include <asio_retry/policy_text.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>

/// The number of attempts until the third has succeeded.
extern "C" int attempts_in_the_plugin() {
    boost::asio::io_context io;
    int attempts = 0;
    auto operation = [&] {
        return ++attempts < 3 ? boost::asio::error::make_error_code(boost::asio::error::connection_refused)
                              : boost::system::error_code();
    };
    auto const policy = asio_retry::parse_policy("constant(1ms) max_attempts(5)");
    asio_retry::async_retry(io, operation, policy, [&](boost::system::error_code ec) {
        if (ec)
            attempts = -1;
    });
    io.run();
    return attempts;
}
