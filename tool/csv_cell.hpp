#pragma once

#include <string>

namespace asio_retry::tool {

/// A cell, in quotation marks if it needs them.
std::string csv_cell(std::string const& text);

} // namespace asio_retry::tool
