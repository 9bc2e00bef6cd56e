#pragma once

#include <asio_retry/observe/retry_metrics.hpp>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdint>

namespace gateway {

/// Runs a context, and measures its turns: the CPU time that a thread spends on one event. All others that the
/// same thread could serve wait for it.
///
/// It includes what the system takes for the wait and for interrupts, a few milliseconds now and then on busy
/// processors. Where a system cannot tell the time, there is no gauge.
class turns {
public:
    /// Adds `gateway_longest_turn_seconds` and `gateway_long_turns`, which read this while the metrics exist.
    void add_to(asio_retry::retry_metrics& metrics) const;

    /// As `io.run()`, in any number of threads.
    void run(boost::asio::io_context& io);

private:
    void keep(std::int64_t turn_ns) noexcept;

    std::atomic<std::int64_t> longest_ns_ = 0;
    std::atomic<std::uint64_t> long_ = 0; ///< how many
};

} // namespace gateway
