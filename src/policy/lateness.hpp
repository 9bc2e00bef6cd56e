#pragma once

#include <asio_retry/duration.hpp>

#include <chrono>

namespace asio_retry::detail {

/// Timers and handlers are as late as this even if nothing stands still: by less costs nothing.
inline constexpr duration always_late = std::chrono::milliseconds(10);

} // namespace asio_retry::detail
