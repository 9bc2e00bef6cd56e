#pragma once

#include "terminal.hpp"

#include <string>

namespace asio_retry::tool {

/// The help on a command, on all of `simulate`, or on all of them where it is empty; nothing for one that is
/// unknown.
std::string help_on(std::string const& command, view const& on);

} // namespace asio_retry::tool
