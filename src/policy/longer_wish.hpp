#pragma once

#include <asio_retry/pushback.hpp>

namespace asio_retry::detail {

/// The longer one of two wishes. A wish that says nothing is the shorter one. Precondition: neither is `never`.
inline pushback longer_wish(pushback a, pushback b) noexcept {
    return b && (!a || a.delay() < b.delay()) ? b : a;
}

} // namespace asio_retry::detail
