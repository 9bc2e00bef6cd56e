#pragma once

#include <asio_retry/random.hpp>

namespace asio_retry::lab {

/// A random number in (0, 1], the same on every platform.
inline double drawn_share(random& source) {
    return (static_cast<double>(source() >> 11) + 1) * 0x1p-53;
}

} // namespace asio_retry::lab
