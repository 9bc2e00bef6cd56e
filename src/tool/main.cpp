// asio-retry: explains policies, lists the known ones, and repeats the published studies with them.
#include "explanation.hpp"
#include "explanation_formats.hpp"
#include "occ_study.hpp"
#include "options.hpp"
#include "profiles_list.hpp"
#include "progress_bar.hpp"
#include "rounds_study.hpp"
#include "studies.hpp"
#include "study_formats.hpp"

#include "../text/shown_text.hpp"

#include <asio_retry/policy_text.hpp>
#include <asio_retry/profiles.hpp>

#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace asio_retry::tool {
namespace {

enum exit_code { done = 0, failed = 1, misused = 2 };

/// From a text, or from the bare name of a profile.
retry_policy policy_of(std::string const& text) {
    profiles::profile const* const known = profiles::find(text);
    return known ? known->make() : parse_policy(text);
}

void explain_policy(std::vector<std::string> const& arguments) {
    explain_options const asked = parse_explain(arguments);
    explanation const what = explain(policy_of(asked.policy), {asked.failures, asked.seed, asked.draws});
    switch (asked.as) {
    case format::table:
        return print_table(std::cout, what, asked.failure_probability);
    case format::csv:
        return print_csv(std::cout, what);
    case format::json:
        return print_json(std::cout, what, asked.failure_probability);
    case format::svg:
        return print_svg(std::cout, what);
    }
}

void simulate_occ(std::vector<std::string> const& arguments) {
    occ_options const asked = parse_occ(arguments);
    std::vector<occ_result> results;
    {
        progress_bar bar;
        results = study_occ(asked.clients, asked.trials, asked.seed, [&](double share) { bar.show(share); });
    }
    print_occ(std::cout, results, asked.as);
}

void simulate_rounds(std::vector<std::string> const& arguments) {
    rounds_options const asked = parse_rounds(arguments);
    print_rounds(std::cout, study_rounds(policy_of(asked.policy), asked.clients, asked.capacity, asked.seed),
                 asked);
}

void simulate(study const& which, std::vector<std::string> const& arguments) {
    study_options const asked = parse_study(which, arguments);
    study_report report;
    {
        progress_bar bar;
        report = which.run(asked.seed, [&](double share) { bar.show(share); });
    }
    print_study(std::cout, report, asked.as);
}

std::string names_of_studies() {
    std::string names = "occ, rounds";
    for (study const& each : studies())
        names += std::string(&each == &studies().back() ? " or " : ", ") + each.name;
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
    std::string const text = help_on(name);
    if (text.empty())
        throw usage_error("no command '" + detail::shown(name) + "'");
    std::cout << text;
}

void run(std::vector<std::string> words) {
    if (words.empty())
        throw usage_error("which command?");
    if (words.front() == "--version") {
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
        explain_policy(words);
    else if (command == "profiles")
        print_profiles(std::cout, parse_profiles(words).as);
    else if (command == "simulate occ")
        simulate_occ(words);
    else if (command == "simulate rounds")
        simulate_rounds(words);
    else if (studied)
        simulate(*studied, words);
    else
        throw usage_error("no command '" + detail::shown(command) + "'");
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
        std::string_view message = e.what(); // which names the library
        message.remove_prefix(std::min(message.find(": "), message.size() - 2) + 2);
        std::cerr << "asio-retry: policy: " << message << '\n';
        return misused;
    } catch (std::exception const& e) {
        std::cerr << "asio-retry: " << e.what() << '\n';
        return failed;
    }
}
