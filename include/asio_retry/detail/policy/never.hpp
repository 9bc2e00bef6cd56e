#pragma once

namespace asio_retry::detail {

/// False, but only known when a template is instantiated with the type.
template <typename>
inline constexpr bool never = false;

} // namespace asio_retry::detail
