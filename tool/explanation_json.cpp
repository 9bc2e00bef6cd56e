#include "explanation_formats.hpp"
#include "sample.hpp"

#include <asio_retry/policy_text.hpp>

#include <cmath>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace asio_retry::tool {
namespace {

namespace json = boost::json;

json::object to_json(explained_failure const& f) {
    json::object row{{"failure", f.failure},
                     {"ceiling_ns", f.ceiling.count()},
                     {"min_ns", f.least.count()},
                     {"mean_ns", f.mean.count()},
                     {"max_ns", f.greatest.count()},
                     {"cumulative_min_ns", f.cumulative_least.count()},
                     {"cumulative_mean_ns", f.cumulative_mean.count()},
                     {"cumulative_max_ns", f.cumulative_greatest.count()}};
    if (!f.draws.empty()) {
        row["p01_ns"] = quantile(f.draws, 0.01).count();
        row["p50_ns"] = quantile(f.draws, 0.5).count();
        row["p99_ns"] = quantile(f.draws, 0.99).count();
    }
    return row;
}

} // namespace

json::value json_of(explanation const& what, std::optional<double> failure_probability) {
    json::object all{{"policy", to_string(what.policy)}, {"means_are_sampled", what.means_are_sampled}};
    json::array rows;
    for (explained_failure const& f : what.failures)
        rows.push_back(to_json(f));
    all["failures"] = std::move(rows);
    all["is_whole"] = what.is_whole;
    auto const& attempts = what.attempts;
    auto const known = [&](std::uint64_t number) {
        return is_known(what, number) ? json::value(number) : json::value();
    };
    all["attempts"] = attempts.empty() ? json::value() // no limit
                                       : json::object{{"min", known(attempts.front())},
                                                      {"p50", known(quantile(attempts, 0.5))},
                                                      {"max", known(attempts.back())}};
    all["max_total_ns"] = what.longest ? json::value(what.longest->count()) : json::value();
    if (failure_probability) {
        expected_load const load = load_at(what, *failure_probability);
        all["failure_probability"] = *failure_probability;
        all["attempts_per_operation"] =
            std::isfinite(load.attempts) && !load.is_least ? json::value(load.attempts) : json::value();
        bool const is_least = load.is_least && failure_probability < 1;
        all["success_probability"] = is_least ? json::value() : json::value(load.successes);
    }
    return all;
}

} // namespace asio_retry::tool
