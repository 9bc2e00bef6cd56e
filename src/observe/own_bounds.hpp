#pragma once

#include "observe/buckets.hpp"

#include <cstddef>
#include <cstdint>

namespace asio_retry::detail {

/// Our own durations, in steps of four from a millisecond on.
inline constexpr bucket_bounds<9> own_bounds = [] {
    bucket_bounds<9> made{1e9, {}};
    for (std::size_t i = 0; i != made.bounds.size(); ++i)
        made.bounds[i] = std::int64_t(1'000'000) << 2 * i;
    return made;
}();

} // namespace asio_retry::detail
