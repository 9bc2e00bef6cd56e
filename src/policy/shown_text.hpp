#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace asio_retry::detail {

/// Makes a foreign text fit for a message: escapes bytes outside printable ASCII, and shortens it.
ASIO_RETRY_DECL std::string shown(std::string_view found, std::size_t most = 40);

} // namespace asio_retry::detail
