#pragma once

#include "explanation.hpp"
#include "terminal.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace asio_retry::tool {

/// One of several policies.
struct named_explanation {
    std::string name;
    explanation what;
};

void print_table(std::ostream& out, explanation const& what, std::optional<double> failure_probability,
                 view const& on = {});

/// What stands below the table and the chart: attempts, times, and what the failure probability makes of them.
void print_facts(std::ostream& out, explanation const& what, std::optional<double> failure_probability,
                 view const& on);

/// In letters: for each failure what is waited in any case, what the delay is drawn from and its mean, and the
/// time that has passed; with a failure probability the share of operations that come so far, too. The scale is
/// that of `longest` and `longest_in_all`, if these are not zero.
void print_chart(std::ostream& out, explanation const& what, std::optional<double> failure_probability,
                 view const& on, duration longest = {}, duration longest_in_all = {});

void print_csv(std::ostream& out, std::vector<named_explanation> const& all, bool with_names);
boost::json::value json_of(explanation const& what, std::optional<double> failure_probability);

/// The ceiling, the band from which delays are drawn, their mean and what has been drawn; and the time that
/// passes. With a failure probability the load and the success that follow, too.
void print_svg(std::ostream& out, explanation const& what, std::optional<double> failure_probability = {});

/// The means of several, in the same charts.
void print_svg(std::ostream& out, std::vector<named_explanation> const& all,
               std::optional<double> failure_probability);

} // namespace asio_retry::tool
