#include "explanation_formats.hpp"
#include "human.hpp"
#include "sample.hpp"

#include <asio_retry/policy_text.hpp>

#include <iomanip>

namespace asio_retry::tool {
namespace {

constexpr int column_width = 12;

void print_cells(std::ostream& out, std::initializer_list<std::string> cells) {
    bool first = true;
    for (std::string const& cell : cells)
        out << std::setw(std::exchange(first, false) ? 8 : column_width) << cell;
}

void print_rows(std::ostream& out, explanation const& what) {
    bool const has_draws = !what.failures.empty() && !what.failures.front().draws.empty();
    print_cells(out, {"failure", "ceiling", "least", "mean", "greatest", "mean in all"});
    if (has_draws)
        print_cells(out, {"", "1 %", "50 %", "99 %"});
    out << '\n';
    for (explained_failure const& f : what.failures) {
        print_cells(out, {std::to_string(f.failure), human(f.ceiling), human(f.least), human(f.mean),
                          human(f.greatest), human(f.cumulative_mean)});
        if (has_draws)
            print_cells(out, {"", human(quantile(f.draws, 0.01)), human(quantile(f.draws, 0.5)),
                              human(quantile(f.draws, 0.99))});
        out << '\n';
    }
}

/// Their limit, or how many there are in runs whose delays are drawn.
std::string attempts_text(std::vector<std::uint64_t> const& sorted) {
    if (sorted.empty())
        return "no limit";
    if (sorted.front() == sorted.back())
        return "at most " + std::to_string(sorted.front());
    return std::to_string(sorted.front()) + " to " + std::to_string(sorted.back()) + ", mostly about " +
           std::to_string(quantile(sorted, 0.5)) + ": there is a limit of time";
}

} // namespace

void print_table(std::ostream& out, explanation const& what, std::optional<double> failure_probability) {
    out << to_string(what.policy) << "\n\n";
    print_rows(out, what);
    if (what.means_are_sampled)
        out << "(means of drawn delays)\n";
    out << '\n';

    out << "attempts:      " << attempts_text(what.attempts) << '\n';
    if (what.is_whole && !what.failures.empty())
        out << "waits in all:  " << human(what.failures.back().cumulative_least) << " to "
            << human(std::min(what.failures.back().cumulative_greatest,
                              what.time_limit.value_or(duration::max())))
            << '\n';
    out << "over after:    " << (what.longest ? "at most " + human(*what.longest) : "no limit is known")
        << '\n';
    if (failure_probability) {
        expected_load const load = load_at(what, *failure_probability);
        out << "where " << human(*failure_probability * 100) << " % of the attempts fail:\n"
            << "  load:        " << human(load.attempts) << " attempts for each operation\n"
            << "  success:     " << human(load.successes * 100) << " % of the operations\n";
    }
}

} // namespace asio_retry::tool
