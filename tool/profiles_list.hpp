#pragma once

#include "options.hpp"
#include "terminal.hpp"

#include <ostream>

namespace asio_retry::tool {

/// Prints the library's profiles: name, meaning and source.
void print_profiles(std::ostream& out, format as, view const& on);

} // namespace asio_retry::tool
