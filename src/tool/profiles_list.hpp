#pragma once

#include "options.hpp"
#include "terminal.hpp"

#include <ostream>

namespace asio_retry::tool {

/// The profiles of the library: their names, what they are, and where they come from.
void print_profiles(std::ostream& out, format as, view const& on);

} // namespace asio_retry::tool
