#include "turns.hpp"

#include <ctime>
#include <optional>

namespace gateway {
namespace {

constexpr std::int64_t long_ns = 5'000'000;

/// CPU time of this thread. None where the system does not tell it.
std::optional<std::int64_t> thread_cpu_ns() noexcept {
#if defined(CLOCK_THREAD_CPUTIME_ID)
    std::timespec now{};
    if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0)
        return now.tv_sec * std::int64_t(1'000'000'000) + now.tv_nsec;
#endif
    return std::nullopt;
}

} // namespace

void turns::add_to(asio_retry::retry_metrics& metrics) const {
    if (!thread_cpu_ns())
        return;
    metrics.add_gauge("gateway_longest_turn_seconds",
                      "Greatest CPU time of a thread for one event since the start.",
                      [this] { return static_cast<double>(longest_ns_.load()) / 1e9; });
    metrics.add_gauge("gateway_long_turns",
                      "Events since the start that took a thread more than 5 ms of CPU time.",
                      [this] { return static_cast<double>(long_.load()); });
}

void turns::run(boost::asio::io_context& io) {
    auto began = thread_cpu_ns();
    if (!began) {
        io.run();
        return;
    }
    while (io.run_one() != 0) {
        auto const ended = thread_cpu_ns();
        if (ended)
            keep(*ended - *began);
        began = ended;
    }
}

void turns::keep(std::int64_t turn_ns) noexcept {
    if (turn_ns > long_ns)
        ++long_;
    auto longest = longest_ns_.load(std::memory_order_relaxed);
    while (turn_ns > longest && !longest_ns_.compare_exchange_weak(longest, turn_ns, std::memory_order_relaxed))
        ;
}

} // namespace gateway
