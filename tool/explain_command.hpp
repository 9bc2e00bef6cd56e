#pragma once

#include "options.hpp"
#include "terminal.hpp"

#include <ostream>

namespace asio_retry::tool {

/// Explains the policies in the format that was asked for. Throws what `policies_of` throws.
void print_explanations(std::ostream& out, explain_options const& asked, view const& on);

} // namespace asio_retry::tool
