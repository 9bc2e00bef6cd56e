#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace asio_retry::detail {

/// What a histogram has counted. `src/observe/buckets.hpp` knows the bounds.
template <std::size_t Bounds>
struct bucket_counts {
    std::array<std::atomic<std::uint64_t>, Bounds + 1> values{}; // the last is of values above every bound
    std::atomic<double> sum = 0;
};

} // namespace asio_retry::detail
