#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::tool {

/// One option, for whoever parses it, helps with it, completes it or prints it in the manual.
struct option_entry {
    std::string name;               ///< without the dashes
    std::string value;              ///< such as N; empty for a switch
    std::string what;               ///< what it does
    std::vector<std::string> words; ///< the values that are understood, if these are all
    bool takes_several = false;
    bool takes_file = false;
};

struct command_entry {
    std::string name;               ///< such as "simulate occ"
    std::string operands;           ///< as the usage shows them
    std::size_t most_operands = 0;  ///< so many
    std::vector<std::string> words; ///< what an operand may be, as far as that can be listed
    std::string summary;            ///< some words
    std::string about;              ///< some sentences
    std::vector<option_entry> options;
};

/// All of them, in the order in which help lists them: the one place where commands and options are written.
std::vector<command_entry> const& commands();

/// Null if there is none of that name.
command_entry const* find_command(std::string_view name);

/// What stands in a command line before the command, or in place of it.
std::vector<option_entry> const& options_without_command();

/// What a text about the whole program tells beside the table.
struct topic {
    std::string title;
    std::string text;
};
std::vector<topic> const& topics();

/// A command line, and what it does.
struct example {
    std::string line, what;
};
std::vector<example> const& examples();

} // namespace asio_retry::tool
