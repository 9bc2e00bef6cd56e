#include "explanation_formats.hpp"
#include "human.hpp"
#include "sample.hpp"
#include "text_layout.hpp"

#include <asio_retry/policy_text.hpp>

#include <utility>

namespace asio_retry::tool {
namespace {

void print_rows(std::ostream& out, explanation const& what, view const& on) {
    constexpr auto numbers = text_table::side::right;
    bool const has_draws = !what.failures.empty() && !what.failures.front().draws.empty();
    text_table table;
    table.add_column("failure", numbers, 8, 4);
    table.add_column("ceiling", numbers, 12, 0);
    table.add_column("least", numbers, 12, 1);
    table.add_column("mean", numbers, 12, 3);
    table.add_column("greatest", numbers, 12, 2);
    table.add_column("mean in all", numbers, 12 + 1, 2);
    if (has_draws)
        for (char const* const title : {"1 %", "50 %", "99 %"})
            table.add_column(title, numbers, 12, 1);
    for (explained_failure const& f : what.failures) {
        std::vector<std::string> cells{
            std::to_string(f.failure), human(f.ceiling),        human(f.least), human(f.mean),
            human(f.greatest),         human(f.cumulative_mean)};
        if (has_draws)
            for (double const share : {0.01, 0.5, 0.99})
                cells.push_back(human(quantile(f.draws, share)));
        table.add_row(std::move(cells));
    }
    table.print(out, on);
}

/// The limit of attempts, or their number in runs whose delays are drawn.
std::string attempts_text(explanation const& what) {
    auto const& sorted = what.attempts;
    if (sorted.empty())
        return "no limit";
    std::string const greatest = is_known(what, sorted.back())
                                     ? std::to_string(sorted.back())
                                     : "more than " + std::to_string(most_attempts_in_a_run);
    if (sorted.front() == sorted.back())
        return (is_known(what, sorted.back()) ? "at most " : "") + greatest;
    std::uint64_t const middle = quantile(sorted, 0.5);
    return std::to_string(sorted.front()) + " to " + greatest +
           (is_known(what, middle) ? ", mostly about " + std::to_string(middle) : "") +
           ": there is a time limit";
}

std::string waits_text(range_of_waits const& waits) {
    return human(waits.least) + (waits.least == waits.greatest ? "" : " to " + human(waits.greatest)) +
           (waits.runs != 0 ? " in " + std::to_string(waits.runs) + " runs" : "");
}

constexpr std::size_t column_of_facts = 15;

void print_fact(std::ostream& out, view const& on, std::string name, std::string const& fact) {
    name.resize(column_of_facts, ' ');
    out << coloured(on, "1", name) << wrapped(fact, on.width, column_of_facts, column_of_facts) << '\n';
}

} // namespace

void print_facts(std::ostream& out, explanation const& what, std::optional<double> failure_probability,
                 view const& on) {
    print_fact(out, on, "attempts:", attempts_text(what));
    if (what.waits)
        print_fact(out, on, "waits in all:", waits_text(*what.waits));
    print_fact(out, on, "over after:", what.longest ? "at most " + human(*what.longest) : "no limit is known");
    if (!failure_probability)
        return;
    expected_load const load = load_at(what, *failure_probability);
    out << "where " << human(*failure_probability * 100) << " % of the attempts fail:\n";
    std::string const least = load.is_least ? "at least " : "";
    print_fact(out, on, "  load:", least + human(load.attempts) + " attempts for each operation");
    print_fact(out, on, "  success:",
               (failure_probability < 1 ? least : "") + human(load.successes * 100) + " % of the operations");
}

void print_table(std::ostream& out, explanation const& what, std::optional<double> failure_probability,
                 view const& on) {
    out << wrapped(to_string(what.policy), on.width, 2) << "\n\n";
    print_rows(out, what, on);
    if (what.means_are_sampled)
        out << "(means of drawn delays)\n";
    out << '\n';
    print_facts(out, what, failure_probability, on);
}

} // namespace asio_retry::tool
