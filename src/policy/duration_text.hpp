#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <string>

namespace asio_retry::detail {

/// Writes it in the largest unit that divides it, whatever the locale: 1s, 250ms.
ASIO_RETRY_DECL std::string to_text(duration value);

} // namespace asio_retry::detail
