#pragma once

#include <asio_retry/observe/retry_metrics.hpp>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdint>

namespace gateway {

/// Runs a context, and keeps how long its longest turn was: the CPU time that a thread spends on one event. All
/// others that the same thread could serve wait for it.
///
/// CPU time does not count what else the machine does. Where a system cannot tell it, there is no gauge.
class turns {
public:
    /// Adds `gateway_longest_turn_seconds`, which reads this while the metrics exist.
    void add_to(asio_retry::retry_metrics& metrics) const;

    /// As `io.run()`, in any number of threads.
    void run(boost::asio::io_context& io);

private:
    void keep(std::int64_t turn_ns) noexcept;

    std::atomic<std::int64_t> longest_ns_ = 0;
};

} // namespace gateway
