#pragma once

#include "report.hpp"
#include "result.hpp"

#include <string>

namespace asio_retry::bench {

/// A row as the peers write theirs: workload, contender, and figures or why there are none.
row row_from_json(std::string const& text);

std::string to_json(report const& all);

/// The rows of what to_json wrote.
rows rows_from_json(std::string const& text);

} // namespace asio_retry::bench
