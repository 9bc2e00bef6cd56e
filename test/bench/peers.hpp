#pragma once

#include "report.hpp"

#include <filesystem>
#include <set>
#include <string>

namespace asio_retry::bench {

/// Adds the rows of the chosen workloads that the files of a folder have, and notes what the others say.
void add_peers(report& all, std::filesystem::path const& folder, std::set<std::string> const& chosen);

} // namespace asio_retry::bench
