#pragma once

#include "text/term.hpp"

#include <asio_retry/failure_class.hpp>
#include <asio_retry/gate_waiter.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace asio_retry::detail {

/// In the order of their values.
inline constexpr std::string_view failure_kind_names[] = {"none",    "permanent", "transient",
                                                          "timeout", "throttled", "overloaded"};

inline std::string_view text_of(failure_kind kind) {
    return failure_kind_names[static_cast<unsigned>(kind)];
}

inline std::optional<failure_kind> failure_kind_named(std::string_view name) {
    auto const found = std::ranges::find(failure_kind_names, name);
    if (found == std::end(failure_kind_names))
        return std::nullopt;
    return static_cast<failure_kind>(found - std::begin(failure_kind_names));
}

inline constexpr std::string_view request_priority_names[] = {"low", "normal", "high"};

inline std::string_view text_of(request_priority rank) {
    return request_priority_names[static_cast<unsigned>(rank)];
}

/// Gives the argument the value that the word names. Returns false if there is none.
inline bool read_enumerator(argument& to, std::string_view word) {
    if (auto const kind = failure_kind_named(word)) {
        to.value = *kind;
        return true;
    }
    auto const found = std::ranges::find(request_priority_names, word);
    if (found == std::end(request_priority_names))
        return false;
    to.value = static_cast<request_priority>(found - std::begin(request_priority_names));
    return true;
}

} // namespace asio_retry::detail
