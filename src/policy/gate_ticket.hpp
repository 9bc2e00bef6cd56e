#pragma once

#include <atomic>
#include <cstdint>

namespace asio_retry::detail {

/// A ticket that no other admission of the process has. Its first bit is set: gates may number others by
/// themselves.
inline std::uint64_t new_gate_ticket() noexcept {
    static std::atomic<std::uint64_t> next = std::uint64_t(1) << 63;
    return next.fetch_add(1, std::memory_order_relaxed);
}

} // namespace asio_retry::detail
