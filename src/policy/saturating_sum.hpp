#pragma once

#include <asio_retry/duration.hpp>

namespace asio_retry::detail {

/// Precondition: neither is negative.
constexpr duration saturating_sum(duration a, duration b) noexcept {
    return a > (duration::max)() - b ? (duration::max)() : a + b;
}

} // namespace asio_retry::detail
