#pragma once

#include <asio_retry/detail/policy/refuse.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace asio_retry::detail {

/// Refuses an option unless it is `good`.
template <typename Value>
void demand(bool good, std::string_view field, Value value, std::string_view rule) {
    if (good)
        return;
    if constexpr (std::integral<Value>)
        refuse(field, std::to_string(value), rule);
    else
        refuse(field, value, rule);
}

/// Refuses an option unless it is `good`. The rule ends with the name of another field, whose value is added.
template <typename Value>
void demand(bool good, std::string_view field, Value value, std::string_view rule, Value other) {
    if (good)
        return;
    if constexpr (std::integral<Value>)
        refuse(field, std::to_string(value), std::string(rule) + ", which is " + std::to_string(other));
    else
        refuse(field, value, rule, other);
}

/// Refuses NaN, infinity and negative numbers.
inline double amount(std::string_view field, double value) {
    demand(std::isfinite(value) && value >= 0, field, value, "must be finite and not negative");
    return value;
}

inline std::uint32_t count(std::string_view field, std::int64_t value) {
    demand(value > 0, field, value, "must be positive");
    demand(value <= std::numeric_limits<std::uint32_t>::max(), field, value, "must be less than 2^32");
    return static_cast<std::uint32_t>(value);
}

inline double share(std::string_view field, double value) {
    demand(0 < value && value <= 1, field, value, "must be in (0, 1]");
    return value;
}

inline duration positive(std::string_view field, duration value) {
    demand(value > duration::zero(), field, value, "must be positive");
    return value;
}

} // namespace asio_retry::detail
