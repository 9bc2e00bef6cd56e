#pragma once

#include <atomic>
#include <cstdint>

namespace asio_retry::detail {

/// A ticket that no other admission of the process has. Its highest bit is set; gates make tickets of their own
/// without that bit.
inline std::uint64_t new_gate_ticket() noexcept {
    static std::atomic<std::uint64_t> next = std::uint64_t(1) << 63;
    return next.fetch_add(1, std::memory_order_relaxed);
}

} // namespace asio_retry::detail
