#pragma once

#include "result.hpp"

#include <string>

namespace asio_retry::bench {

/// An SVG of the CPU time per wait in the largest storm that was measured up to storm_100k; empty if there is
/// none.
std::string chart(rows const& results);

/// An SVG of what an operation costs in `pending`, by the number of operations; empty if that was not measured.
std::string growth_chart(rows const& results);

} // namespace asio_retry::bench
