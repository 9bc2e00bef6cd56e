// The program as its users meet it: arguments, output, messages and exit codes.
#include "support/places.hpp"
#include "support/program.hpp"
#include "tool/svg.hpp"

#include "support/csv.hpp"

#include <asio_retry/profiles.hpp>

#include <boost/json/parse.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace asio_retry::tool {
namespace {

TEST(explain_command, writes_csv_in_nanoseconds) {
    auto const [code, output] = run("explain 'truncated_binary(growing_failures=10, greatest=10s) "
                                    "full_jitter()' --failures 3 --format csv");
    EXPECT_EQ(code, 0);
    EXPECT_EQ(output, "failure,ceiling_ns,min_ns,mean_ns,max_ns,cumulative_mean_ns\n"
                      "1,19531250,0,9765625,19531250,9765625\n"
                      "2,39062500,0,19531250,39062500,29296875\n"
                      "3,78125000,0,39062500,78125000,68359375\n");
}

TEST(explain_command, adds_the_percentiles_of_what_is_drawn) {
    auto const [code, output] =
        run("explain 'constant(1s) no_jitter() max_attempts(2)' --draws 10 --format csv");
    EXPECT_EQ(code, 0);
    EXPECT_EQ(output,
              "failure,ceiling_ns,min_ns,mean_ns,max_ns,cumulative_mean_ns,p01_ns,p50_ns,p99_ns\n"
              "1,1000000000,1000000000,1000000000,1000000000,1000000000,1000000000,1000000000,1000000000\n");
}

TEST(explain_command, has_its_percentiles_in_order) {
    auto const [code, output] =
        run("explain 'constant(1s) full_jitter() max_attempts(2)' --draws 1000 --format csv");
    std::istringstream lines(output);
    std::string header, row;
    std::getline(lines, header);
    std::getline(lines, row);
    long long failure, ceiling, least, mean, greatest, in_all, p01, p50, p99;
    ASSERT_EQ(std::sscanf(row.c_str(), "%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld", &failure, &ceiling,
                          &least, &mean, &greatest, &in_all, &p01, &p50, &p99),
              9);
    EXPECT_NEAR(static_cast<double>(p01), 0.01e9, 0.02e9);
    EXPECT_NEAR(static_cast<double>(p50), 0.5e9, 0.1e9);
    EXPECT_NEAR(static_cast<double>(p99), 0.99e9, 0.02e9);
    boost::json::value const json = boost::json::parse(
        run("explain 'constant(1s) full_jitter() max_attempts(2)' --draws 1000 --format json").output);
    EXPECT_EQ(json.at("failures").at(0).at("p01_ns"), p01);
    EXPECT_EQ(json.at("failures").at(0).at("p50_ns"), p50);
    EXPECT_EQ(json.at("failures").at(0).at("p99_ns"), p99);
}

TEST(explain_command, repeats_a_seed) {
    std::string const drawn = "explain go_backoff --draws 100 --format csv --seed ";
    EXPECT_EQ(run(drawn + "1").output, run(drawn + "1").output);
    EXPECT_NE(run(drawn + "1").output, run(drawn + "2").output);
}

TEST(explain_command, writes_json) {
    auto const [code, output] =
        run("explain 'constant(1s) no_jitter() max_attempts(3)' --failure-probability 0.5 --format json");
    EXPECT_EQ(code, 0);
    boost::json::object const all = boost::json::parse(output).as_object();
    EXPECT_EQ(all.at("failures").as_array().size(), 2u);
    EXPECT_EQ(all.at("failures").at(1).at("cumulative_mean_ns"), 2'000'000'000);
    EXPECT_EQ(all.at("attempts").at("max"), 3);
    EXPECT_TRUE(all.at("max_total_ns").is_null());
    EXPECT_EQ(all.at("attempts_per_operation"), 1.75);
    EXPECT_EQ(all.at("success_probability"), 0.875);
}

TEST(explain_command, writes_no_number_that_json_does_not_have) {
    auto const [code, output] = run("explain 'unlimited_attempts()' --failure-probability 1 --format json");
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(boost::json::parse(output).at("attempts_per_operation").is_null());
}

TEST(explain_command, says_what_is_waited_in_all) {
    auto const waits = [](std::string const& policy) {
        std::string const output = run("explain '" + policy + "'").output;
        std::size_t const begin = output.find("waits in all:");
        return begin == std::string::npos ? ""
                                          : output.substr(begin + 15, output.find('\n', begin) - begin - 15);
    };
    std::string const halves = "exponential(1s) equal_jitter() max_attempts(4) ";
    EXPECT_EQ(waits(halves), "3.5 s to 7 s");
    EXPECT_EQ(waits(halves + "max_elapsed(2.5s) clamp()"), "2.5 s in 1000 runs");
    EXPECT_THAT(waits(halves + "max_elapsed(5s)"),
                AllOf(StartsWith("1.5"), HasSubstr(" s to 4.9"), EndsWith(" s in 1000 runs")));
    EXPECT_EQ(waits("constant(1ms) no_jitter() unlimited_attempts() max_elapsed(1min)"), "0 to 1 min");
    EXPECT_EQ(waits("constant(1s) no_jitter() max_attempts(3)"), "2 s");
    EXPECT_EQ(waits("unlimited_attempts()"), "");
}

TEST(explain_command, says_that_there_are_more_attempts_than_it_played) {
    std::string const words = "explain 'constant(1ms) no_jitter() unlimited_attempts() max_elapsed(1min)' ";
    std::string const table = run(words + "--failure-probability 1").output;
    EXPECT_THAT(table, HasSubstr("attempts:      more than 10000\n"));
    EXPECT_THAT(table, HasSubstr("load:        at least 1e+04 attempts"));
    EXPECT_THAT(table, HasSubstr("success:     0 % of"));
    EXPECT_THAT(run(words + "--failure-probability 0.9999").output, HasSubstr("success:     at least 63.2"));
    auto const json = boost::json::parse(run(words + "--failure-probability 1 --json").output).as_object();
    EXPECT_TRUE(json.at("attempts").at("max").is_null());
    EXPECT_TRUE(json.at("attempts_per_operation").is_null());
    EXPECT_EQ(json.at("success_probability").to_number<double>(), 0);
    EXPECT_THAT(run("explain 'constant(4ms) full_jitter() unlimited_attempts() max_elapsed(20s)'").output,
                HasSubstr(" to more than 10000"));
}

TEST(explain_command, draws_svg) {
    auto const [code, output] = run("explain go_backoff --draws 50 --format svg");
    EXPECT_EQ(code, 0);
    expect_well_formed(output);
    EXPECT_THAT(output, HasSubstr("ceiling"));
}

TEST(explain_command, prints_a_table_with_what_follows_for_the_load) {
    auto const [code, output] = run("explain 'max_attempts(3) attempt_timeout(1s)' --failure-probability 0.5");
    EXPECT_EQ(code, 0);
    EXPECT_THAT(output, HasSubstr("failure     ceiling       least        mean    greatest"));
    EXPECT_THAT(output, HasSubstr("at most 3"));
    EXPECT_THAT(output, HasSubstr("1.75 attempts for each operation"));
    EXPECT_THAT(output, HasSubstr("87.5 % of the operations"));
    EXPECT_THAT(output, HasSubstr("at most 3.3 s"));
}

TEST(explain_command, knows_every_profile_by_name) {
    for (profiles::profile const& p : profiles::all())
        EXPECT_EQ(run("explain " + std::string(p.name) + " --format csv").exit_code, 0) << p.name;
}

// `cmake --build build/test --target scheme_charts` draws them again.
TEST(explain_command, has_drawn_the_charts_of_the_documentation) {
    for (profiles::profile const& p : profiles::all()) {
        std::ifstream file(test::file_of_project("doc/schemes/" + std::string(p.name) + ".svg"));
        std::string const drawn{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        EXPECT_EQ(run("explain " + std::string(p.name) + " --draws 10 --format svg").output, drawn) << p.name;
    }
}

TEST(profiles_command, lists_every_profile) {
    std::string const table = run("profiles").output;
    boost::json::array const json = boost::json::parse(run("profiles --format json").output).as_array();
    EXPECT_EQ(json.size(), profiles::all().size());
    for (profiles::profile const& p : profiles::all())
        EXPECT_THAT(table, HasSubstr(std::string(p.name) + " "));
    EXPECT_THAT(run("profiles --format csv").output, StartsWith("name,summary,policy,source,flaw\n"));
}

// What was given is shown without what a terminal obeys, and not at length.
TEST(command_line, decision_33_shows_no_word_as_it_came) {
    for (std::string const& word : {std::string("'a\n\x1b[2Jb'"), std::string(10'000, 'x')})
        for (std::string const before :
             {"", "help ", "profiles ", "explain ", "explain go_backoff --", "explain go_backoff --format ",
              "explain go_backoff --draws ", "explain go_backoff --failure-probability "}) {
            auto const [code, said] = run(before + word + " 2>&1");
            EXPECT_EQ(code, 2) << before;
            EXPECT_LE(said.size(), 1'000u) << before;
            EXPECT_LE(std::count(said.begin(), said.end(), '\n'), 2) << said;
            EXPECT_EQ(said.find('\x1b'), std::string::npos) << before;
        }
}

TEST(command_line, refuses_what_it_does_not_understand) {
    expect_usage_error("", "which command?");
    expect_usage_error("explian", "no command 'explian'; did you mean explain?");
    expect_usage_error("--hlep", "did you mean --help?");
    expect_usage_error("xyzzy", "no command 'xyzzy'\n");
    expect_usage_error("help profile", "did you mean profiles?");
    expect_usage_error("explain go_backoff --failures 18446744073709551615", "at most 10000");
    expect_usage_error("explain go_backoff --draws 1000000000", "at most 100000");
    expect_usage_error("explain go_backoff --failures 10000 --draws 100000",
                       "--draws 100000: must be at most 1000 for 10000 failures");
    expect_usage_error("explain celery grpc --failures 2500 --draws 2001",
                       "--draws 2001: must be at most 2000");
    expect_usage_error("help nothing", "no command 'nothing'");
    expect_usage_error("explain", "which policy?");
    expect_usage_error("explain 'exponential(base=1s) full_jiter()'", "21");
    expect_usage_error("explain 'exponential(base=1s, factor=0.5)'", "factor");
    expect_usage_error("explain celry", "policy: at byte 0: expected the name of a profile, or items such as "
                                        "max_attempts(10), found 'celry'; did you mean celery?");
    expect_usage_error("explain exponental", "did you mean exponential?");
    expect_usage_error("explain go_backoff --failures 0", "--failures 0: must be a whole number of at least 1");
    expect_usage_error("explain go_backoff --failures=-1", "at least 1");
    expect_usage_error("explain go_backoff --draws many", "--draws many");
    expect_usage_error("explain go_backoff --draws 5x", "--draws 5x: must be a whole number");
    expect_usage_error("explain go_backoff --seed 99999999999999999999", "--seed");
    expect_usage_error("explain go_backoff --failure-probability 1.5", "[0, 1]");
    expect_usage_error("explain go_backoff --format yaml",
                       "--format yaml: must be table, chart, csv, json or svg");
    expect_usage_error("explain go_backoff --colour", "no option '--colour'; did you mean --color?");
    expect_usage_error("explain go_backoff --color blue", "--color blue: must be auto, always or never");
    expect_usage_error("explain go_backoff --json --format csv", "--json and --format csv: give only one");
    expect_usage_error("explain go_backoff --seed 1 --seed 2", "--seed");
    expect_usage_error("explain go_backoff --failure-probability 0.5x", "must be a number");
    expect_usage_error("--version extra", "--version takes no argument, found 'extra'\n");
    expect_usage_error("profiles more", "profiles: takes no argument, found 'more'\n");
    expect_usage_error("profiles --format svg", "must be table, csv or json");
}

TEST(command_line, helps) {
    for (std::string const words : {"help", "--help", "-h", "help explain", "explain --help", "help profiles",
                                    "explain --help --format csv", "-h explain", "--help-all"}) {
        auto const [code, output] = run(words + " 2>/dev/null");
        EXPECT_EQ(code, 0) << words;
        EXPECT_THAT(output, HasSubstr("Usage: asio-retry ")) << words;
    }
    EXPECT_THAT(run("--version").output, StartsWith("asio-retry "));
    std::string const all = run("--help-all").output;
    for (char const* const words :
         {"explain", "profiles", "--failure-probability P", "TERM is dumb", "Exit status:"})
        EXPECT_THAT(all, HasSubstr(words));
}

TEST(command_line, has_examples_that_run) {
    std::istringstream help(run("help").output);
    int examples = 0;
    for (std::string line; std::getline(help, line);) {
        std::size_t const at = line.find("  asio-retry explain ");
        if (at != 0)
            continue;
        std::string words = line.substr(13);
        if (words.find("policies.conf") != std::string::npos)
            words = "explain --file - --format svg <<'EOF'\nmine = celery\nEOF\n";
        EXPECT_EQ(run(words).exit_code, 0) << line;
        ++examples;
    }
    EXPECT_EQ(examples, 3);
}

TEST(command_line, says_when_its_output_is_lost) {
    for (std::string const words : {"explain go_backoff 2>&1 >/dev/full", "explain go_backoff 2>&1 >&-",
                                    "help 2>&1 >&-", "--version 2>&1 >&-"}) {
        outcome const lost = run(words);
        EXPECT_EQ(lost.exit_code, 1) << words;
        EXPECT_EQ(lost.output, "asio-retry: cannot write the output\n") << words;
    }
}

// Who has read enough of a pipe ends the program that writes to it, unless that is told not to mind.
TEST(command_line, ends_when_nobody_reads_its_pipe) {
    std::string const draws = "explain go_backoff --draws 20000 --format svg";
    EXPECT_EQ(run_in_shell("{ " + program() + " " + draws + "; echo $? >&2; } 2>&1 >/dev/null | cat").output,
              "0\n");
    EXPECT_EQ(run_in_shell("(trap '' PIPE; { " + program() + " " + draws +
                           " 2>&1 >&3; echo $?; } 3>&1 >&4 | true) 4>&1")
                  .output,
              "asio-retry: cannot write the output\n1\n");
}

} // namespace
} // namespace asio_retry::tool
