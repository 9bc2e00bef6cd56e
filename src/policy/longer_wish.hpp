#pragma once

#include <asio_retry/pushback.hpp>

namespace asio_retry::detail {

/// Of two wishes, neither of them `never`; one that says nothing is the shorter one.
inline pushback longer_wish(pushback a, pushback b) noexcept {
    return b && (!a || a.delay() < b.delay()) ? b : a;
}

} // namespace asio_retry::detail
