#include "study_formats.hpp"
#include "tool/human.hpp"
#include "tool/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>

namespace asio_retry::lab {

using namespace tool;

namespace {

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

} // namespace

void print_study(std::ostream& out, study_report const& report, format as, view const& on) {
    if (as == format::csv)
        print_csv(out, report.course.rows.empty() ? report.figures : report.course);
    else if (as == format::svg)
        out << svg_of(report.title, report.charts);
    else
        print_table(out, report, on);
}

} // namespace asio_retry::lab
