#include <embedder.hpp>

#include <asio_retry/retry.hpp>

#include <boost/system/errc.hpp>

#include <cstdio>

int main() {
    int attempts = 0;
    auto operation = [&]() -> asio_retry::error_code {
        ++attempts;
        return attempts < 2 ? make_error_code(boost::system::errc::io_error) : asio_retry::error_code();
    };
    asio_retry::error_code const result = asio_retry::retry(operation, usual_policy());
    std::printf("%d attempts: %s\n", attempts, result.message().c_str());
    return !result && attempts == 2 ? 0 : 1;
}
