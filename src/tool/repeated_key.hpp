#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::tool {

/// The first key that stands twice in one object of a JSON text, behind the keys that it stands in; empty if
/// there is none. A json::value has but the last of the two. Precondition: it is JSON.
std::vector<std::string> repeated_key(std::string_view json);

} // namespace asio_retry::tool
