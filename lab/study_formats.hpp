#pragma once

#include "occ_study.hpp"
#include "rounds_study.hpp"
#include "study_report.hpp"
#include "tool/options.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace asio_retry::lab {

using tool::format;
using tool::view;

/// With `with_losers` also prints how many clients gave up on average.
void print_occ(std::ostream& out, std::vector<occ_result> const& results, bool with_losers, format as,
               view const& on);

struct rounds_options : tool::output_options {
    tool::policy_options policies; ///< a second of delay counts as a round
    unsigned clients = 100;
    unsigned capacity = 1;
    std::uint64_t seed = 1;
};

/// The result of one policy.
struct named_rounds {
    std::string name;
    rounds_result result;
};
void print_rounds(std::ostream& out, std::vector<named_rounds> const& all, rounds_options const& asked,
                  view const& on);
void print_study(std::ostream& out, study_report const& report, format as, view const& on = {});

} // namespace asio_retry::lab
