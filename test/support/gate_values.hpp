#pragma once

#include <asio_retry/duration.hpp>

#include <chrono>
#include <limits>

namespace asio_retry::test {

inline constexpr time_point noon(std::chrono::hours(12));
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

} // namespace asio_retry::test
