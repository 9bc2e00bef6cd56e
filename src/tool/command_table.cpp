#include "command_table.hpp"

#include "studies.hpp"

#include <asio_retry/profiles.hpp>

#include <algorithm>

namespace asio_retry::tool {
namespace {

std::string const what_a_policy_is =
    "POLICY is a text such as\n"
    "  'exponential(base=100ms, factor=2, cap=10s) full_jitter() max_attempts(5)'\n"
    "or the name of a profile, with or without changes: 'go_backoff', 'celery() max_attempts(5)'. "
    "'NAME = POLICY' gives it a name. ";

std::vector<std::string> names_of_profiles() {
    std::vector<std::string> names;
    for (profiles::profile const& p : profiles::all())
        names.emplace_back(p.name);
    return names;
}

option_entry format_option(std::vector<std::string> words) {
    std::string what;
    for (std::string const& word : words)
        what += (&word == &words.front()  ? ""
                 : &word == &words.back() ? " or "
                                          : ", ") +
                word + (&word == &words.front() ? " (the default)" : "");
    return {"format", "FORMAT", what, std::move(words), false, false};
}

option_entry const json_option{"json", "", "the same as --format json", {}, false, false};
option_entry const color_option{
    "color",
    "WHEN",
    "auto (the default: on a terminal, unless NO_COLOR is set or TERM is dumb), always or never",
    {"auto", "always", "never"},
    false,
    false};
option_entry const seed_option{"seed", "N", "seed of all random numbers (1)", {}, false, false};
option_entry const file_option{"file",
                               "FILE",
                               "read named policies from a file, or from standard input if it is -; "
                               "POLICY is then the name of one of them",
                               {},
                               false,
                               true};

std::vector<option_entry> with_common(std::vector<option_entry> options, std::vector<std::string> formats) {
    options.push_back(format_option(std::move(formats)));
    options.push_back(json_option);
    options.push_back(color_option);
    return options;
}

std::vector<command_entry> make_commands() {
    std::vector<std::string> const charts{"table", "csv", "json", "svg"};
    std::vector<command_entry> all;
    all.push_back(
        {"explain", "[POLICY...]", 100, names_of_profiles(), "what a policy does after each failure",
         "Shows what a policy does after each failure. " + what_a_policy_is +
             "Several policies are shown one after the other, or compared in one chart. CSV and JSON give "
             "nanoseconds.",
         with_common(
             {file_option,
              {"failures",
               "N",
               "this many rows, regardless of limits; otherwise until the policy stops if all delays are "
               "average, and 20 at most",
               {},
               false,
               false},
              {"draws",
               "N",
               "draw this many delays for each failure, and show their distribution",
               {},
               false,
               false},
              {"seed", "N", "seed of the draws (1)", {}, false, false},
              {"failure-probability",
               "P",
               "of each attempt, from 0 to 1: shows the resulting load and success",
               {},
               false,
               false}},
             {"table", "chart", "csv", "json", "svg"})});
    all.push_back({"profiles",
                   "",
                   0,
                   {},
                   "the published schemes that are known by name",
                   "Lists the published schemes that the library knows by name.",
                   with_common({}, {"table", "csv", "json"})});
    all.push_back(
        {"simulate occ", "[POLICY...]", 100, names_of_profiles(), "clients that contend for one row",
         "Clients read a row, write it if nobody else has, and otherwise retry: the contention study of M. "
         "Brooker, \"Exponential Backoff And Jitter\", 2015, with its five policies or with others, whose "
         "clients may give up. Times are in milliseconds.\n\n" +
             what_a_policy_is,
         with_common({{"clients",
                       "N...",
                       "numbers of clients, each studied (1 2 5 10 20 40 60 80 100 120 140 160)",
                       {},
                       true,
                       false},
                      {"trials", "N", "trials for each number of clients (100)", {}, false, false},
                      file_option,
                      seed_option},
                     charts)});
    all.push_back({"simulate rounds", "[POLICY...]", 100, names_of_profiles(),
                   "clients that a server turns away",
                   "Clients begin together at a server that serves a few in each round, and turns the others "
                   "away. POLICY "
                   "says how they come back, a second being a round; at once by default.\n\n" +
                       what_a_policy_is,
                   with_common({{"clients", "N", "how many clients (100)", {}, false, false},
                                {"capacity", "N", "how many a round serves (1)", {}, false, false},
                                file_option,
                                seed_option},
                               charts)});
    for (study const& each : studies())
        all.push_back({std::string("simulate ") + each.name,
                       "",
                       0,
                       {},
                       each.summary,
                       each.about,
                       with_common({seed_option}, charts)});
    all.push_back(
        {"completion",
         "SHELL",
         1,
         {"bash", "zsh"},
         "completion of command lines in a shell",
         "Prints a script that completes command lines of asio-retry in bash or zsh. It is installed with "
         "the program; without installing:\n"
         "  source <(asio-retry completion bash)",
         {}});
    all.push_back({"manual",
                   "",
                   0,
                   {},
                   "the manual page, for man",
                   "Prints the manual page as it is installed:\n"
                   "  asio-retry manual | man -l -",
                   {}});
    all.push_back({"help", "[COMMAND]", 2, {}, "more about a command", "Shows how a command is used.", {}});
    return all;
}

} // namespace

std::vector<command_entry> const& commands() {
    static std::vector<command_entry> const all = make_commands();
    return all;
}

command_entry const* find_command(std::string_view name) {
    auto const found = std::find_if(commands().begin(), commands().end(),
                                    [&](command_entry const& c) { return c.name == name; });
    return found == commands().end() ? nullptr : &*found;
}

std::vector<option_entry> const& options_without_command() {
    static std::vector<option_entry> const all{
        {"help", "", "this, or more about the command", {}, false, false},
        {"version", "", "the version of the library", {}, false, false}};
    return all;
}

std::vector<topic> const& topics() {
    static std::vector<topic> const all{
        {"Files of policies",
         "A line of a text names a policy:\n"
         "  checkout = exponential(base=100ms, cap=10s) full_jitter() max_attempts(5)\n"
         "Empty lines and those that begin with # say nothing. Or the file is JSON: an object whose keys are "
         "the names, and whose values are policies as asio_retry::policy_from_json reads them, or texts."},
        {"Environment",
         "NO_COLOR, and a TERM that is dumb, turn colours off where --color does not say otherwise. COLUMNS is "
         "the width of what is "
         "shown, instead of the terminal's. LC_ALL, LC_CTYPE and LANG say whether a chart may have more than "
         "ASCII: if they name UTF-8."},
        {"Exit status", "0 if it is done, 1 if it failed, as when the output cannot be written or a file not "
                        "be read, and 2 if the "
                        "command line or a policy is wrong."}};
    return all;
}

std::vector<example> const& examples() {
    static std::vector<example> const all{
        {"asio-retry explain 'celery() max_attempts(5)' --failure-probability 0.2",
         "Delays of a policy, and what it adds to the load."},
        {"asio-retry explain go_backoff --format chart", "The same as a chart in the terminal."},
        {"asio-retry explain --file policies.conf --format svg > policies.svg",
         "Policies compared in a chart."},
        {"asio-retry simulate occ 'mine = exponential(10ms) full_jitter() unlimited_attempts()' celery",
         "A policy against another when clients contend."}};
    return all;
}

} // namespace asio_retry::tool
