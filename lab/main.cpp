// lab: runs the studies, which simulate clients and servers with the library's own machine.
#include "occ_study.hpp"
#include "progress_bar.hpp"
#include "rounds_study.hpp"
#include "studies.hpp"
#include "study_formats.hpp"
#include "tool/command_line.hpp"
#include "tool/policy_list.hpp"

#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::lab {
namespace {

struct occ_options : tool::output_options {
    tool::policy_options policies; ///< instead of the study's
    std::vector<unsigned> clients{1, 2, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160};
    unsigned trials = 100;
    std::uint64_t seed = 1;
};

/// The options of a study that has no parameter but its seed, or of all studies.
struct study_options : tool::output_options {
    std::uint64_t seed = 1;
    std::string folder; ///< gets a file of each study; empty: all go to the output
};

constexpr char const seed_text[] = "seed of all random numbers (1)";
std::vector<std::string> const formats{"table", "csv", "svg"};

void run_occ(std::ostream& out, occ_options const& asked, view const& on) {
    std::vector<occ_algorithm> algorithms;
    for (named_policy const& each : tool::policies_of(asked.policies))
        algorithms.push_back({each.name, each.policy});
    bool const has_own = !algorithms.empty();
    std::vector<occ_result> results;
    {
        progress_bar bar;
        results = study_occ(has_own ? algorithms : occ_algorithms(), asked.clients, asked.trials, asked.seed,
                            [&](double share) { bar.show(share); });
    }
    print_occ(out, results, has_own, asked.as, on);
}

void run_rounds(std::ostream& out, rounds_options asked, view const& on) {
    if (asked.policies.operands.empty() && asked.policies.file.empty())
        asked.policies.operands = {"constant(1s) no_jitter() unlimited_attempts()"};
    std::vector<named_rounds> all;
    for (named_policy const& each : tool::policies_of(asked.policies))
        all.push_back({each.name, study_rounds(each.policy, asked.clients, asked.capacity, asked.seed)});
    print_rounds(out, all, asked, on);
}

void run_study(std::ostream& out, study const& which, study_options const& asked, view const& on) {
    study_report report;
    {
        progress_bar bar;
        report = which.run(asked.seed, [&](double share) { bar.show(share); });
    }
    print_study(out, report, asked.as, on);
}

void run_by_name(std::ostream& out, std::string const& name, study_options const& asked, view const& on) {
    if (name == "occ") {
        occ_options occ;
        occ.as = asked.as;
        occ.seed = asked.seed;
        return run_occ(out, occ, on);
    }
    if (name == "rounds") {
        rounds_options rounds;
        rounds.as = asked.as;
        rounds.seed = asked.seed;
        return run_rounds(out, rounds, on);
    }
    run_study(out, *find_study(name), asked, on);
}

void run_all(std::vector<std::string> const& names, study_options const& asked, view const& on) {
    char const* const suffix = asked.as == format::csv ? ".csv" : asked.as == format::svg ? ".svg" : ".txt";
    for (std::string const& name : names) {
        if (asked.folder.empty()) {
            std::cout << (name == names.front() ? "" : "\n") << "# " << name << '\n';
            run_by_name(std::cout, name, asked, on);
            continue;
        }
        std::string const path = asked.folder + '/' + name + "_study" + suffix;
        std::ofstream file(path, std::ios::binary);
        if (file)
            run_by_name(file, name, asked, {});
        if (!file.flush())
            throw std::runtime_error(path + ": cannot be written");
    }
}

void add_occ(CLI::App& program, occ_options& into) {
    CLI::App& command = *program.add_subcommand("occ", "clients that contend for one row");
    command.footer("Clients read a row, write it if nobody else has, and otherwise retry: the contention\n"
                   "study of M. Brooker, \"Exponential Backoff And Jitter\", 2015, with its five policies\n"
                   "or with others, whose clients may give up. Times are in milliseconds.\n\n" +
                   std::string(tool::what_a_policy_is));
    tool::add_policies(command, into.policies);
    command
        .add_option_function<std::vector<std::string>>(
            "--clients",
            [&into](std::vector<std::string> const& texts) {
                into.clients.clear();
                for (std::string const& text : texts)
                    into.clients.push_back(
                        static_cast<unsigned>(tool::whole_number("--clients", text, 1, 100'000)));
            },
            "numbers of clients, each studied (1 2 5 10 20 40 60 80 100 120 140 160)")
        ->type_name("N");
    tool::add_number(command, "--trials", into.trials, "trials for each number of clients (100)", 2, 1'000'000);
    tool::add_number(command, "--seed", into.seed, seed_text);
    tool::add_output(command, into, formats);
}

void add_rounds(CLI::App& program, rounds_options& into) {
    CLI::App& command = *program.add_subcommand("rounds", "clients that a server turns away");
    command.footer("Clients begin together at a server that serves a few in each round, and turns the\n"
                   "others away. POLICY says how they come back: a second is a round. The default is at\n"
                   "once.\n\n" +
                   std::string(tool::what_a_policy_is));
    tool::add_policies(command, into.policies);
    tool::add_number(command, "--clients", into.clients, "how many clients (100)", 1, 1'000'000);
    tool::add_number(command, "--capacity", into.capacity, "how many a round serves (1)", 1, 1'000'000);
    tool::add_number(command, "--seed", into.seed, seed_text);
    tool::add_output(command, into, formats);
}

void run(std::vector<std::string> const& words) {
    CLI::App program("Runs studies of many clients that retry, and prints what they find.", "lab");
    program.footer(tool::environment_and_exit_status);
    occ_options occ;
    rounds_options rounds;
    study_options asked;
    add_occ(program, occ);
    add_rounds(program, rounds);
    std::vector<std::string> names{"occ", "rounds"};
    for (study const& each : studies()) {
        names.emplace_back(each.name);
        CLI::App& command = *program.add_subcommand(each.name, each.summary);
        command.footer(each.about);
        tool::add_number(command, "--seed", asked.seed, seed_text);
        tool::add_output(command, asked, formats);
    }
    CLI::App& all = *program.add_subcommand("all", "every study, one after the other");
    all.add_option("--folder", asked.folder, "write a file for each study there")->type_name("FOLDER");
    tool::add_number(all, "--seed", asked.seed, seed_text);
    tool::add_output(all, asked, formats);
    if (!tool::parse(program, words, std::cout))
        return;
    std::string const name = program.get_subcommands().front()->get_name();
    if (name == "all")
        run_all(names, asked, tool::view_of_output(asked.colour));
    else if (name == "occ")
        run_occ(std::cout, occ, tool::view_of_output(occ.colour));
    else if (name == "rounds")
        run_rounds(std::cout, rounds, tool::view_of_output(rounds.colour));
    else
        run_study(std::cout, *find_study(name), asked, tool::view_of_output(asked.colour));
}

} // namespace
} // namespace asio_retry::lab

int main(int argc, char** argv) {
    return asio_retry::tool::run_program("lab", argc, argv, asio_retry::lab::run);
}
