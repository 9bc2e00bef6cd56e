#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace asio_retry::detail {

/// The ids of a span, and whether it is sampled, as the field `traceparent` names it (W3C Trace Context).
struct trace_parent {
    std::uint64_t trace_high = 0, trace_low = 0;
    std::uint64_t span = 0;
    bool is_sampled = false;
    bool is_present = false; // otherwise there was no such field
};

/// Appends 16 digits.
void append_id(std::string& text, std::uint64_t id);

/// The field as version 00.
std::string to_field(trace_parent const& span);

/// Reads a field. It takes any text.
trace_parent parse_traceparent(std::string_view field) noexcept;

} // namespace asio_retry::detail
