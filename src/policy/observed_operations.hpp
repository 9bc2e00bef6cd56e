#pragma once

#include <atomic>
#include <cstdint>

namespace asio_retry::detail {

/// The number of the next operation that has an observer, from 1.
inline std::uint64_t next_operation() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

} // namespace asio_retry::detail
