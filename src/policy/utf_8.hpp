#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <cstddef>
#include <string_view>

namespace asio_retry::detail {

/// The number of bytes of the first character; 0 if it is not UTF-8 (RFC 3629, section 4).
ASIO_RETRY_DECL std::size_t length_of_first_character(std::string_view text) noexcept;
ASIO_RETRY_DECL bool is_utf_8(std::string_view text) noexcept;

} // namespace asio_retry::detail
