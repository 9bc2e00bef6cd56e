#pragma once

#include <asio_retry/duration.hpp>

#include <chrono>

namespace asio_retry::detail {

/// Timers and handlers are late by this much on a healthy machine, so an attempt that is less late loses
/// nothing.
inline constexpr duration always_late = std::chrono::milliseconds(10);

} // namespace asio_retry::detail
