#pragma once

#include "study_report.hpp"

#include <string>

namespace asio_retry::lab {

/// The page of gates says what a study has found, in the page's own digits.
void expect_found_on_the_traffic_page(std::string const& study, figure_table const& found);

} // namespace asio_retry::lab
