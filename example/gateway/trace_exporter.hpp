#pragma once

#include "settings.hpp"
#include "upstream_connections.hpp"

#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/observe/retry_traces.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <cstdint>
#include <string>

namespace gateway {

/// Sends the spans of requests to a collector: once a second, in one request at a time. No request waits for
/// it.
class trace_exporter {
public:
    /// The metrics read this while they exist.
    trace_exporter(trace_collector const& where, boost::asio::any_io_executor const& executor,
                   asio_retry::retry_metrics& metrics);

    asio_retry::retry_traces const& traces() const noexcept { return traces_; }

    /// Sends what is left, for two seconds at most. Returns how many spans did not arrive, since the start.
    boost::asio::awaitable<std::uint64_t> finish();

    /// Gives up what is being sent, from any thread.
    void cancel() { scope_.cancel(); }

private:
    boost::asio::awaitable<void> run();
    boost::asio::awaitable<void> send_all();
    boost::asio::awaitable<bool> send(std::string json);

    trace_collector const where_;
    boost::asio::strand<boost::asio::any_io_executor> const strand_;
    asio_retry::retry_traces traces_;
    asio_retry::retry_scope scope_; // of run(), as an operation with one attempt
    boost::asio::steady_timer pause_;
    upstream_connections connection_;
    bool is_stopped_ = false;
    std::atomic<std::uint64_t> sent_ = 0, lost_ = 0;
};

} // namespace gateway
