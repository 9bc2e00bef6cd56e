#pragma once

#include "occ_study.hpp"
#include "options.hpp"
#include "rounds_study.hpp"
#include "study_report.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace asio_retry::tool {

/// With `with_losers` also prints how many clients gave up on average.
void print_occ(std::ostream& out, std::vector<occ_result> const& results, bool with_losers, format as,
               view const& on);

/// The result of one policy.
struct named_rounds {
    std::string name;
    rounds_result result;
};
void print_rounds(std::ostream& out, std::vector<named_rounds> const& all, rounds_options const& asked,
                  view const& on);
void print_study(std::ostream& out, study_report const& report, format as, view const& on = {});

} // namespace asio_retry::tool
