#include "explanation_formats.hpp"
#include "sample.hpp"

namespace asio_retry::tool {

void print_csv(std::ostream& out, explanation const& what) {
    bool const has_draws = !what.failures.empty() && !what.failures.front().draws.empty();
    out << "failure,ceiling_ns,min_ns,mean_ns,max_ns,cumulative_mean_ns"
        << (has_draws ? ",p01_ns,p50_ns,p99_ns" : "") << '\n';
    for (explained_failure const& f : what.failures) {
        out << f.failure << ',' << f.ceiling.count() << ',' << f.least.count() << ',' << f.mean.count() << ','
            << f.greatest.count() << ',' << f.cumulative_mean.count();
        if (has_draws)
            out << ',' << quantile(f.draws, 0.01).count() << ',' << quantile(f.draws, 0.5).count() << ','
                << quantile(f.draws, 0.99).count();
        out << '\n';
    }
}

} // namespace asio_retry::tool
