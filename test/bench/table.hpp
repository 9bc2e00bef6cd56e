#pragma once

#include "report.hpp"

#include <string>

namespace asio_retry::bench {

std::string to_text(report const& all);
std::string to_markdown(report const& all);

} // namespace asio_retry::bench
