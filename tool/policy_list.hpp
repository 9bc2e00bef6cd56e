#pragma once

#include "options.hpp"

#include <asio_retry/policy_text.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::tool {

/// Reads a policy text or the name of a profile, with or without "NAME =" before it. Throws
/// policy_syntax_error.
named_policy named_policy_of(std::string const& text);

/// Reads a file's content: lines "name = policy", or JSON. Throws policy_fault, with `file`, line and column.
std::vector<named_policy> policies_in(std::string_view text, std::string const& file);

/// Throws what the functions above throw, policy_fault if two policies have one name, and std::runtime_error if
/// the file cannot be read.
std::vector<named_policy> policies_of(policy_options const& asked);

} // namespace asio_retry::tool
