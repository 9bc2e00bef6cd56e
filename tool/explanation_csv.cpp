#include "csv_cell.hpp"
#include "explanation_formats.hpp"
#include "sample.hpp"

#include <algorithm>

namespace asio_retry::tool {

std::string csv_cell(std::string const& text) {
    if (text.find_first_of(",\"\n") == std::string::npos)
        return text;
    std::string result = "\"";
    for (char const c : text)
        result.append(c == '"' ? 2 : 1, c);
    return result + '"';
}

void print_csv(std::ostream& out, std::vector<named_explanation> const& all, bool with_names) {
    bool const has_draws = std::any_of(all.begin(), all.end(), [](named_explanation const& each) {
        return !each.what.failures.empty() && !each.what.failures.front().draws.empty();
    });
    out << (with_names ? "name," : "") << "failure,ceiling_ns,min_ns,mean_ns,max_ns,cumulative_mean_ns"
        << (has_draws ? ",p01_ns,p50_ns,p99_ns" : "") << '\n';
    for (named_explanation const& each : all)
        for (explained_failure const& f : each.what.failures) {
            if (with_names)
                out << csv_cell(each.name) << ',';
            out << f.failure << ',' << f.ceiling.count() << ',' << f.least.count() << ',' << f.mean.count()
                << ',' << f.greatest.count() << ',' << f.cumulative_mean.count();
            if (has_draws)
                out << ',' << quantile(f.draws, 0.01).count() << ',' << quantile(f.draws, 0.5).count() << ','
                    << quantile(f.draws, 0.99).count();
            out << '\n';
        }
}

} // namespace asio_retry::tool
