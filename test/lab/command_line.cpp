// The program of the lab: its commands, output, messages and exit codes.
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/terminal.hpp"
#include "tool/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace asio_retry::lab {
namespace {

using namespace tool;
using ::testing::Not;

TEST(lab, studies_contention) {
    auto const [code, output] = run("occ --clients 1 3 --trials 5 --format csv 2>&1");
    EXPECT_EQ(code, 0);
    EXPECT_THAT(output, StartsWith("clients,algorithm,trials,time_mean,time_sd,time_p05,time_p50,time_p95,"
                                   "calls_mean,calls_sd,calls_p05,calls_p50,calls_p95\n1,None,5,"));
    EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1 + 2 * 5);
    expect_well_formed(run("occ --clients 1 3 --trials 2 --format svg").output);
    EXPECT_THAT(run("occ --clients 2 --trials 2").output, HasSubstr("FullJitter"));
}

TEST(lab, repeats_a_seed) {
    for (std::string const study :
         {"occ --clients 5 --trials 3 --format csv --seed ",
          "rounds 'constant(9s) full_jitter() unlimited_attempts()' --seed ", "load --format csv --seed "}) {
        EXPECT_EQ(run(study + "1").output, run(study + "1").output);
        EXPECT_NE(run(study + "1").output, run(study + "2").output);
    }
}

TEST(lab, studies_rounds) {
    EXPECT_THAT(run("rounds --clients 10 --capacity 5").output, HasSubstr("rounds:    2\nattempts:  15\n"));
    auto const [code, output] = run("rounds");
    EXPECT_EQ(code, 0);
    EXPECT_THAT(output, HasSubstr("rounds:    100\nattempts:  5050\n"));
    EXPECT_THAT(run("rounds --clients 2 --format csv").output, "round,attempts,served\n1,2,1\n2,1,1\n");
    EXPECT_THAT(run("rounds 'constant(1s) no_jitter() max_attempts(2)' --clients 5").output,
                HasSubstr("gave up:   3 clients"));
}

TEST(lab, runs_the_studies_of_gates) {
    auto const [code, output] = run("amplification 2>&1");
    EXPECT_EQ(code, 0);
    EXPECT_THAT(output, StartsWith("Layers that retry what always fails\n"));
    EXPECT_THAT(run("amplification --format csv").output, StartsWith("setting,layer,attempts_per_request\n"));
}

TEST(lab, simulates_policies_of_a_file) {
    std::string const file = " --file - <<'EOF'\ncheckout = go_backoff\nsearch = celery\nEOF\n";
    std::string const occ = run("occ --clients 3 --trials 2 --format csv" + file).output;
    EXPECT_THAT(occ, HasSubstr(",calls_p95,gave_up_mean\n3,checkout,2,"));
    EXPECT_EQ(std::count(occ.begin(), occ.end(), '\n'), 3);
    std::string const rounds = run("rounds --clients 5 --format csv" + file).output;
    EXPECT_THAT(rounds, StartsWith("policy,round,attempts,served\ncheckout,1,"));
    EXPECT_THAT(rounds, HasSubstr("\nsearch,1,5,1\n"));
    EXPECT_THAT(run("rounds" + file).output, HasSubstr("policy"));
    EXPECT_THAT(run("rounds --format svg" + file).output, HasSubstr(">search<"));
}

TEST(lab, simulates_policies_instead_of_the_published) {
    auto const [code, output] =
        run("occ --trials 2 --clients 3 --format csv 2>&1 -- 'a, b = constant(1ms)' celery");
    EXPECT_EQ(code, 2) << "a name has no blank";
    std::string const csv =
        run("occ 'constant(1ms) full_jitter(unit=1us)' celery --trials 2 --clients 3 --format csv").output;
    EXPECT_THAT(csv, HasSubstr("\n3,constant(1ms) full_jitter(unit=1us),2,"));
    EXPECT_THAT(csv, Not(HasSubstr("FullJitter")));
    EXPECT_THAT(run("rounds 'exponential(1s, cap=2s)' celery --format csv").output,
                HasSubstr("\n\"exponential(1s, cap=2s)\",1,100,1\n"));
}

TEST(lab, refuses_what_it_does_not_understand) {
    expect_usage_error("", "which command?");
    expect_usage_error("ocs", "no command 'ocs'; did you mean occ?");
    expect_usage_error("rounds Celery", "did you mean celery?");
    expect_usage_error("rounds nonsense", "policy");
    expect_usage_error("rounds celery 'mine = celry'", "lab: mine: at byte 7: ");
    expect_usage_error("occ celery celery", ": a second policy with the name 'celery'\n");
    expect_usage_error("occ --clients 0", "--clients 0: must be a whole number of at least 1");
    expect_usage_error("occ --trials 1", "at least 2");
    expect_usage_error("load --seed -1", "--seed");
    expect_usage_error("load --clients 3", "--clients");
    expect_usage_error("load --format yaml", "must be table, csv or svg");
    expect_usage_error("load more", "load: takes no argument, found 'more'");
    outcome const lost = run("rounds 2>&1 >/dev/full");
    EXPECT_EQ(lost.exit_code, 1);
    EXPECT_EQ(lost.output, "lab: cannot write the output\n");
    EXPECT_EQ(run("all --folder /nonexistent 2>&1").output,
              "lab: /nonexistent/occ_study.txt: cannot be written\n");
}

TEST(lab, helps_with_every_study) {
    std::string const help = run("help").output;
    for (char const* const study : {"occ", "rounds", "amplification", "load", "metastable", "stampede",
                                    "pushback", "throttle", "fleet", "hedging", "ethernet", "all"}) {
        EXPECT_THAT(help, HasSubstr(std::string("\n  ") + study + ' '));
        EXPECT_THAT(run(std::string("help ") + study).output, HasSubstr("Usage: lab " + std::string(study)));
    }
}

// `cmake --build --preset lab --target charts` draws them again.
TEST(lab, has_drawn_the_charts_of_the_documentation) {
    for (std::string const study : {"occ", "rounds"}) { // every_study.reports_in_every_format has the others
        std::ifstream file(test::file_of_project("doc/studies/" + study + "_study.svg"));
        std::string const drawn{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        expect_well_formed(drawn);
        EXPECT_EQ(run(study + " --format svg").output, drawn) << study;
    }
}

TEST(lab, is_no_wider_than_the_terminal) {
    for (unsigned short const columns : std::initializer_list<unsigned short>{40, 80, 120})
        for (std::string const words : {"occ --clients 5 --trials 2 celery 2>/dev/null",
                                        "rounds celery go_backoff", "amplification 2>/dev/null"}) {
            auto const [code, output] = run_on_terminal(columns, "NO_COLOR=1 COLUMNS= $tool " + words);
            EXPECT_EQ(code, 0) << words;
            EXPECT_LE(longest_line(output), columns) << words << '\n' << output;
        }
}

TEST(lab, shows_progress_that_fits) {
    std::string const shown = run_on_terminal(30, "$tool amplification 2>&1 >/dev/null").output;
    std::string const first = shown.substr(0, shown.find('%') + 1);
    EXPECT_LT(first.size(), 30u) << first;
}

} // namespace
} // namespace asio_retry::lab
