#include "human.hpp"
#include "plot.hpp"
#include "study_formats.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <iomanip>
#include <map>

namespace asio_retry::tool {
namespace {

namespace json = boost::json;

struct figure {
    char const* name;
    double value;
};

std::vector<figure> figures_of(occ_result const& r) {
    auto const time = r.time_ms.sorted();
    auto const calls = r.calls.sorted();
    return {{"time_mean", r.time_ms.mean()},
            {"time_sd", r.time_ms.standard_deviation()},
            {"time_p05", quantile(time, 0.05)},
            {"time_p50", quantile(time, 0.5)},
            {"time_p95", quantile(time, 0.95)},
            {"calls_mean", r.calls.mean()},
            {"calls_sd", r.calls.standard_deviation()},
            {"calls_p05", quantile(calls, 0.05)},
            {"calls_p50", quantile(calls, 0.5)},
            {"calls_p95", quantile(calls, 0.95)}};
}

void print_table(std::ostream& out, std::vector<occ_result> const& results) {
    out << std::setw(7) << "clients" << "  " << std::left << std::setw(12) << "algorithm" << std::right
        << std::setw(12) << "ms until all" << std::setw(10) << "sd" << std::setw(10) << "writes" << std::setw(9)
        << "sd" << '\n';
    for (occ_result const& r : results)
        out << std::setw(7) << r.clients << "  " << std::left << std::setw(12) << r.algorithm << std::right
            << std::setw(12) << human(r.time_ms.mean()) << std::setw(10)
            << human(r.time_ms.standard_deviation()) << std::setw(10) << human(r.calls.mean()) << std::setw(9)
            << human(r.calls.standard_deviation()) << '\n';
}

void print_csv(std::ostream& out, std::vector<occ_result> const& results) {
    out << "clients,algorithm,trials,time_mean,time_sd,time_p05,time_p50,time_p95,calls_mean,calls_sd,calls_"
           "p05,"
           "calls_p50,calls_p95\n"
        << std::fixed << std::setprecision(3);
    for (occ_result const& r : results) {
        out << r.clients << ',' << r.algorithm << ',' << r.calls.size();
        for (figure const& f : figures_of(r))
            out << ',' << f.value;
        out << '\n';
    }
}

void print_json(std::ostream& out, std::vector<occ_result> const& results) {
    json::array all;
    for (occ_result const& r : results) {
        json::object row{{"clients", r.clients}, {"algorithm", r.algorithm}, {"trials", r.calls.size()}};
        for (figure const& f : figures_of(r))
            row[f.name] = f.value;
        all.push_back(std::move(row));
    }
    out << json::serialize(all) << '\n';
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

void print_occ(std::ostream& out, std::vector<occ_result> const& results, format as) {
    switch (as) {
    case format::table:
        return print_table(out, results);
    case format::csv:
        return print_csv(out, results);
    case format::json:
        return print_json(out, results);
    case format::svg:
        return print_svg(out, results);
    }
}

} // namespace asio_retry::tool
