#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::detail {

/// The first key that an object of a JSON text has twice, behind the keys that lead to it; empty if there is
/// none. A json::value keeps only the last of the two. Precondition: the text is JSON.
std::vector<std::string> repeated_key(std::string_view json);

} // namespace asio_retry::detail
