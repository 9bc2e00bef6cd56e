#pragma once

#include <string>

namespace asio_retry::tool {

/// In quotation marks where it needs them.
std::string csv_cell(std::string const& text);

} // namespace asio_retry::tool
