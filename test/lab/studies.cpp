// What all studies have in common: their report in every format, and their charts.
#include "studies.hpp"
#include "study_formats.hpp"
#include "traffic_page.hpp"

#include "support/csv.hpp"
#include "support/matches.hpp"
#include "support/places.hpp"
#include "tool/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace asio_retry::lab {
namespace {

std::string printed(study_report const& report, format as) {
    std::ostringstream out;
    print_study(out, report, as);
    return out.str();
}

std::string without_space(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
}

/// How high the highest point of a chart lies, as a share of its axis.
double height_of(plot const& chart) {
    std::string const group = chart.group();
    // Of the least tick, which is drawn first.
    double const bottom =
        std::stod(test::all_matches(group, R"re(class="grid"[^>]* y1="([0-9.]+)")re").at(0)[1]);
    double least = bottom;
    for (auto const& high : test::all_matches(group, R"re([-0-9.]+,([-0-9.]+))re"))
        least = std::min(least, std::stod(high[1]));
    constexpr double top = 34;
    return (bottom - least) / (bottom - top);
}

class every_study : public ::testing::TestWithParam<study> {};

TEST_P(every_study, reports_in_every_format) {
    double share = 0;
    study_report const report = GetParam().run(1, [&](double done) {
        EXPECT_GE(done, share);
        share = done;
    });
    EXPECT_DOUBLE_EQ(share, 1);

    std::string const table = printed(report, format::table), csv = printed(report, format::csv),
                      svg = printed(report, format::svg);
    figure_table const& points = report.course.rows.empty() ? report.figures : report.course;
    for (figure_table const* each : {&report.figures, &points})
        for (figure_table::row const& row : each->rows)
            EXPECT_EQ(row.figures.size(), each->columns.size()) << row.setting;
    for (figure_table::row const& row : report.figures.rows)
        EXPECT_THAT(table, testing::HasSubstr(row.setting));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), static_cast<std::ptrdiff_t>(points.rows.size() + 1));
    std::istringstream lines(csv);
    for (std::string line; std::getline(lines, line);)
        EXPECT_EQ(test::csv_cells(line).size(), points.columns.size() + 1) << line;
    tool::expect_well_formed(svg);
    EXPECT_EQ(svg.find("nan"), std::string::npos);

    EXPECT_FALSE(report.charts.empty());
    for (plot const& chart : report.charts) // an axis is never longer than twice the greatest value shown
        EXPECT_GE(height_of(chart), 0.5);

    // `cmake --build --preset lab --target charts` draws them again.
    std::ifstream file(test::file_of_project("doc/studies/" + std::string(GetParam().name) + "_study.svg"));
    std::string const drawn{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_EQ(without_space(svg), without_space(drawn)) << "the chart of the documentation";
    expect_found_on_the_traffic_page(GetParam().name, report.figures);
}

INSTANTIATE_TEST_SUITE_P(studies, every_study, ::testing::ValuesIn(studies()),
                         [](auto const& each) { return std::string(each.param.name); });

TEST(studies, what_never_happens_is_called_so_and_is_no_number) {
    study_report report;
    report.figures = {{"back_after"}, {{"no, budget", {never}}}};
    EXPECT_THAT(printed(report, format::table), testing::HasSubstr("never"));
    EXPECT_EQ(printed(report, format::csv), "setting,back_after\n\"no, budget\",\n");
}

TEST(studies, are_found_by_their_names) {
    for (study const& each : studies())
        EXPECT_EQ(find_study(each.name), &each);
    EXPECT_EQ(find_study("nothing"), nullptr);
}

} // namespace
} // namespace asio_retry::lab
