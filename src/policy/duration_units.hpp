#pragma once

#include <cstdint>
#include <string_view>

namespace asio_retry::detail {

struct duration_unit {
    std::string_view name;
    std::uint64_t nanoseconds;
};

/// The units of durations, the largest first.
inline constexpr duration_unit duration_units[] = {
    {"h", 3'600'000'000'000}, {"min", 60'000'000'000}, {"s", 1'000'000'000},
    {"ms", 1'000'000},        {"us", 1'000},           {"ns", 1}};

} // namespace asio_retry::detail
