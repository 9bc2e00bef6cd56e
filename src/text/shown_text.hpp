#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace asio_retry::detail {

/// What somebody else wrote, as a message may show it: without what cannot be shown, and not too long.
ASIO_RETRY_DECL std::string shown(std::string_view found, std::size_t most = 40);

} // namespace asio_retry::detail
