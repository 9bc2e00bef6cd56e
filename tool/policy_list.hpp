#pragma once

#include "options.hpp"

#include <asio_retry/retry_policy.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::tool {

struct named_policy {
    std::string name;
    retry_policy policy;
};

/// Reads a policy text or the name of a profile, with or without "NAME =" before it.
named_policy named_policy_of(std::string const& text);

/// Reads a file's content: lines "name = policy", or JSON, with or without a byte order mark. Throws
/// policy_fault, with `file` and the line.
std::vector<named_policy> policies_in(std::string const& content, std::string const& file);

/// Throws what the functions above throw, policy_fault if two policies have one name, and std::runtime_error if
/// the file cannot be read.
std::vector<named_policy> policies_of(policy_options const& asked);

} // namespace asio_retry::tool
