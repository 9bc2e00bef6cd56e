#include "explanation.hpp"
#include "explanation_formats.hpp"
#include "plot.hpp"

#include "support/matches.hpp"

#include <asio_retry/profiles.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace asio_retry::tool {
namespace {

using namespace std::chrono_literals;

std::string first_plot(std::string const& svg) {
    return svg.substr(0, svg.find("</g>\n<g transform"));
}

/// How high the highest point lies, as a share of the axis.
double height_of(std::string const& points) {
    double least = plot::height;
    for (auto const& found : test::all_matches(points, "[-0-9.]+(?:,|\" cy=\")([-0-9.]+)"))
        least = std::min(least, std::stod(found[1]));
    constexpr double top = 34, base = 262;
    return (base - least) / (base - top);
}

std::string drawn(retry_policy const& policy, std::size_t draws) {
    std::ostringstream out;
    print_svg(out, explain(policy, {{}, 1, draws}));
    return out.str();
}

double height_of_band(std::string const& plot) {
    return height_of(test::all_matches(plot, "<polygon[^>]* points=\"([^\"]*)\"").at(0)[1]);
}

// The axis is never longer than twice the greatest delay shown.
TEST(charts, an_axis_follows_what_is_drawn) {
    for (profiles::profile const& p : profiles::all())
        EXPECT_GE(height_of_band(first_plot(drawn(p.make(), 10))), 0.5) << p.name;
    for (jitter const &kind : {log_normal_jitter(1), decorrelated_jitter(), decorrelated_jitter_v2(),
                               jitter([](backoff_step step, random&) { return step.ceiling / 1000; })})
        EXPECT_GE(height_of_band(first_plot(drawn(retry_policy().jitter(kind).max_attempts(20), 10))), 0.5);
}

// One delay in a hundred is longer than where "for ever" is cut.
TEST(charts, for_ever_is_cut_at_a_quantile) {
    std::string const plot = first_plot(drawn(profiles::polly_v2(), 200));
    EXPECT_GE(height_of(plot.substr(plot.find("<circle"))), 0.5);
    for (explained_failure const& f : explain(profiles::polly_v2(), {}).failures) {
        EXPECT_EQ(f.greatest, duration::max());
        EXPECT_GT(f.usual, f.mean);
        EXPECT_LT(f.usual, 10 * f.mean);
    }
}

TEST(charts, a_ceiling_beyond_the_axis_ends_there) {
    std::string const plot = first_plot(drawn(profiles::aws_decorrelated(), 0));
    std::string const ceiling =
        test::all_matches(plot, "<polyline[^>]*dasharray[^>]* points=\"([^\"]*)\"").at(0)[1];
    EXPECT_DOUBLE_EQ(height_of(ceiling), 1);
}

TEST(charts, legends_do_not_run_into_each_other_nor_out_of_the_chart) {
    plot many("title", "x", "y");
    for (std::string const label : {"a", "Decorrelated", "a label that is rather long", "WWWWWWWWWWWW", "b",
                                    "another label that is rather long", "c"})
        many.add_line({{0, 0}, {1, 1}}, label);
    std::string const svg = many.group();
    double end = 0, line = 0;
    auto const entries =
        test::all_matches(svg, "<rect[^>]* x=\"([0-9]+)\" y=\"([0-9]+)\"[^>]*>\n<text[^>]*>([^<]*)<");
    ASSERT_EQ(entries.size(), 7u);
    for (auto const& entry : entries) {
        double const x = std::stod(entry[1]), y = std::stod(entry[2]);
        if (y == line) {
            EXPECT_GE(x, end) << entry[3];
        }
        line = y;
        end = x + 14 + 7.5 * static_cast<double>(entry[3].size());
        EXPECT_LE(end, plot::width + 1);
        EXPECT_LE(y + 10, plot::height);
    }
}

// Whose legend is higher than a chart otherwise is.
TEST(charts, as_many_policies_as_there_may_be_are_drawn_inside) {
    std::vector<named_explanation> all;
    for (int i = 0; i != 100; ++i)
        all.push_back({"the policy " + std::to_string(i), explain(retry_policy(), {.failures = 2})});
    std::ostringstream out;
    print_svg(out, all, {});
    std::string const svg = out.str();
    double const height = std::stod(test::all_matches(svg, " height=\"([0-9]+)\" font").at(0)[1]) - 28;
    auto const legend = test::all_matches(svg, "<rect[^>]* y=\"([0-9]+)\"");
    ASSERT_EQ(legend.size(), 200u);
    double highest_entry = height;
    for (auto const& entry : legend) {
        EXPECT_LE(std::stod(entry[1]) + 10, height);
        highest_entry = std::min(highest_entry, std::stod(entry[1]));
    }
    double least = height, greatest = 0;
    for (auto const& line : test::all_matches(svg, "<polyline[^>]* points=\"([^\"]*)\""))
        for (auto const& y : test::all_matches(line[1], ",([-0-9.]+) ")) {
            least = std::min(least, std::stod(y[1]));
            greatest = std::max(greatest, std::stod(y[1]));
        }
    EXPECT_GE(least, 34);
    EXPECT_LE(greatest, highest_entry - 40) << "there are words between";
    auto const grid = test::all_matches(svg, "class=\"grid\"[^>]* y1=\"([-0-9.]+)\"");
    EXPECT_GE(std::stod(grid.front()[1]) - least, 150) << "the first line is the axis";
}

// Half of the attempts fail: 1.75 of three are made, and 87.5 % of the operations succeed.
TEST(charts, a_failure_probability_adds_the_load_and_the_success) {
    explanation const what = explain(retry_policy().max_attempts(3), {});
    std::ostringstream out;
    print_svg(out, what, 0.5);
    EXPECT_EQ(test::all_matches(out.str(), "<g transform").size(), 4u);
    EXPECT_THAT(out.str(), testing::HasSubstr("at 50 %: 1.75<"));
    EXPECT_THAT(out.str(), testing::HasSubstr("at 50 %: 87.5 %<"));
    auto const marks = test::all_matches(out.str(), "<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\" r=\"4\"/>");
    ASSERT_EQ(marks.size(), 2u);
    EXPECT_NEAR(height_of(marks[0][0]), 1.75 / 3, 0.01);
    EXPECT_NEAR(height_of(marks[1][0]), 0.875, 0.01);
}

TEST(charts, a_load_without_bound_is_not_drawn) {
    std::ostringstream out;
    print_svg(out, explain(retry_policy().unlimited_attempts(), {}), 1);
    EXPECT_EQ(out.str().find("inf"), std::string::npos);
    EXPECT_EQ(out.str().find("nan"), std::string::npos);
}

// More attempts than are played.
TEST(charts, a_success_that_is_a_bound_is_called_so) {
    auto const often = retry_policy().backoff(constant(1ms)).jitter(no_jitter()).unlimited_attempts();
    std::ostringstream out;
    print_svg(out, explain(often.max_elapsed(1min), {}), 0.9999);
    EXPECT_THAT(out.str(), testing::HasSubstr("at 99.99 %: at least 63.22 %<"));
}

TEST(charts, a_title_is_cut_between_letters) {
    for (std::size_t before : {0u, 1u}) {
        std::string title(before, 'x');
        for (int i = 0; i != 200; ++i)
            title += "\xC3\xA9";
        EXPECT_THAT(svg_of(title, {plot("", "", "")}), testing::HasSubstr("\xC3\xA9...</text>"));
    }
}

TEST(charts, several_policies_share_them) {
    std::vector<named_explanation> const two{{"fast", explain(retry_policy(), {})},
                                             {"slow <1>", explain(profiles::celery(), {})}};
    std::ostringstream out;
    print_svg(out, two, 0.25);
    EXPECT_EQ(test::all_matches(out.str(), "<g transform").size(), 4u);
    EXPECT_EQ(test::all_matches(out.str(), "<polyline").size(), 8u);
    EXPECT_EQ(test::all_matches(out.str(), ">fast<").size(), 4u);
    EXPECT_EQ(test::all_matches(out.str(), ">slow &lt;1&gt;<").size(), 4u);
}

} // namespace
} // namespace asio_retry::tool
