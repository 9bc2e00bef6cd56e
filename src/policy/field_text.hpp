#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <optional>
#include <string_view>

namespace asio_retry::detail {

// Parsers for the values of fields. The other program has written them: they take any text, and never throw.

inline bool is_digit(char c) noexcept {
    return '0' <= c && c <= '9';
}

inline std::string_view without_blanks(std::string_view text) noexcept {
    auto const first = text.find_first_not_of(" \t");
    if (first == text.npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Digits only; a number that is too great becomes the greatest.
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text) noexcept {
    if (text.empty() || !std::ranges::all_of(text, is_digit))
        return std::nullopt;
    constexpr auto greatest = std::numeric_limits<Number>::max();
    Number number = 0;
    for (char const c : text) {
        auto const digit = static_cast<Number>(c - '0');
        if (number > (greatest - digit) / 10)
            return greatest;
        number = number * 10 + digit;
    }
    return number;
}

} // namespace asio_retry::detail
