#pragma once

#include "options.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace asio_retry::tool {

/// Explains what a POLICY is, for the help of a command.
extern char const what_a_policy_is[];

/// Explains files of policies, for the help of a program.
extern char const files_of_policies[];

/// Explains the environment and the exit status, for the help of a program.
extern char const environment_and_exit_status[];

/// Adds an option whose value is one of a few words. `use` gets the word.
void add_word(CLI::App& to, std::string const& name, std::string const& type, std::vector<std::string> words,
              std::string const& what, std::function<void(std::string const&)> use);

/// Reads a whole number in that range. Throws usage_error. A stream would read -1 as a large number.
std::uint64_t whole_number(std::string const& option, std::string const& text, std::uint64_t least,
                           std::uint64_t greatest);

/// Adds an option whose value is a whole number in that range.
template <typename Into>
void add_number(CLI::App& to, std::string const& name, Into& into, std::string const& what,
                std::uint64_t least = 0, std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max()) {
    to.add_option_function<std::string>(
          name,
          [&into, name, least, greatest](std::string const& text) {
              into = static_cast<Into>(whole_number(name, text, least, greatest));
          },
          what)
        ->type_name("N");
}

/// Adds --format, whose default is the first of the formats, --color, and --json if it is one of them.
void add_output(CLI::App& to, output_options& into, std::vector<std::string> formats);

/// Adds POLICY... and --file.
void add_policies(CLI::App& to, policy_options& into);

/// Returns false if the words ask for help or for the version, which `out` then gets. `help NAME` means
/// `NAME --help`. Throws usage_error, also if no command is given.
bool parse(CLI::App& program, std::vector<std::string> words, std::ostream& out);

/// Runs a program and returns its exit status: 0 if it is done, 1 if it failed, and 2 if the command line or a
/// policy is wrong. Messages begin with the program's name.
int run_program(char const* name, int argc, char** argv,
                std::function<void(std::vector<std::string> const&)> const& run);

} // namespace asio_retry::tool
