#include "given_options.hpp"

#include "nearest.hpp"

#include <boost/program_options.hpp>

#include <algorithm>

namespace asio_retry::tool {
namespace {

namespace po = boost::program_options;

char const operand_key[] = "operand";

void check_words(option_entry const& option, std::vector<std::string> const& values) {
    if (option.words.empty())
        return;
    for (std::string const& value : values) {
        if (std::find(option.words.begin(), option.words.end(), value) != option.words.end())
            continue;
        std::string message = "--" + option.name + " " + detail::shown(value) + ": must be ";
        for (std::string const& word : option.words)
            message += (&word == &option.words.front()  ? ""
                        : &word == &option.words.back() ? " or "
                                                        : ", ") +
                       word;
        throw usage_error(message);
    }
}

std::string unknown_message(command_entry const& command, std::string const& option) {
    std::vector<std::string> names{"--help"};
    for (option_entry const& each : command.options)
        names.push_back("--" + each.name);
    return "no option '" + detail::shown(option) + "'" + did_you_mean(option, names);
}

} // namespace

given_options::given_options(std::string const& name, std::vector<std::string> const& words) {
    command_entry const& command = *find_command(name);
    po::options_description known;
    for (option_entry const& option : command.options)
        if (option.value.empty())
            known.add_options()(option.name.c_str(), "");
        else if (option.takes_several)
            known.add_options()(option.name.c_str(), po::value<std::vector<std::string>>()->multitoken());
        else
            known.add_options()(option.name.c_str(), po::value<std::string>());
    po::positional_options_description positional;
    if (command.most_operands != 0) {
        known.add_options()(operand_key, po::value<std::vector<std::string>>());
        positional.add(operand_key, static_cast<int>(command.most_operands));
    }
    try {
        auto const found =
            po::command_line_parser(words)
                .options(known)
                .positional(positional)
                .style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing)
                .run();
        po::variables_map checked; // checks that no option comes twice or lacks its value
        po::store(found, checked);
        for (po::option const& each : found.options)
            if (each.string_key == operand_key)
                operands_.insert(operands_.end(), each.value.begin(), each.value.end());
            else
                values_[each.string_key] = each.value;
    } catch (po::unknown_option const& e) {
        throw usage_error(unknown_message(command, e.get_option_name()));
    } catch (po::error const& e) {
        constexpr std::size_t most = 200;
        throw usage_error(detail::shown(e.what(), most)); // the message contains the words that were given
    }
    for (option_entry const& option : command.options)
        check_words(option, all(option.name));
}

std::vector<std::string> const& given_options::all(std::string const& option) const {
    static std::vector<std::string> const none;
    auto const found = values_.find(option);
    return found == values_.end() ? none : found->second;
}

void given_options::read(std::string const& option, std::string& into) const {
    if (has(option))
        into = all(option).front();
}

} // namespace asio_retry::tool
