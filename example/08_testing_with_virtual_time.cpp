// Hours of backoff in milliseconds: the code under test does not change.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// The code under test: a job that is tried for a day.
template <typename Job>
void start_job(asio::io_context& io, Job job, boost::system::error_code& result) {
    auto const daily = asio_retry::retry_policy()
                           .backoff(asio_retry::exponential(1min).cap(1h))
                           .jitter(asio_retry::no_jitter())
                           .unlimited_attempts()
                           .max_elapsed(24h);
    asio_retry::async_retry(io, std::move(job), daily, [&](boost::system::error_code ec) { result = ec; });
}

int failures = 0;

void expect(bool holds, char const* what) {
    std::cout << (holds ? "ok: " : "FAILED: ") << what << '\n';
    failures += holds ? 0 : 1;
}

int main() {
    asio::io_context io;
    asio_retry::virtual_time time(io); // before the first wait on io
    auto const begin = time.now();

    int attempts = 0;
    boost::system::error_code result;
    auto const down = [&]() -> boost::system::error_code {
        ++attempts;
        return asio::error::host_unreachable;
    };
    start_job(io, down, result);
    expect(attempts == 1, "the first attempt is made at once");
    time.advance(1min - 1ns);
    expect(attempts == 1, "the second not before a minute has passed");
    time.advance(1ns);
    expect(attempts == 2, "but then");
    time.run();
    expect(time.now() - begin <= 24h, "it ends within a day");
    expect(result == asio::error::host_unreachable, "with the last error");
    return failures == 0 ? 0 : 1;
}
