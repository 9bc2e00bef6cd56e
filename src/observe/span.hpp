#pragma once

#include "observe/trace_parent.hpp"

#include <asio_retry/duration.hpp>
#include <asio_retry/retry_observer.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::detail {

/// A moment in a span.
struct span_event {
    observation::kind what;
    time_point at{};
    std::uint64_t attempt = 0;
    duration delay{};
    std::string message;
    std::string_view gate;
};

/// The span of an operation or of an attempt.
struct trace_span {
    static constexpr std::size_t most_events = 128; // the default limit of OpenTelemetry
    static constexpr std::size_t most_bytes = 1024; // of one text

    trace_parent ids;
    std::uint64_t parent = 0; // its span; 0: none
    bool has_remote_parent = false;
    bool is_hedge = false;
    std::uint64_t operation = 0;
    std::uint64_t attempt = 0; // 0: the span of the operation
    time_point start{}, end{};
    std::string policy; // its name; empty: none

    // Known at the end.
    std::uint64_t attempts = 0; // of an operation
    stop_reason reason{};       // of an operation
    interruption stopped{};     // of an attempt
    bool has_failed = false;
    std::string error_type, message;
    bool is_exception = false;
    int status = 0;
    std::vector<span_event> events;
    std::uint32_t dropped_events = 0;

    /// Adds an event to an operation. Throws std::bad_alloc.
    void add(observation const& event);

    /// Notes how it ended. Throws std::bad_alloc.
    void close(observation const& event);
};

/// An ExportTraceServiceRequest of OTLP/JSON. `epoch` is the system time of time_point(), in nanoseconds.
std::string otlp_text(std::string_view service, std::list<trace_span> const& spans, std::int64_t epoch);

} // namespace asio_retry::detail
