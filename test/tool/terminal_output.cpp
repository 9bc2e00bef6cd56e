// What a terminal is shown: its width, its colours, and charts of letters.
#include "support/program.hpp"
#include "support/terminal.hpp"

#include "explanation_formats.hpp"
#include "text_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>

namespace asio_retry::tool {
namespace {

using namespace std::chrono_literals;
using ::testing::Not;

TEST(terminal_output, is_no_wider_than_the_terminal) {
    for (unsigned short const columns : std::initializer_list<unsigned short>{40, 80, 120})
        for (std::string const words :
             {"explain go_backoff --failures 5 --draws 10", "explain go_backoff --format chart",
              "explain celery --format chart --failure-probability 0.2", "profiles"}) {
            auto const [code, output] = run_on_terminal(columns, "NO_COLOR=1 COLUMNS= $tool " + words);
            EXPECT_EQ(code, 0) << words;
            EXPECT_LE(longest_line(output), columns) << words << '\n' << output;
        }
}

TEST(terminal_output, takes_columns_before_the_terminal) {
    EXPECT_LE(longest_line(run_on_terminal(120, "NO_COLOR=1 COLUMNS=50 $tool profiles").output), 50u);
    EXPECT_GT(longest_line(run_on_terminal(120, "NO_COLOR=1 $tool profiles").output), 50u);
    EXPECT_GT(longest_line(run_on_terminal(120, "NO_COLOR=1 COLUMNS=wide $tool profiles").output), 50u);
    EXPECT_LE(longest_line(run_on_terminal(0, "NO_COLOR=1 $tool explain go_backoff").output), 80u)
        << "a terminal that does not know its width";
}

TEST(terminal_output, leaves_out_columns_and_says_so) {
    std::string const output = run_on_terminal(40, "NO_COLOR=1 $tool explain celery").output;
    EXPECT_THAT(output, HasSubstr("failure    mean  greatest  mean in all\n"));
    EXPECT_THAT(output, HasSubstr("(no room for ceiling, least, which\n--format csv has)"));
}

TEST(terminal_output, has_colours_on_a_terminal_alone) {
    EXPECT_THAT(run_on_terminal(80, "$tool explain celery").output, HasSubstr("\x1b[1m"));
    for (std::string const line : {"NO_COLOR=1 $tool explain celery", "TERM=dumb $tool explain celery",
                                   "$tool explain celery --color never", "$tool explain celery | cat"})
        EXPECT_THAT(run_on_terminal(80, line).output, Not(HasSubstr("\x1b["))) << line;
    for (std::string const line :
         {"NO_COLOR= $tool explain celery", "NO_COLOR=1 $tool explain celery --color=always",
          "$tool explain celery --color always | cat"})
        EXPECT_THAT(run_on_terminal(80, line).output, HasSubstr("\x1b[1m")) << line;
    for (std::string const format : {"csv", "json", "svg"})
        EXPECT_THAT(run("explain celery --color always --format " + format).output, Not(HasSubstr("\x1b[")))
            << format;
}

TEST(terminal_output, has_more_than_ascii_where_the_locale_has) {
    std::string const chart = "$tool explain celery --format chart";
    auto const is_ascii = [](std::string const& text) {
        return std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
    };
    EXPECT_TRUE(is_ascii(run_on_terminal(80, chart).output));
    EXPECT_THAT(run_on_terminal(80, "LANG=de_DE.UTF-8 " + chart).output, HasSubstr("░"));
    EXPECT_THAT(run_on_terminal(80, "LC_CTYPE=C.utf8 " + chart).output, HasSubstr("░"));
    EXPECT_TRUE(is_ascii(run_on_terminal(80, "LC_ALL=C LANG=de_DE.UTF-8 " + chart).output));
}

std::string chart_of(retry_policy const& policy, std::optional<double> failure_probability, view const& on) {
    std::ostringstream out;
    print_chart(out, explain(policy, {}), failure_probability, on);
    return out.str();
}

TEST(explanation_chart, has_bars_of_what_is_waited_and_what_is_drawn) {
    auto const policy = retry_policy().backoff(exponential(1s)).jitter(equal_jitter()).max_attempts(4);
    EXPECT_EQ(chart_of(policy, 0.5, {45, false, false}), "exponential(base=1s, factor=2) equal_jitter()\n"
                                                         "  max_attempts(4)\n"
                                                         "\n"
                                                         "failure  mean delay  reach it\n"
                                                         "      1      750 ms      50 %  ##|.\n"
                                                         "      2       1.5 s      25 %  ####.|.\n"
                                                         "      3         3 s    12.5 %  #######...|...\n"
                                                         "                               +------+-----+\n"
                                                         "                               0     2 s  4 s\n"
                                                         "\n"
                                                         "failure  in all\n"
                                                         "      1  750 ms  ##.|\n"
                                                         "      2  2.25 s  ######...|..\n"
                                                         "      3  5.25 s  ##############.......|......\n"
                                                         "                 +-------------+------------+\n"
                                                         "                 0           3.5 s        7 s\n"
                                                         "# in any case, . drawn from, | mean\n"
                                                         "\n"
                                                         "attempts:      at most 4\n"
                                                         "waits in all:  3.5 s to 7 s\n"
                                                         "over after:    no limit is known\n"
                                                         "where 50 % of the attempts fail:\n"
                                                         "  load:        1.875 attempts for each\n"
                                                         "               operation\n"
                                                         "  success:     93.75 % of the operations\n");
}

TEST(explanation_chart, ends_bars_in_eighths_of_a_column) {
    auto const policy = retry_policy().backoff(linear(1s, 1s)).jitter(no_jitter()).max_attempts(9);
    std::string const chart = chart_of(policy, {}, {33, false, true});
    EXPECT_THAT(chart, HasSubstr("      1         1 s  █▌\n"));
    EXPECT_THAT(chart, HasSubstr("      7         7 s  ██████████▌\n"));
    EXPECT_THAT(chart, HasSubstr("      8         8 s  ████████████\n"));
}

TEST(explanation_chart, has_no_bars_where_nothing_is_waited) {
    EXPECT_THAT(chart_of(retry_policy().max_attempts(1), {}, {}), HasSubstr("(no waits)\n"));
    EXPECT_THAT(chart_of(retry_policy().backoff(constant(0s)).max_attempts(3), {}, {}), HasSubstr("      1"));
}

// Whatever the policy and however narrow the view, with a mean in every bar.
TEST(explanation_chart, fits_into_every_width) {
    auto const narrow =
        retry_policy().backoff(exponential(1ns)).jitter(proportional_jitter(1)).max_attempts(40);
    for (std::size_t const width : {20u, 30u, 41u, 80u, 119u})
        for (jitter const& each : {full_jitter(), equal_jitter(), no_jitter(), proportional_jitter(0.001)}) {
            std::istringstream lines(chart_of(narrow.jitter(each), 0.5, {width, false, true}));
            for (std::string line; std::getline(lines, line);)
                if (line.starts_with("      ")) {
                    EXPECT_LE(columns_of(line), std::max<std::size_t>(width, 41)) << line;
                }
        }
}

} // namespace
} // namespace asio_retry::tool
