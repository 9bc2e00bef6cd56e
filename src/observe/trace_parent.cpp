#include "observe/trace_parent.hpp"

#include "policy/field_text.hpp"

namespace asio_retry::detail {
namespace {

/// Reads lower-case digits. None for any other text.
std::optional<std::uint64_t> hexadecimal(std::string_view text) noexcept {
    std::uint64_t number = 0;
    for (char const c : text) {
        auto const digit = std::string_view("0123456789abcdef").find(c);
        if (digit == std::string_view::npos)
            return std::nullopt;
        number = number << 4 | digit;
    }
    return number;
}

constexpr std::size_t field_length = 55; // of version 00

} // namespace

void append_id(std::string& text, std::uint64_t id) {
    for (int shift = 60; shift >= 0; shift -= 4)
        text += "0123456789abcdef"[id >> shift & 0xf];
}

std::string to_field(trace_parent const& span) {
    std::string text;
    text.reserve(field_length);
    text += "00-";
    append_id(text, span.trace_high);
    append_id(text, span.trace_low);
    text += '-';
    append_id(text, span.span);
    text += span.is_sampled ? "-01" : "-00";
    return text;
}

/// Reads the beginning of a later version as version 00 (section 3.2.4).
trace_parent parse_traceparent(std::string_view field) noexcept {
    field = without_blanks(field);
    if (field.size() < field_length || field[2] != '-' || field[35] != '-' || field[52] != '-')
        return {};
    auto const version = hexadecimal(field.substr(0, 2));
    bool const has_right_length = version == 0u ? field.size() == field_length
                                                : field.size() == field_length || field[field_length] == '-';
    if (!version || version == 0xffu || !has_right_length)
        return {};
    auto const high = hexadecimal(field.substr(3, 16)), low = hexadecimal(field.substr(19, 16));
    auto const span = hexadecimal(field.substr(36, 16)), flags = hexadecimal(field.substr(53, 2));
    if (!high || !low || !span || !flags || (*high | *low) == 0 || *span == 0)
        return {};
    return {*high, *low, *span, (*flags & 1u) != 0, true};
}

} // namespace asio_retry::detail
