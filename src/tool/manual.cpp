#include "manual.hpp"

#include "command_table.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace asio_retry::tool {
namespace {

/// Escapes the characters that roff treats as its own.
std::string roff_text(std::string_view text) {
    std::string result;
    for (char const c : text)
        switch (c) {
        case '\\':
            result += "\\e";
            break;
        case '-':
            result += "\\-";
            break;
        case '\'':
            result += "\\(aq";
            break;
        case '"':
            result += "\\(dq";
            break;
        default:
            result += c;
        }
    if (result.starts_with('.'))
        result.insert(0, "\\&");
    return result;
}

/// Writes paragraphs; lines that begin with a space are shown unchanged.
std::string paragraphs(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        std::size_t const length = std::min(text.find('\n'), text.size());
        std::string_view const line = text.substr(0, length);
        text.remove_prefix(std::min(length + 1, text.size()));
        if (line.empty())
            result += ".PP\n";
        else if (line.front() == ' ')
            result +=
                ".PP\n.RS 4\n.nf\n" + roff_text(line.substr(line.find_first_not_of(' '))) + "\n.fi\n.RE\n.PP\n";
        else
            result += roff_text(line) + '\n';
    }
    return result;
}

std::string capitals(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

void print_option(std::ostream& out, option_entry const& option) {
    out << ".TP\n\\fB\\-\\-" << roff_text(option.name) << "\\fR";
    if (!option.value.empty())
        out << " \\fI" << roff_text(option.value) << "\\fR";
    out << '\n' << roff_text(option.what) << '\n';
}

void print_command(std::ostream& out, command_entry const& command) {
    out << ".SS \"asio\\-retry " << roff_text(command.name)
        << (command.operands.empty() ? "" : " " + roff_text(command.operands)) << "\"\n"
        << paragraphs(command.about);
    for (option_entry const& option : command.options)
        print_option(out, option);
}

} // namespace

void print_manual(std::ostream& out, std::string const& version) {
    out << ".TH ASIO\\-RETRY 1 \"\" \"asio\\-retry " << roff_text(version)
        << "\" \"User Commands\"\n"
           ".SH NAME\nasio\\-retry \\- explains policies of retrying, and simulates them\n"
           ".SH SYNOPSIS\n.B asio\\-retry\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
           ".SH DESCRIPTION\n"
           "Shows what a policy of the library asio_retry does before anything depends on it, lists the "
           "published\n"
           "schemes that the library knows, and repeats published studies with them and with other policies.\n";
    for (option_entry const& option : options_without_command())
        print_option(out, option);
    out << ".SH COMMANDS\n";
    for (command_entry const& each : commands())
        print_command(out, each);
    for (topic const& each : topics())
        out << ".SH \"" << roff_text(capitals(each.title)) << "\"\n" << paragraphs(each.text);
    out << ".SH EXAMPLES\n";
    for (example const& each : examples())
        out << ".TP\n.B " << roff_text(each.line) << '\n' << roff_text(each.what) << '\n';
}

} // namespace asio_retry::tool
