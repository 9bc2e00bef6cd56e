#pragma once

#include <string>
#include <string_view>

namespace asio_retry::tool {

/// Escapes text for an element. Invalid UTF-8, and characters that XML 1.0 cannot hold, become U+FFFD.
std::string xml_escaped(std::string_view text);

} // namespace asio_retry::tool
