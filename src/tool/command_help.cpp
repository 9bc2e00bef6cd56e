#include "command_help.hpp"

#include "command_table.hpp"
#include "text_layout.hpp"

#include <algorithm>

namespace asio_retry::tool {
namespace {

constexpr std::size_t help_width = 80;
constexpr std::size_t longest_help_line = 100;

/// Words with their meaning beside them, or below if there is too little room.
std::string help_entry(std::string const& words, std::string const& what, std::size_t column,
                       std::size_t width) {
    std::string text = "  " + words;
    bool const is_narrow = width < column + 30;
    std::size_t const indent = is_narrow ? 6 : column;
    if (is_narrow || text.size() + 2 > column)
        text += '\n' + std::string(indent, ' ');
    else
        text.resize(column, ' ');
    return text + wrapped(what, width, indent, indent) + '\n';
}

std::string help_title(std::string const& text, view const& on) {
    return coloured(on, "1", text) + '\n';
}

std::string help_on(command_entry const& command, view const& on) {
    std::string usage = "usage: asio-retry " + command.name;
    if (!command.operands.empty())
        usage += ' ' + command.operands;
    if (!command.options.empty())
        usage += " [OPTIONS]";
    std::string text = wrapped(usage, on.width, 6) + "\n\n" + wrapped(command.about, on.width) + "\n";
    if (!command.options.empty())
        text += '\n' + help_title("Options:", on);
    for (option_entry const& option : command.options)
        text += help_entry("--" + option.name + (option.value.empty() ? "" : ' ' + option.value), option.what,
                           28, on.width);
    return text;
}

std::string overview(view const& on) {
    std::string text = "usage: asio-retry COMMAND [OPTIONS]\n\n" + help_title("Commands:", on);
    constexpr std::size_t column = 31;
    for (command_entry const& each : commands())
        text += help_entry(each.name + (each.operands.empty() ? "" : ' ' + each.operands), each.summary, column,
                           on.width);
    for (option_entry const& each : options_without_command())
        text += help_entry("--" + each.name, each.what, column, on.width);
    for (topic const& each : topics())
        text += '\n' + help_title(each.title + ':', on) + wrapped(each.text, on.width) + '\n';
    return text;
}

} // namespace

std::string help_on(std::string const& name, view const& on) {
    view shown = on;
    shown.width = on.width == no_limit ? help_width : std::min(on.width, longest_help_line);
    if (name.empty())
        return overview(shown);
    if (command_entry const* const command = find_command(name))
        return help_on(*command, shown);
    std::string all;
    if (name == "simulate")
        for (command_entry const& each : commands())
            if (each.name.starts_with("simulate "))
                all += (all.empty() ? "" : "\n") + help_on(each, shown);
    return all;
}

} // namespace asio_retry::tool
