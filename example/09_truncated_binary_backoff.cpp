// Truncated binary exponential backoff without coroutines: growth stops after 10 failures, and whoever has
// failed that often is back within 10 seconds. Once with a callback, once with a future.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio.hpp>

#include <future>
#include <iostream>
#include <stdexcept>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Succeeds when it is called for the 13th time.
class service {
public:
    int call() {
        if (++calls_ < 13)
            throw std::runtime_error("failed");
        return calls_;
    }

private:
    int calls_ = 0;
};

int main() {
    asio::io_context io;
    asio_retry::virtual_time time(io); // so that this takes no time; leave it out to wait for real

    auto const backoff = asio_retry::truncated_binary(10, 10s);
    bool in_range = true;
    auto const print = [&](asio_retry::retry_event const& e) {
        auto const ceiling = backoff.ceiling(e.attempt);
        in_range = in_range && e.delay >= 0ns && e.delay <= ceiling;
        std::cout << "failure " << e.attempt << ": at most " << ceiling / 1us << " us\n";
    };
    auto const for_ever =
        asio_retry::retry_policy().backoff(backoff).jitter(asio_retry::full_jitter()).unlimited_attempts();

    service first;
    asio_retry::async_retry(
        io, [&] { return first.call(); }, for_ever.on_retry(print),
        [](std::exception_ptr e, int result) {
            std::cout << (e ? "callback: failed\n" : "callback: call ") << result << '\n';
        });
    time.run();

    service second;
    std::future<int> future =
        asio_retry::async_retry(io, [&] { return second.call(); }, for_ever, asio::use_future);
    time.run();
    std::cout << "future: call " << future.get() << (in_range ? "" : ", a delay was out of its range") << '\n';
}
