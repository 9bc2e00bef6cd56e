#pragma once

#include <ostream>
#include <string>

namespace asio_retry::tool {

/// The manual page, in the language of man.
void print_manual(std::ostream& out, std::string const& version);

/// Throws std::invalid_argument for a shell that is neither bash nor zsh.
void print_completion(std::ostream& out, std::string const& shell);

} // namespace asio_retry::tool
