#include "program.hpp"

#include "command_line.hpp"
#include "explain_command.hpp"
#include "profiles_list.hpp"

#include "policy/shown_text.hpp"

#include <iostream>
#include <locale>
#include <sstream>
#include <string>
#include <vector>

namespace asio_retry::tool {
namespace {

double probability(std::string const& text) {
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    double p = -1;
    char rest = 0;
    if (!(in >> p) || in >> rest || !(p >= 0 && p <= 1))
        throw usage_error("--failure-probability " + detail::shown(text) + ": must be a number in [0, 1]");
    return p;
}

CLI::App& add_explain(CLI::App& program, explain_options& into) {
    CLI::App& command = *program.add_subcommand("explain", "what a policy does after each failure");
    command.footer(std::string(what_a_policy_is) + " Several policies are shown one after the other, or\n"
                                                   "compared in one chart. CSV and JSON give nanoseconds.\n");
    add_policies(command, into.policies);
    add_number(command, "--failures", into.failures,
               "this many rows, regardless of limits; otherwise until the policy stops if all delays are "
               "average, and 20 at most",
               1, 10'000);
    add_number(command, "--draws", into.draws,
               "draw this many delays for each failure, and show their distribution", 1, 100'000);
    add_number(command, "--seed", into.seed, "seed of the draws (1)");
    command
        .add_option_function<std::string>(
            "--failure-probability",
            [&into](std::string const& text) { into.failure_probability = probability(text); },
            "of each attempt, from 0 to 1: shows the resulting load and success")
        ->type_name("P");
    add_output(command, into, {"table", "chart", "csv", "json", "svg"});
    return command;
}

void explain_or_list(std::vector<std::string> const& words) {
    CLI::App program("Explains retry policies before anything depends on them.", "asio-retry");
    program.set_version_flag("--version", "asio-retry " ASIO_RETRY_VERSION, "the version of the library");
    program.set_help_all_flag("--help-all", "the help on all commands");
    program.footer(std::string(what_a_policy_is) + "\n\n" + files_of_policies + '\n' +
                   environment_and_exit_status +
                   "\nExamples:\n"
                   "  asio-retry explain 'celery() max_attempts(5)' --failure-probability 0.2\n"
                   "  asio-retry explain go_backoff --format chart\n"
                   "  asio-retry explain --file policies.conf --format svg > policies.svg\n");
    explain_options explained;
    profiles_options listed;
    CLI::App const& explain = add_explain(program, explained);
    add_output(*program.add_subcommand("profiles", "the published schemes that are known by name"), listed,
               {"table", "csv", "json"});
    if (!parse(program, words, std::cout))
        return;
    if (!explain.parsed())
        return print_profiles(std::cout, listed.as, view_of_output(listed.colour));
    if (explained.policies.operands.empty() && explained.policies.file.empty())
        throw usage_error("explain: which policy?");
    print_explanations(std::cout, explained, view_of_output(explained.colour));
}

} // namespace

int run_asio_retry(int argc, char** argv) {
    return run_program("asio-retry", argc, argv, explain_or_list);
}

} // namespace asio_retry::tool
