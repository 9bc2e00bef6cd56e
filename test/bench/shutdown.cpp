// How soon run() returns when a scope of many operations is cancelled or drained: half of them wait, half are
// in an attempt, which acknowledges its cancellation at once.
#include <asio_retry/async_retry.hpp>

#include <boost/asio.hpp>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;

namespace {

using clock_type = std::chrono::steady_clock;

double milliseconds(clock_type::duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
}

void measure(std::size_t count, bool drains) {
    asio::io_context io;
    asio_retry::retry_scope scope(io.get_executor());
    std::deque<asio::steady_timer> attempts;
    auto const policy = asio_retry::retry_policy().backoff(asio_retry::constant(1h)).unlimited_attempts();

    std::size_t acknowledged = 0;
    clock_type::time_point last;
    auto const note = [&](error_code) {
        ++acknowledged;
        last = clock_type::now();
    };
    for (std::size_t i = 0; i < count; i += 2) {
        async_retry(scope, [] { return error_code(asio::error::connection_refused); }, policy, note);
        auto& attempt = attempts.emplace_back(io, clock_type::time_point::max());
        async_retry(scope, [&](auto token) { return attempt.async_wait(std::move(token)); }, policy, note);
    }
    io.poll();

    auto const begin = clock_type::now();
    if (drains)
        scope.async_drain(0s, [](error_code, std::size_t) {});
    else
        scope.cancel();
    auto const told = clock_type::now();
    io.restart();
    io.run();
    auto const returned = clock_type::now();
    std::cout << (drains ? "drain:  " : "cancel: ") << acknowledged << " of " << count << " acknowledged; call "
              << milliseconds(told - begin) << " ms, until the last acknowledgement "
              << milliseconds(last - begin) << " ms, run() returned " << milliseconds(returned - last)
              << " ms after it\n";
}

} // namespace

int main(int argc, char** argv) {
    std::size_t const count = argc > 1 ? std::stoul(argv[1]) : 100'000;
    measure(count, false);
    measure(count, true);
}
