#pragma once

#include "options.hpp"
#include "terminal.hpp"

#include <ostream>

namespace asio_retry::tool {

/// Explains what is asked for, in the format that is asked for. Throws as `policies_of`.
void print_explanations(std::ostream& out, explain_options const& asked, view const& on);

} // namespace asio_retry::tool
