#include "human.hpp"
#include "study_formats.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>

namespace asio_retry::tool {
namespace {

namespace json = boost::json;

void print_table(std::ostream& out, study_report const& report) {
    static constexpr std::size_t least_width = 10;
    std::size_t longest = 0;
    for (figure_table::row const& row : report.figures.rows)
        longest = std::max(longest, row.setting.size());
    auto const first = static_cast<int>(longest);
    auto const width = [](std::string const& column) {
        return static_cast<int>(std::max(column.size(), least_width) + 2);
    };
    out << report.title << "\n\n" << std::setw(first) << "";
    for (std::string column : report.figures.columns) {
        std::replace(column.begin(), column.end(), '_', ' ');
        out << std::setw(width(column)) << column;
    }
    for (figure_table::row const& row : report.figures.rows) {
        out << '\n' << std::left << std::setw(first) << row.setting << std::right;
        for (std::size_t i = 0; i != row.figures.size(); ++i)
            out << std::setw(width(report.figures.columns[i]))
                << (std::isnan(row.figures[i]) ? "never" : human(row.figures[i]));
    }
    out << '\n';
}

void print_csv(std::ostream& out, figure_table const& table) {
    out << "setting";
    for (std::string const& column : table.columns)
        out << ',' << column;
    out << std::setprecision(8);
    for (figure_table::row const& row : table.rows) {
        out << "\n\"" << row.setting << '"';
        for (double const figure : row.figures)
            if (std::isnan(figure))
                out << ',';
            else
                out << ',' << figure;
    }
    out << '\n';
}

json::array rows_of(figure_table const& table) {
    json::array all;
    for (figure_table::row const& row : table.rows) {
        json::object one{{"setting", row.setting}};
        for (std::size_t i = 0; i != row.figures.size(); ++i)
            one[table.columns[i]] =
                std::isnan(row.figures[i]) ? json::value(nullptr) : json::value(row.figures[i]);
        all.push_back(std::move(one));
    }
    return all;
}

void print_json(std::ostream& out, study_report const& report) {
    out << json::serialize(json::object{{"title", report.title},
                                        {"figures", rows_of(report.figures)},
                                        {"course", rows_of(report.course)}})
        << '\n';
}

} // namespace

void print_study(std::ostream& out, study_report const& report, format as) {
    switch (as) {
    case format::table:
        return print_table(out, report);
    case format::csv:
        return print_csv(out, report.course.rows.empty() ? report.figures : report.course);
    case format::json:
        return print_json(out, report);
    case format::svg:
        out << svg_of(report.title, report.charts);
        return;
    }
}

} // namespace asio_retry::tool
