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

/// Prints the facts below the table and the chart: attempts, times, and what the failure probability makes of
/// them.
void print_facts(std::ostream& out, explanation const& what, std::optional<double> failure_probability,
                 view const& on);

/// Prints a chart of characters. Each failure has its least delay, the range of its delay and the mean, and the
/// time passed; with a failure probability also the share of operations that get there. The scale is `longest`
/// and `longest_in_all`, if these are not zero.
void print_chart(std::ostream& out, explanation const& what, std::optional<double> failure_probability,
                 view const& on, duration longest = {}, duration longest_in_all = {});

void print_csv(std::ostream& out, std::vector<named_explanation> const& all, bool with_names);
boost::json::value json_of(explanation const& what, std::optional<double> failure_probability);

/// Draws the greatest delay, the range of delays, their mean, the draws, and the time that passes. With a
/// failure probability also the resulting load and success.
void print_svg(std::ostream& out, explanation const& what, std::optional<double> failure_probability = {});

/// Draws the means of several policies in the same charts.
void print_svg(std::ostream& out, std::vector<named_explanation> const& all,
               std::optional<double> failure_probability);

} // namespace asio_retry::tool
