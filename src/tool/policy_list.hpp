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

/// A text, the bare name of a profile, or either after "NAME =".
named_policy named_policy_of(std::string const& text);

/// What a file holds: lines "name = policy", or JSON, behind a byte order mark or none. Throws policy_fault,
/// with `file` and the line.
std::vector<named_policy> policies_in(std::string const& content, std::string const& file);

/// Throws what the others throw, policy_fault if two have one name, and std::runtime_error if the file cannot
/// be read.
std::vector<named_policy> policies_of(policy_options const& asked);

} // namespace asio_retry::tool
