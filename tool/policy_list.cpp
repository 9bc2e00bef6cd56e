#include "policy_list.hpp"

#include "policy/shown_text.hpp"
#include "text/nearest.hpp"
#include "text/policy_lines.hpp"

#include <asio_retry/policy_json.hpp>
#include <asio_retry/policy_text.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>

namespace asio_retry::tool {
namespace {

using detail::shown;

/// The message without the library's name at its beginning.
std::string message_of(policy_syntax_error const& fault) {
    std::string_view const message = fault.what();
    std::string_view const end_of_name = ": ";
    return std::string(message.substr(message.find(end_of_name) + end_of_name.size()));
}

/// Adds the operand to a fault of the policy that `make` makes.
template <typename Make>
named_policy made_at(std::string const& place, Make make) {
    try {
        return make();
    } catch (policy_syntax_error const& fault) {
        throw policy_fault(place + ": " + message_of(fault));
    }
}

std::string file_text(std::string const& file, std::string const& name) {
    std::ifstream opened;
    if (file != "-")
        opened.open(file, std::ios::binary);
    std::istream& in = file == "-" ? std::cin : opened;
    try {
        if (in) {
            std::string text{std::istreambuf_iterator<char>(in), {}};
            if (file != "-" || !std::ferror(stdin)) // std::cin takes that for an end
                return text;
        }
    } catch (std::ios_base::failure const&) { // the file is a folder
    }
    throw std::runtime_error(name + ": cannot be read");
}

named_policy const& find_policy(std::vector<named_policy> const& all, std::string const& name,
                                std::string const& file) {
    auto const found =
        std::find_if(all.begin(), all.end(), [&](named_policy const& each) { return each.name == name; });
    if (found != all.end())
        return *found;
    throw policy_fault(file + ": no policy '" + shown(name) + "'" + detail::did_you_mean(name, all));
}

/// The policies of a file that were asked for.
std::vector<named_policy> policies_of_file(policy_options const& asked) {
    std::string const file = asked.file == "-" ? "standard input" : shown(asked.file, 200);
    std::vector<named_policy> all = policies_in(file_text(asked.file, file), file);
    if (asked.operands.empty())
        return all;
    std::vector<named_policy> result;
    for (std::string const& name : asked.operands)
        result.push_back(find_policy(all, name, file));
    return result;
}

std::vector<named_policy> policies_of_operands(std::vector<std::string> const& operands) {
    std::vector<named_policy> result;
    for (std::string const& text : operands) {
        std::string_view const name = detail::name_before(text);
        auto const make = [&] { return named_policy_of(text); };
        if (name.empty() && operands.size() == 1)
            result.push_back(make());
        else
            result.push_back(made_at(name.empty() ? "'" + shown(text) + "'" : shown(name), make));
    }
    return result;
}

} // namespace

named_policy named_policy_of(std::string const& text) {
    if (detail::name_before(text).empty())
        return {text, detail::parse_some_policy(text)};
    return detail::parse_named_policy(text);
}

std::vector<named_policy> policies_in(std::string_view text, std::string const& file) {
    bool const is_json = detail::trimmed(detail::without_mark(text)).starts_with('{');
    try {
        return is_json ? policies_from_json(text) : parse_policies(text);
    } catch (policy_syntax_error const& fault) {
        if (fault.line() == 0)
            throw policy_fault(file + ": " + message_of(fault));
        throw policy_fault(file + ':' + std::to_string(fault.line()) + ':' + std::to_string(fault.column()) +
                           ": " + detail::problem_of(fault));
    }
}

std::vector<named_policy> policies_of(policy_options const& asked) {
    std::vector<named_policy> result =
        asked.file.empty() ? policies_of_operands(asked.operands) : policies_of_file(asked);
    std::set<std::string> names;
    for (named_policy const& each : result)
        if (!names.insert(each.name).second)
            throw policy_fault("a second policy with the name '" + shown(each.name) + "'");
    return result;
}

} // namespace asio_retry::tool
