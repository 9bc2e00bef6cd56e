#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/retry_observer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace asio_retry {

namespace detail {
class trace_store;
struct trace_parent;
} // namespace detail

/// The options of `retry_traces`.
struct trace_options {
    std::string service = "unknown_service"; ///< the resource's `service.name`; UTF-8
    double sampled = 1;                      ///< the share of operations that are traced, in [0, 1]
    std::size_t greatest = 10'000;           ///< the greatest number of spans in memory; from 1 to 10 million
    std::optional<std::uint64_t> seed = {};  ///< seed of the ids; none: a random one
    /// The system time of time_point(); none: as the system's clock says when the object is made.
    std::optional<std::chrono::sys_time<std::chrono::nanoseconds>> epoch = {};
};

/// The spans of operations that continue the trace of a request; `retry_traces::request` makes it.
///
/// Thread safety: call any function from any thread.
class ASIO_RETRY_DECL request_trace final : public retry_observer {
public:
    ~request_trace() override;

    /// The field `traceparent` for what the attempt sends: see retry_traces::traceparent.
    ///
    /// If the request is not sampled, this has the request's own ids.
    std::string traceparent(attempt const& which) const;

    bool wants(std::uint64_t operation) noexcept override;
    void on_event(observation const& event) noexcept override;

private:
    friend class retry_traces;
    request_trace(std::shared_ptr<detail::trace_store> store, detail::trace_parent const& parent);

    std::shared_ptr<detail::trace_store> const store_;
    std::unique_ptr<detail::trace_parent const> const parent_;
};

/// Makes spans of operations and their attempts, for OpenTelemetry: `policy.observe(traces)`.
///
/// An operation is a span of kind internal. Each attempt is a span of kind client within it. Waits, refusals
/// and hedges are events of the operation's span. With `retry_policy::name` the names of spans end with it, as
/// "retry orders.get" and "attempt orders.get". A failure sets the status of a span, with its message.
/// The program sends `otlp_json()` to a collector.
///
/// - A share of the operations is sampled. The others cost a virtual call, and allocate nothing.
/// - Memory is bounded: beyond `greatest` spans, new spans are dropped and counted. A span keeps 128 events and
///   1024 bytes of each text.
/// - The names of attributes are those of OpenTelemetry's semantic conventions, where there is one, and begin
///   with `asio_retry.` otherwise.
///
/// Thread safety: call any function from any thread. A sampled operation takes a lock at each event, for as
/// long as a look into a table takes.
class ASIO_RETRY_DECL retry_traces final : public retry_observer {
public:
    /// Throws std::invalid_argument for an option outside its range.
    explicit retry_traces(trace_options const& options = {});
    ~retry_traces() override;

    /// The field `traceparent` of W3C Trace Context, version 00, for what the attempt sends.
    ///
    /// It names the span of this attempt. If the operation is not sampled, it says so, and its ids are of no
    /// span. Precondition: the attempt is running.
    std::string traceparent(attempt const& which) const;

    /// An observer for the operations of one request: their spans continue the trace that `traceparent` names.
    ///
    /// `traceparent` is the field that came with the request. If that is sampled, so are the operations. If it
    /// is absent or malformed, the operations begin traces of their own, by the option `sampled`.
    std::shared_ptr<request_trace> request(std::string_view traceparent) const;

    /// Returns at most `most` ended spans, as an ExportTraceServiceRequest of OTLP/JSON, and forgets them.
    ///
    /// Its media type is `application/json`; collectors expect it at `/v1/traces`. The bound keeps one call
    /// short: call it again while `ended()` is not 0. Throws std::bad_alloc, and then has forgotten nothing.
    std::string otlp_json(std::size_t most = 512);

    /// How many ended spans wait for otlp_json().
    std::size_t ended() const noexcept;

    /// How many spans were not made, because `greatest` were in memory or there was no memory.
    std::uint64_t dropped() const noexcept;

    bool wants(std::uint64_t operation) noexcept override;
    void on_event(observation const& event) noexcept override;

private:
    std::shared_ptr<detail::trace_store> const store_;
};

} // namespace asio_retry
