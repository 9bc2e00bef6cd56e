#include "explanation_formats.hpp"
#include "human.hpp"
#include "plot.hpp"

#include <asio_retry/policy_text.hpp>

#include <cmath>
#include <utility>

namespace asio_retry::tool {
namespace {

double seconds(duration d) {
    return std::chrono::duration<double>(d).count();
}

template <typename Member>
std::vector<point> curve(explanation const& what, Member member) {
    std::vector<point> points;
    for (explained_failure const& f : what.failures)
        points.push_back({static_cast<double>(f.failure), seconds(f.*member)});
    return points;
}

std::vector<point> draws_of(explanation const& what) {
    std::vector<point> points;
    for (explained_failure const& f : what.failures)
        for (duration const d : f.draws)
            points.push_back({static_cast<double>(f.failure), seconds(d)});
    return points;
}

/// A line over the share of failing attempts; it ends where the load has no bound.
std::vector<point> over_failures(explanation const& what, double expected_load::* member) {
    std::vector<point> points;
    for (int percent = 0; percent <= 100; percent += 2) {
        double const y = load_at(what, percent / 100.0).*member;
        constexpr double greatest = 20; // a chart beyond that is unreadable
        if (y <= greatest)
            points.push_back({static_cast<double>(percent), y});
    }
    return points;
}

/// Adds the load and success of policies over the failure probability.
void add_load(std::vector<plot>& charts, std::vector<named_explanation> const& all,
              double failure_probability) {
    plot load("attempts for each operation", "% of the attempts fail", "attempts");
    plot success("operations that succeed", "% of the attempts fail", "%");
    bool is_least = false;
    std::string const at = "at " + human(failure_probability * 100) + " %";
    std::vector<point> loads, successes;
    for (auto const& [name, what] : all) {
        load.add_line(over_failures(what, &expected_load::attempts), name.empty() ? "attempts" : name);
        std::vector<point> shares = over_failures(what, &expected_load::successes);
        for (point& p : shares)
            p.y *= 100;
        success.add_line(std::move(shares), name.empty() ? "operations" : name);
        expected_load const here = load_at(what, failure_probability);
        double const x = failure_probability * 100;
        if (std::isfinite(here.attempts) && !here.is_least)
            loads.push_back({x, here.attempts});
        successes.push_back({x, here.successes * 100});
        is_least = here.is_least;
    }
    std::string const value = all.size() == 1 && !loads.empty() ? ": " + human(loads.front().y) : "";
    load.add_marks(std::move(loads), at + value);
    std::string share;
    if (all.size() == 1)
        share = (is_least ? ": at least " : ": ") + human(successes.front().y) + " %";
    success.add_marks(std::move(successes), at + share);
    charts.push_back(std::move(load));
    charts.push_back(std::move(success));
}

} // namespace

void print_svg(std::ostream& out, explanation const& what, std::optional<double> failure_probability) {
    plot delays("delay", "failure", "s");
    delays.add_band(curve(what, &explained_failure::least), curve(what, &explained_failure::usual),
                    "drawn from");
    delays.add_line(curve(what, &explained_failure::mean), "mean");
    delays.add_guide(curve(what, &explained_failure::ceiling), "ceiling");
    if (auto points = draws_of(what); !points.empty())
        delays.add_dots(std::move(points), "drawn");

    plot in_all("waited in all", "failure", "s");
    in_all.add_band(curve(what, &explained_failure::cumulative_least),
                    curve(what, &explained_failure::cumulative_usual), "least to greatest");
    in_all.add_line(curve(what, &explained_failure::cumulative_mean), "mean");

    std::vector<plot> charts{delays, in_all};
    if (failure_probability)
        add_load(charts, {{"", what}}, *failure_probability);
    out << svg_of(to_string(what.policy), charts);
}

void print_svg(std::ostream& out, std::vector<named_explanation> const& all,
               std::optional<double> failure_probability) {
    plot delays("mean delay", "failure", "s"), in_all("waited in all, on average", "failure", "s");
    for (auto const& [name, what] : all) {
        delays.add_line(curve(what, &explained_failure::mean), name);
        in_all.add_line(curve(what, &explained_failure::cumulative_mean), name);
    }
    std::vector<plot> charts{delays, in_all};
    if (failure_probability)
        add_load(charts, all, *failure_probability);
    out << svg_of("Policies compared", charts);
}

} // namespace asio_retry::tool
