#include "explanation_formats.hpp"
#include "plot.hpp"

#include <asio_retry/policy_text.hpp>

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

} // namespace

void print_svg(std::ostream& out, explanation const& what) {
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

    out << svg_of(to_string(what.policy), {delays, in_all});
}

} // namespace asio_retry::tool
