#pragma once

#include <asio_retry/observe/retry_metrics.hpp>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace gateway {

/// Runs a context, and measures its turns: the CPU time that a thread spends on one event. All others that the
/// same thread could serve wait for it.
///
/// It includes what the system takes for the wait and for interrupts, a few milliseconds now and then on busy
/// processors. Where a system does not tell the time, as Windows, it is 0.
class turns {
public:
    /// Adds `gateway_longest_turn_seconds` and `gateway_long_turns`, which read this while the metrics exist.
    void add_to(asio_retry::retry_metrics& metrics) const {
        metrics.add_gauge("gateway_longest_turn_seconds",
                          "Greatest CPU time of a thread for one event since the start.",
                          [this] { return static_cast<double>(longest_ns_.load()) / 1e9; });
        metrics.add_gauge("gateway_long_turns",
                          "Events since the start that took a thread more than 5 ms of CPU time.",
                          [this] { return static_cast<double>(long_.load()); });
    }

    /// As `io.run()`, in any number of threads.
    void run(boost::asio::io_context& io) {
        auto began = thread_cpu_ns();
        while (io.run_one() != 0) {
            auto const ended = thread_cpu_ns();
            keep(ended - began);
            began = ended;
        }
    }

private:
    static std::int64_t thread_cpu_ns() noexcept {
        std::timespec now{};
#if defined(CLOCK_THREAD_CPUTIME_ID)
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
#endif
        return now.tv_sec * std::int64_t(1'000'000'000) + now.tv_nsec;
    }

    void keep(std::int64_t turn_ns) noexcept {
        if (turn_ns > 5'000'000)
            ++long_;
        auto longest = longest_ns_.load(std::memory_order_relaxed);
        while (turn_ns > longest &&
               !longest_ns_.compare_exchange_weak(longest, turn_ns, std::memory_order_relaxed))
            ;
    }

    std::atomic<std::int64_t> longest_ns_ = 0;
    std::atomic<std::uint64_t> long_ = 0; ///< how many
};

} // namespace gateway
