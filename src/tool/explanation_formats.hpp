#pragma once

#include "explanation.hpp"

#include <optional>
#include <ostream>

namespace asio_retry::tool {

void print_table(std::ostream& out, explanation const& what, std::optional<double> failure_probability);
void print_csv(std::ostream& out, explanation const& what);
void print_json(std::ostream& out, explanation const& what, std::optional<double> failure_probability);

/// The ceiling, the band from which delays are drawn, their mean and what has been drawn; and the time that
/// passes.
void print_svg(std::ostream& out, explanation const& what);

} // namespace asio_retry::tool
