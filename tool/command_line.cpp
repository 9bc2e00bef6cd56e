#include "command_line.hpp"

#include "policy/shown_text.hpp"
#include "text/nearest.hpp"

#include <asio_retry/policy_text.hpp>

#include <algorithm>
#include <charconv>
#include <exception>
#include <iostream>
#include <string_view>

namespace asio_retry::tool {
namespace {

enum exit_code { done = 0, failed = 1, misused = 2 };

/// The words as in "table, csv or svg".
std::string one_of(std::vector<std::string> const& words) {
    std::string text;
    for (std::string const& word : words)
        text += (&word == &words.front() ? "" : &word == &words.back() ? " or " : ", ") + word;
    return text;
}

format format_of(std::string const& name) {
    return name == "chart"  ? format::chart
           : name == "csv"  ? format::csv
           : name == "json" ? format::json
           : name == "svg"  ? format::svg
                            : format::table;
}

std::vector<std::string> options_of(CLI::App const& command) {
    std::vector<std::string> names;
    for (CLI::Option const* const option : command.get_options())
        for (std::string const& name : option->get_lnames())
            names.push_back("--" + name);
    return names;
}

std::vector<std::string> commands_of(CLI::App const& program) {
    std::vector<std::string> names{"help"};
    for (CLI::App const* const command : program.get_subcommands({}))
        names.push_back(command->get_name());
    return names;
}

[[noreturn]] void refuse_word(CLI::App const& command, std::string const& word) {
    bool const is_program = command.get_parent() == nullptr;
    if (word.starts_with('-')) {
        std::string const name = word.substr(0, word.find('='));
        throw usage_error("no option '" + detail::shown(name) + "'" +
                          detail::did_you_mean(name, options_of(command)));
    }
    if (is_program)
        throw usage_error("no command '" + detail::shown(word) + "'" +
                          detail::did_you_mean(word, commands_of(command)));
    throw usage_error(command.get_name() + ": takes no argument, found '" + detail::shown(word) + "'");
}

/// Refuses what CLI11 could not place.
void refuse_extras(CLI::App const& command) {
    for (std::string const& word : command.remaining())
        if (word != "--")
            refuse_word(command, word);
}

} // namespace

char const what_a_policy_is[] = "POLICY is a text such as\n"
                                "  'exponential(base=100ms, factor=2, cap=10s) full_jitter() max_attempts(5)'\n"
                                "or the name of a profile, with or without changes:\n"
                                "  go_backoff\n"
                                "  'celery() max_attempts(5)'\n"
                                "'NAME = POLICY' gives it a name.";

char const files_of_policies[] =
    "Files of policies:\n"
    "  A line of a text names a policy:\n"
    "    checkout = exponential(base=100ms, cap=10s) full_jitter() max_attempts(5)\n"
    "  Empty lines and lines that begin with # say nothing. Or the file is JSON: an\n"
    "  object whose keys are the names, and whose values are policies as\n"
    "  asio_retry::policy_from_json reads them, or texts.\n";

char const environment_and_exit_status[] =
    "Environment:\n"
    "  NO_COLOR, and a TERM that is dumb, turn colours off unless --color asks for them.\n"
    "  COLUMNS is the width of the output, instead of the terminal's.\n"
    "  LC_ALL, LC_CTYPE and LANG allow more than ASCII if they name UTF-8.\n"
    "\n"
    "Exit status:\n"
    "  0 if it is done, 1 if the output cannot be written or a file not be read, and\n"
    "  2 if the command line or a policy is wrong.\n";

void add_word(CLI::App& to, std::string const& name, std::string const& type, std::vector<std::string> words,
              std::string const& what, std::function<void(std::string const&)> use) {
    to.add_option_function<std::string>(
          name,
          [name, words = std::move(words), use = std::move(use)](std::string const& word) {
              if (std::find(words.begin(), words.end(), word) == words.end())
                  throw usage_error(name + " " + detail::shown(word) + ": must be " + one_of(words));
              use(word);
          },
          what)
        ->type_name(type);
}

std::uint64_t whole_number(std::string const& option, std::string const& text, std::uint64_t least,
                           std::uint64_t greatest) {
    std::uint64_t number = 0;
    char const* const end = text.data() + text.size();
    auto const [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || rest != end || number < least || number > greatest)
        throw usage_error(option + " " + detail::shown(text) + ": must be a whole number of at least " +
                          std::to_string(least) + " and at most " + std::to_string(greatest));
    return number;
}

void add_output(CLI::App& to, output_options& into, std::vector<std::string> formats) {
    bool const has_json = std::find(formats.begin(), formats.end(), "json") != formats.end();
    std::vector<std::string> described = formats;
    described.front() += " (the default)";
    add_word(to, "--format", "FORMAT", std::move(formats), one_of(described),
             [&into](std::string const& word) { into.as = format_of(word); });
    if (has_json)
        to.add_flag_callback(
            "--json",
            [&into, given = to.get_option("--format")] {
                if (given->count() != 0 && into.as != format::json)
                    throw usage_error("--json and --format " + given->results().front() + ": give only one");
                into.as = format::json;
            },
            "the same as --format json");
    add_word(
        to, "--color", "WHEN", {"auto", "always", "never"},
        "auto (the default: on a terminal, unless NO_COLOR is set or TERM is dumb), always or never",
        [&into](std::string const& word) {
            into.colour = word == "always" ? colours::on : word == "never" ? colours::off : colours::automatic;
        });
}

void add_policies(CLI::App& to, policy_options& into) {
    to.add_option("POLICY", into.operands, "what is asked about; see below")->type_name("");
    to.add_option("--file", into.file,
                  "read named policies from a file, or from standard input if it is -; POLICY is then the name "
                  "of one of them")
        ->type_name("FILE");
}

bool parse(CLI::App& program, std::vector<std::string> words, std::ostream& out) {
    program.allow_extras();
    for (CLI::App* const command : program.get_subcommands({}))
        command->allow_extras();
    program.require_subcommand(0, 1);
    if (!words.empty() && words.front() == "help") {
        std::erase(words, "help");
        words.emplace_back("--help");
    }
    std::reverse(words.begin(), words.end()); // CLI11 takes them from the end
    try {
        program.parse(std::move(words));
    } catch (CLI::CallForAllHelp const&) {
        out << program.help("", CLI::AppFormatMode::All);
        return false;
    } catch (CLI::CallForHelp const&) {
        refuse_extras(program);
        out << program.help();
        return false;
    } catch (CLI::CallForVersion const& version) {
        if (!program.remaining().empty())
            throw usage_error("--version takes no argument, found '" +
                              detail::shown(program.remaining().front()) + "'");
        out << version.what() << '\n';
        return false;
    } catch (CLI::ParseError const& e) {
        constexpr std::size_t most = 200;
        throw usage_error(detail::shown(e.what(), most)); // the message contains the words that were given
    }
    refuse_extras(program);
    if (program.get_subcommands().empty())
        throw usage_error("which command? " + one_of(commands_of(program)));
    refuse_extras(*program.get_subcommands().front());
    return true;
}

int run_program(char const* name, int argc, char** argv,
                std::function<void(std::vector<std::string> const&)> const& run) {
    auto const fail = [name](exit_code code, std::string_view message, char const* advice = "") {
        std::cerr << name << ": " << message << '\n' << advice;
        return code;
    };
    try {
        run({argv + 1, argv + argc});
        std::cout.flush();
        return std::cout ? done : fail(failed, "cannot write the output");
    } catch (usage_error const& e) {
        return fail(misused, e.what(), ("Try '" + std::string(name) + " help'.\n").c_str());
    } catch (policy_syntax_error const& e) {
        std::string_view message = e.what(); // it begins with the library's name
        message.remove_prefix(std::min(message.find(": "), message.size() - 2) + 2);
        return fail(misused, "policy: " + std::string(message));
    } catch (policy_fault const& e) {
        return fail(misused, e.what());
    } catch (std::exception const& e) {
        return fail(failed, e.what());
    }
}

} // namespace asio_retry::tool
