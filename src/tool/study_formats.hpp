#pragma once

#include "occ_study.hpp"
#include "options.hpp"
#include "rounds_study.hpp"
#include "study_report.hpp"

#include <ostream>

namespace asio_retry::tool {

void print_occ(std::ostream& out, std::vector<occ_result> const& results, format as);
void print_rounds(std::ostream& out, rounds_result const& result, rounds_options const& asked);
void print_study(std::ostream& out, study_report const& report, format as);

} // namespace asio_retry::tool
