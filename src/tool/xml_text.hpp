#pragma once

#include <string>
#include <string_view>

namespace asio_retry::tool {

/// For the content of an element. What is no UTF-8, and what XML 1.0 cannot have, becomes U+FFFD.
std::string xml_escaped(std::string_view text);

} // namespace asio_retry::tool
