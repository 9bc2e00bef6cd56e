#include "study_formats.hpp"
#include "tool/csv_cell.hpp"
#include "tool/human.hpp"
#include "tool/plot.hpp"
#include "tool/text_layout.hpp"

#include "policy/shown_text.hpp"

#include <iomanip>
#include <map>

namespace asio_retry::lab {

using namespace tool;

namespace {

struct figure {
    char const* name;
    double value;
};

std::vector<figure> figures_of(occ_result const& r, bool with_losers) {
    auto const time = r.time_ms.sorted();
    auto const calls = r.calls.sorted();
    std::vector<figure> all{{"time_mean", r.time_ms.mean()},
                            {"time_sd", r.time_ms.standard_deviation()},
                            {"time_p05", quantile(time, 0.05)},
                            {"time_p50", quantile(time, 0.5)},
                            {"time_p95", quantile(time, 0.95)},
                            {"calls_mean", r.calls.mean()},
                            {"calls_sd", r.calls.standard_deviation()},
                            {"calls_p05", quantile(calls, 0.05)},
                            {"calls_p50", quantile(calls, 0.5)},
                            {"calls_p95", quantile(calls, 0.95)}};
    if (with_losers)
        all.push_back({"gave_up_mean", r.gave_up.mean()});
    return all;
}

void print_table(std::ostream& out, std::vector<occ_result> const& results, bool with_losers, view const& on) {
    constexpr auto numbers = text_table::side::right;
    text_table table;
    table.add_column("clients", numbers, 7, 4);
    table.add_column("algorithm", text_table::side::left, 14, 4);
    table.add_column("ms until all", numbers, 12 + 2, 3);
    table.add_column("sd", numbers, 10, 1);
    table.add_column("writes", numbers, 10, 2);
    table.add_column("sd", numbers, 9, 0);
    if (with_losers)
        table.add_column("gave up", numbers, 10, 2);
    for (occ_result const& r : results) {
        std::vector<std::string> cells{std::to_string(r.clients), detail::shown(r.algorithm),
                                       human(r.time_ms.mean()),   human(r.time_ms.standard_deviation()),
                                       human(r.calls.mean()),     human(r.calls.standard_deviation())};
        if (with_losers)
            cells.push_back(human(r.gave_up.mean()));
        table.add_row(std::move(cells));
    }
    table.print(out, on);
}

void print_csv(std::ostream& out, std::vector<occ_result> const& results, bool with_losers) {
    out << "clients,algorithm,trials";
    for (figure const& f : figures_of(results.front(), with_losers))
        out << ',' << f.name;
    out << '\n' << std::fixed << std::setprecision(3);
    for (occ_result const& r : results) {
        out << r.clients << ',' << csv_cell(r.algorithm) << ',' << r.calls.size();
        for (figure const& f : figures_of(r, with_losers))
            out << ',' << f.value;
        out << '\n';
    }
}

void print_svg(std::ostream& out, std::vector<occ_result> const& results) {
    std::vector<std::string> names;
    std::map<std::string, std::vector<point>> calls, times;
    for (occ_result const& r : results) {
        if (!calls.contains(r.algorithm))
            names.push_back(r.algorithm);
        calls[r.algorithm].push_back({static_cast<double>(r.clients), r.calls.mean()});
        times[r.algorithm].push_back({static_cast<double>(r.clients), r.time_ms.mean() / 1000});
    }
    plot writes("writes until all have succeeded", "clients", "writes");
    plot duration("time until all have succeeded", "clients", "s", 0.01);
    for (std::string const& name : names) {
        writes.add_line(calls[name], name);
        duration.add_line(times[name], name);
    }
    out << svg_of("Clients that contend for one row", {writes, duration});
}

} // namespace

void print_occ(std::ostream& out, std::vector<occ_result> const& results, bool with_losers, format as,
               view const& on) {
    if (as == format::csv)
        print_csv(out, results, with_losers);
    else if (as == format::svg)
        print_svg(out, results);
    else
        print_table(out, results, with_losers, on);
}

} // namespace asio_retry::lab
