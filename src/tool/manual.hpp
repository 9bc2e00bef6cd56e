#pragma once

#include <ostream>
#include <string>

namespace asio_retry::tool {

/// Prints the manual page in man's language.
void print_manual(std::ostream& out, std::string const& version);

/// Throws std::invalid_argument for any shell but bash and zsh.
void print_completion(std::ostream& out, std::string const& shell);

} // namespace asio_retry::tool
