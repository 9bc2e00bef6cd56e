#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <string>

namespace asio_retry::detail {

/// Writes a duration in the largest unit that divides it, in any locale: 1s, 250ms.
ASIO_RETRY_DECL std::string to_text(duration value);

} // namespace asio_retry::detail
