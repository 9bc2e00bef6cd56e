#pragma once

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

inline constexpr std::string_view priority_names[] = {"low", "normal", "high"};

inline std::string_view text_of(request_priority rank) {
    return priority_names[static_cast<unsigned>(rank)];
}

inline std::optional<request_priority> priority_named(std::string_view name) {
    auto const found = std::ranges::find(priority_names, name);
    if (found == std::end(priority_names))
        return std::nullopt;
    return static_cast<request_priority>(found - std::begin(priority_names));
}

} // namespace asio_retry::detail
