// Backoff and jitter are callables: any rule for the delay fits in.
#include <asio_retry/async_retry.hpp>

#include <boost/asio.hpp>

#include <array>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

int main() {
    asio::io_context io;

    // Ceilings from a table: the last entry goes for all failures after it.
    auto const table = [](std::uint64_t failures) -> asio_retry::duration {
        constexpr std::array delays{2ms, 4ms, 8ms};
        return delays[std::min<std::size_t>(failures, delays.size()) - 1];
    };
    // Never less than half of the ceiling.
    auto const upper_half = [](asio_retry::backoff_step step, asio_retry::random& random) {
        return random.uniform(step.ceiling / 2, step.ceiling);
    };
    bool in_range = true;
    auto const check = [&](asio_retry::retry_event const& e) {
        auto const ceiling = table(e.attempt);
        std::cout << "after failure " << e.attempt << " at most " << ceiling / 1ms << " ms\n";
        in_range = in_range && e.delay >= ceiling / 2 && e.delay <= ceiling;
    };
    auto const policy =
        asio_retry::retry_policy().backoff(table).jitter(upper_half).max_attempts(5).on_retry(check);

    auto const refuse = [] { return boost::system::error_code(asio::error::connection_refused); };
    asio_retry::async_retry(io, refuse, policy, [&](boost::system::error_code ec) {
        std::cout << ec.message() << (in_range ? "" : ", and a delay was out of its range") << '\n';
    });
    io.run();
}
