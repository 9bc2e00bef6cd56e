// asio-retry: explains policies, lists the known ones, and repeats the published studies with them.
#include "command_help.hpp"
#include "command_table.hpp"
#include "explain_command.hpp"
#include "manual.hpp"
#include "nearest.hpp"
#include "occ_study.hpp"
#include "options.hpp"
#include "policy_list.hpp"
#include "profiles_list.hpp"
#include "progress_bar.hpp"
#include "rounds_study.hpp"
#include "studies.hpp"
#include "study_formats.hpp"

#include "../text/shown_text.hpp"

#include <asio_retry/policy_text.hpp>

#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace asio_retry::tool {
namespace {

enum exit_code { done = 0, failed = 1, misused = 2 };

void explain_policies(std::vector<std::string> const& arguments) {
    explain_options const asked = parse_explain(arguments);
    print_explanations(std::cout, asked, view_of_output(asked.colour));
}

void list_profiles(std::vector<std::string> const& arguments) {
    profiles_options const asked = parse_profiles(arguments);
    print_profiles(std::cout, asked.as, view_of_output(asked.colour));
}

void simulate_occ(std::vector<std::string> const& arguments) {
    occ_options const asked = parse_occ(arguments);
    std::vector<occ_algorithm> algorithms;
    for (named_policy const& each : policies_of(asked.policies))
        algorithms.push_back({each.name, each.policy});
    bool const has_own = !algorithms.empty();
    std::vector<occ_result> results;
    {
        progress_bar bar;
        results = study_occ(has_own ? algorithms : occ_algorithms(), asked.clients, asked.trials, asked.seed,
                            [&](double share) { bar.show(share); });
    }
    print_occ(std::cout, results, has_own, asked.as, view_of_output(asked.colour));
}

void simulate_rounds(std::vector<std::string> const& arguments) {
    rounds_options const asked = parse_rounds(arguments);
    std::vector<named_rounds> all;
    for (named_policy const& each : policies_of(asked.policies))
        all.push_back({each.name, study_rounds(each.policy, asked.clients, asked.capacity, asked.seed)});
    print_rounds(std::cout, all, asked, view_of_output(asked.colour));
}

void simulate(std::string const& command, study const& which, std::vector<std::string> const& arguments) {
    study_options const asked = parse_study(command, arguments);
    study_report report;
    {
        progress_bar bar;
        report = which.run(asked.seed, [&](double share) { bar.show(share); });
    }
    print_study(std::cout, report, asked.as, view_of_output(asked.colour));
}

/// The first words of commands, or the words that follow `simulate`.
std::vector<std::string> words_of_commands(bool of_simulate) {
    constexpr std::string_view simulate = "simulate ";
    std::vector<std::string> words;
    for (command_entry const& each : commands())
        if (each.name.starts_with(simulate) == of_simulate)
            words.push_back(of_simulate ? each.name.substr(simulate.size()) : each.name);
    if (!of_simulate)
        words.insert(words.end(), {"simulate", "--help", "--version"});
    return words;
}

[[noreturn]] void refuse_command(std::string const& name) {
    constexpr std::string_view simulate = "simulate ";
    bool const of_simulate = name.starts_with(simulate);
    std::string const word = of_simulate ? name.substr(simulate.size()) : name;
    throw usage_error("no command '" + detail::shown(name) + "'" +
                      did_you_mean(word, words_of_commands(of_simulate)));
}

std::string names_of_studies() {
    std::string names;
    std::vector<std::string> const words = words_of_commands(true);
    for (std::string const& word : words)
        names += (&word == &words.front() ? "" : &word == &words.back() ? " or " : ", ") + word;
    return names;
}

bool is_help(std::string const& word) {
    return word == "--help" || word == "-h" || word == "help";
}

bool asks_for_help(std::vector<std::string> const& words) {
    return words.front() == "help" ||
           std::any_of(words.begin(), words.end(), [](auto const& w) { return w == "--help" || w == "-h"; });
}

void print_help(std::vector<std::string> words) {
    std::erase_if(words, is_help);
    std::string name;
    for (std::string const& word : words)
        if (!word.starts_with('-') && name.find(' ') == std::string::npos &&
            (name.empty() || name == "simulate"))
            name += (name.empty() ? "" : " ") + word;
    std::string const text = help_on(name, view_of_output(colours::automatic));
    if (text.empty())
        refuse_command(name);
    std::cout << text;
}

void run(std::vector<std::string> words) {
    if (words.empty())
        throw usage_error("which command?");
    if (words.front() == "--version") {
        if (words.size() > 1)
            throw usage_error("--version takes no argument, found '" + detail::shown(words[1]) + "'");
        std::cout << "asio-retry " ASIO_RETRY_VERSION "\n";
        return;
    }
    if (asks_for_help(words))
        return print_help(std::move(words));
    auto const take = [&] {
        std::string word = words.empty() ? "" : words.front();
        if (!words.empty())
            words.erase(words.begin());
        return word;
    };
    std::string command = take();
    if (command == "simulate" && words.empty())
        throw usage_error("simulate: what? " + names_of_studies());
    study const* const studied = command == "simulate" ? find_study(words.front()) : nullptr;
    if (command == "simulate")
        command.append(" ").append(take());
    if (command == "explain")
        explain_policies(words);
    else if (command == "profiles")
        list_profiles(words);
    else if (command == "simulate occ")
        simulate_occ(words);
    else if (command == "simulate rounds")
        simulate_rounds(words);
    else if (studied)
        simulate(command, *studied, words);
    else if (command == "completion")
        print_completion(std::cout, parse_completion(words));
    else if (command == "manual") {
        parse_manual(words);
        print_manual(std::cout, ASIO_RETRY_VERSION);
    } else
        refuse_command(command);
}

} // namespace
} // namespace asio_retry::tool

int main(int argc, char** argv) {
    using namespace asio_retry::tool;
    try {
        run({argv + 1, argv + argc});
        std::cout.flush();
        if (!std::cout) {
            std::cerr << "asio-retry: cannot write the output\n";
            return failed;
        }
        return done;
    } catch (usage_error const& e) {
        std::cerr << "asio-retry: " << e.what() << "\nTry 'asio-retry help'.\n";
        return misused;
    } catch (asio_retry::policy_syntax_error const& e) {
        std::string_view message = e.what(); // it begins with the library's name
        message.remove_prefix(std::min(message.find(": "), message.size() - 2) + 2);
        std::cerr << "asio-retry: policy: " << message << '\n';
        return misused;
    } catch (policy_fault const& e) {
        std::cerr << "asio-retry: " << e.what() << '\n';
        return misused;
    } catch (std::exception const& e) {
        std::cerr << "asio-retry: " << e.what() << '\n';
        return failed;
    }
}
