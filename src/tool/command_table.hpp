#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::tool {

/// One option, for the parser, the help, the completion and the manual.
struct option_entry {
    std::string name;               ///< without the dashes
    std::string value;              ///< such as N; empty for a switch
    std::string what;               ///< what it does
    std::vector<std::string> words; ///< all values, if there is a list of them
    bool takes_several = false;
    bool takes_file = false;
};

struct command_entry {
    std::string name;               ///< such as "simulate occ"
    std::string operands;           ///< as the usage shows them
    std::size_t most_operands = 0;  ///< the greatest number of operands
    std::vector<std::string> words; ///< what an operand may be, if that can be listed
    std::string summary;            ///< a few words
    std::string about;              ///< a few sentences
    std::vector<option_entry> options;
};

/// All commands in the order of the help; the only place where commands and options are written.
std::vector<command_entry> const& commands();

/// Null for an unknown name.
command_entry const* find_command(std::string_view name);

/// The options that stand before the command, or in place of it.
std::vector<option_entry> const& options_without_command();

/// A part of the manual beside the table.
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
