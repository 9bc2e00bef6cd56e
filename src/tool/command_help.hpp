#pragma once

#include "terminal.hpp"

#include <string>

namespace asio_retry::tool {

/// Returns the help on a command, on all of `simulate`, or on all commands if it is empty; nothing for an
/// unknown command.
std::string help_on(std::string const& command, view const& on);

} // namespace asio_retry::tool
