#include "instructions.hpp"

#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <deque>
#include <vector>

namespace asio_retry::bench {
namespace {

struct plain_wait final : detail::wait_node {
private:
    bool on_expiry() override { return true; }
    void on_shutdown() noexcept override {}
};

} // namespace

void schedule_and_cancel(std::size_t count) {
    using namespace std::chrono_literals;
    boost::asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    plain_wait first; // the timer is armed for it
    waits.schedule(first, waits.now() + 1s);
    std::deque<plain_wait> nodes(count);
    random source(1);
    std::vector<time_point> expiries;
    for (std::size_t i = 0; i != count; ++i)
        expiries.push_back(waits.now() + source.uniform(1min, 1h));
    measure([&] {
        for (std::size_t i = 0; i != count; ++i)
            waits.schedule(nodes[i], expiries[i]);
        for (std::size_t i = 0; i != count; ++i)
            waits.cancel(nodes[i * 7919 % count]); // a prime: each once
    });
    waits.cancel(first);
}

} // namespace asio_retry::bench
