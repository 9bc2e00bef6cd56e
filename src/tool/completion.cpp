#include "command_table.hpp"
#include "manual.hpp"

#include <set>
#include <stdexcept>

namespace asio_retry::tool {
namespace {

constexpr std::string_view simulate_prefix = "simulate ";

std::string joined(std::vector<std::string> const& words) {
    std::string result;
    for (std::string const& word : words)
        result += (result.empty() ? "" : " ") + word;
    return result;
}

/// Commands of one word, or the second words of `simulate`.
std::vector<std::string> command_words(bool of_simulate) {
    std::vector<std::string> result;
    for (command_entry const& each : commands()) {
        bool const is_study = each.name.starts_with(simulate_prefix);
        if (is_study == of_simulate)
            result.push_back(is_study ? each.name.substr(simulate_prefix.size()) : each.name);
    }
    if (!of_simulate)
        result.emplace_back("simulate");
    return result;
}

std::vector<std::string> options_of(command_entry const& command) {
    std::vector<std::string> result;
    for (option_entry const& option : command.options)
        result.push_back("--" + option.name);
    result.emplace_back("--help");
    return result;
}

/// The words that an operand of each command may be.
std::string operands_of(command_entry const& command) {
    return joined(command.name == "help" ? command_words(false) : command.words);
}

void print_bash(std::ostream& out) {
    out << "# Completes command lines of asio-retry in bash.\n"
           "_asio_retry() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= each\n"
           "    if [[ $word == = ]]; then\n"
           "        word=\n"
           "    elif [[ $before == = ]]; then\n"
           "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
           "    fi\n"
           "    for each in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
           "        [[ $each == -* ]] && continue\n"
           "        command+=${command:+ }$each\n"
           "        [[ $command == simulate || $command == help ]] || break\n"
           "    done\n"
           "    local options= words= value=\n"
           "    case $command in\n"
           "    '') options='--help --version' words='"
        << joined(command_words(false))
        << "' ;;\n"
           "    simulate | 'help simulate') words='"
        << joined(command_words(true)) << "' ;;\n";
    for (command_entry const& each : commands())
        out << "    '" << each.name << "') options='" << joined(options_of(each)) << "' words='"
            << operands_of(each) << "' ;;\n";
    out << "    esac\n"
           "    case $before in\n";
    std::set<std::string> known;
    for (command_entry const& each : commands())
        for (option_entry const& option : each.options) {
            std::string const key = each.name + ' ' + option.name;
            if (option.value.empty() || !known.insert(option.name == "format" ? key : option.name).second)
                continue;
            if (option.takes_file)
                out << "    --" << option.name
                    << ") compopt -o filenames\n" // adds a slash to a folder, and escapes blanks
                       "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n";
            else if (option.name != "format")
                out << "    --" << option.name << ") value='" << joined(option.words)
                    << "' words= options= ;;\n";
        }
    out << "    --format)\n"
           "        words= options=\n"
           "        case $command in\n";
    for (command_entry const& each : commands())
        for (option_entry const& option : each.options)
            if (option.name == "format")
                out << "        '" << each.name << "') value='" << joined(option.words) << "' ;;\n";
    out << "        esac ;;\n"
           "    esac\n"
           "    [[ $word == -* ]] && words= || options=\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$options $words $value\" -- \"$word\")\n"
           "}\n"
           "complete -F _asio_retry asio-retry\n";
}

/// Quotes text in a specification of _arguments, where a bracket or a colon would end a part.
std::string quoted_for_zsh(std::string const& text) {
    std::string result;
    for (char const c : text)
        if (c == '\'')
            result += "'\\''";
        else if (c == '[' || c == ']' || c == ':' || c == '\\')
            result += std::string("\\") + c;
        else
            result += c;
    return result;
}

void print_zsh_arguments(std::ostream& out, command_entry const& command) {
    out << "_arguments";
    for (option_entry const& option : command.options) {
        out << " \\\n            '" << (option.takes_several ? "*" : "") << "--" << option.name
            << (option.value.empty() ? "" : "=") << '[' << quoted_for_zsh(option.what) << ']';
        if (option.takes_file)
            out << ":file:_files";
        else if (!option.value.empty())
            out << ':' << quoted_for_zsh(option.value) << ":(" << joined(option.words) << ')';
        out << '\'';
    }
    out << " \\\n            '--help[how it is used]'";
    if (command.most_operands != 0)
        out << " \\\n            '" << (command.name == "help" ? '1' : '*') << ": :(" << operands_of(command)
            << ")'";
    out << " ;;\n";
}

void print_zsh_names(std::ostream& out, bool of_simulate) {
    for (command_entry const& each : commands()) {
        bool const is_study = each.name.starts_with(simulate_prefix);
        if (is_study == of_simulate)
            out << " \\\n            '" << (is_study ? each.name.substr(simulate_prefix.size()) : each.name)
                << ':' << quoted_for_zsh(each.summary) << '\'';
    }
    if (!of_simulate)
        out << " \\\n            'simulate:published studies'";
    out << '\n';
}

void print_zsh(std::ostream& out) {
    out << "#compdef asio-retry\n"
           "# Completes command lines of asio-retry in zsh.\n"
           "_asio_retry() {\n"
           "    local -a names\n"
           "    if (( CURRENT == 2 )); then\n"
           "        names=(";
    print_zsh_names(out, false);
    out << "        )\n"
           "        _describe command names\n"
           "        _arguments '--help[how it is used]' '--version[the version of the library]'\n"
           "        return\n"
           "    fi\n"
           "    local command=$words[2]\n"
           "    if [[ $command == help && $words[3] == simulate ]] && (( CURRENT == 4 )); then\n"
           "        command=simulate\n"
           "        (( CURRENT-- ))\n"
           "    fi\n"
           "    if [[ $command == simulate ]]; then\n"
           "        if (( CURRENT == 3 )); then\n"
           "            names=(";
    print_zsh_names(out, true);
    out << "            )\n"
           "            _describe study names\n"
           "            return\n"
           "        fi\n"
           "        command=\"simulate $words[3]\"\n"
           "        shift words\n"
           "        (( CURRENT-- ))\n"
           "    fi\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $command in\n";
    for (command_entry const& each : commands()) {
        out << "        '" << each.name << "') ";
        print_zsh_arguments(out, each);
    }
    out << "    esac\n"
           "}\n"
           "if [[ $funcstack[1] == _asio-retry ]]; then\n" // it was loaded by its name, and is called the first
                                                           // time
           "    _asio_retry \"$@\"\n"
           "else\n"
           "    compdef _asio_retry asio-retry\n"
           "fi\n";
}

} // namespace

void print_completion(std::ostream& out, std::string const& shell) {
    if (shell == "bash")
        print_bash(out);
    else if (shell == "zsh")
        print_zsh(out);
    else
        throw std::invalid_argument("no completion for " + shell);
}

} // namespace asio_retry::tool
