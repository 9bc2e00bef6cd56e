#include "human.hpp"
#include "json_text.hpp"
#include "study_formats.hpp"
#include "text_layout.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>

namespace asio_retry::tool {
namespace {

namespace json = boost::json;

void print_table(std::ostream& out, study_report const& report, view const& on) {
    static constexpr std::size_t least_width = 10;
    out << wrapped(report.title, on.width) << "\n\n";
    text_table table;
    table.add_column("", text_table::side::left, 0);
    for (std::string column : report.figures.columns) {
        std::replace(column.begin(), column.end(), '_', ' ');
        std::size_t const width = std::max(column.size(), least_width) + 2;
        table.add_column(std::move(column), text_table::side::right, width);
    }
    for (figure_table::row const& row : report.figures.rows) {
        std::vector<std::string> cells{row.setting};
        for (double const figure : row.figures)
            cells.push_back(std::isnan(figure) ? "never" : human(figure));
        table.add_row(std::move(cells));
    }
    table.print(out, on);
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
    write_json(out, json::object{{"title", report.title},
                                 {"figures", rows_of(report.figures)},
                                 {"course", rows_of(report.course)}});
}

} // namespace

void print_study(std::ostream& out, study_report const& report, format as, view const& on) {
    switch (as) {
    case format::table:
    case format::chart:
        return print_table(out, report, on);
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
