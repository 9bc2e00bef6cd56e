#include "policy_list.hpp"

#include "repeated_key.hpp"

#include "text/nearest.hpp"
#include "text/shown_text.hpp"

#include <asio_retry/policy_json.hpp>
#include <asio_retry/policy_text.hpp>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>

namespace asio_retry::tool {
namespace {

using detail::shown;

constexpr char const blanks[] = " \t\r\n\v\f";

std::string_view trimmed(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// parse_policy reads an empty text as the default policy; here it is more likely a slip.
retry_policy policy_of(std::string const& text) {
    if (trimmed(text).empty())
        throw policy_fault("expected a policy, found nothing");
    return parse_policy(text);
}

/// The name before the first "=" outside all parentheses: letters, digits and some signs.
std::string_view name_before(std::string_view text) {
    std::size_t const sign = text.find('=');
    std::string_view const name = trimmed(text.substr(0, sign));
    bool const is_name = sign != text.npos && !name.empty() && name.find_first_of("()<>\"' \t") == name.npos;
    return is_name ? name : std::string_view();
}

/// Refuses a name that JSON or SVG cannot hold, or that a terminal would obey.
void check_name(std::string const& name) {
    if (name.empty())
        throw policy_fault("expected a name of at least one character, found none");
    boost::system::error_code no_utf8;
    boost::json::parse(boost::json::serialize(boost::json::string(name)), no_utf8);
    bool is_control = false;
    for (std::size_t i = 0; i != name.size(); ++i) {
        auto const byte = static_cast<unsigned char>(name[i]);
        bool const is_of_two =
            byte == 0xC2 && i + 1 != name.size(); // U+0080 to U+009F, with the right next byte
        is_control = is_control || byte < 0x20 || byte == 0x7f ||
                     (is_of_two && static_cast<unsigned char>(name[i + 1]) < 0xA0);
    }
    bool const is_none = name.find("\xEF\xBF\xBE") != name.npos || name.find("\xEF\xBF\xBF") != name.npos;
    if (is_control || is_none || no_utf8)
        throw policy_fault("expected a name of UTF-8 without control characters, found '" + shown(name) + "'");
}

/// The message without the library's name at its beginning.
std::string message_of(policy_syntax_error const& e) {
    std::string_view const message = e.what();
    std::size_t const colon = message.find(": ");
    return std::string(colon == message.npos ? message : message.substr(colon + 2));
}

/// The policy of "name = text". Some users write an item's name there, and its argument as the text.
retry_policy policy_behind(std::string const& name, std::string const& text) {
    try {
        return policy_of(text);
    } catch (policy_syntax_error const& e) {
        std::string const meant = name + '(' + text + ')';
        try {
            (void)parse_policy(meant);
        } catch (policy_syntax_error const&) {
            throw policy_fault(message_of(e));
        }
        throw policy_fault(message_of(e) + "; write arguments in parentheses: " + shown(meant));
    }
}

/// Adds the place to a fault of the policy that `make` makes.
template <typename Make>
named_policy made_at(std::string const& place, Make make) {
    try {
        return make();
    } catch (policy_syntax_error const& e) {
        throw policy_fault(place + ": " + message_of(e));
    } catch (policy_fault const& e) {
        throw policy_fault(place + ": " + e.what());
    }
}

class policy_reader {
public:
    explicit policy_reader(std::string const& file)
        : file_(file) {}

    void read_lines(std::string_view text) {
        for (std::size_t number = 1; !text.empty(); ++number) {
            std::size_t const length = std::min(text.find('\n'), text.size());
            read_line(trimmed(text.substr(0, length)), file_ + ":" + std::to_string(number));
            text.remove_prefix(std::min(length + 1, text.size()));
        }
    }

    void read_json(std::string_view text) {
        boost::system::error_code error;
        boost::json::value const all = boost::json::parse(text, error);
        if (error)
            throw policy_fault(file_ + ": no JSON: " + error.message());
        refuse_repeated_key(text);
        for (auto const& entry : all.as_object()) {
            std::string const name = entry.key();
            std::string const place = file_ + ": " + shown(name);
            if (entry.value().is_string())
                add(name, place, [&] { return policy_of(std::string(entry.value().get_string())); });
            else if (entry.value().is_object())
                add(name, place, [&] { return policy_from_json(entry.value()); });
            else
                throw policy_fault(place + ": expected a policy, which is an object or a text, after its name");
        }
    }

    std::vector<named_policy> finish() && {
        if (found_.empty())
            throw policy_fault(file_ + ": no policies");
        return std::move(found_);
    }

private:
    void read_line(std::string_view line, std::string const& place) {
        if (line.empty() || line.front() == '#')
            return;
        std::string_view const name = name_before(line);
        if (name.empty())
            throw policy_fault(place + ": expected 'name = policy', found '" + shown(line) + "'");
        std::string const text(trimmed(line.substr(line.find('=') + 1)));
        add(std::string(name), place, [&] { return policy_behind(std::string(name), text); });
    }

    void refuse_repeated_key(std::string_view json) const {
        std::vector<std::string> const keys = repeated_key(json);
        if (keys.empty())
            return;
        std::string const place = file_ + ": " + shown(keys.front()) + ": ",
                          key = " '" + shown(keys.back()) + "'";
        throw policy_fault(place + (keys.size() == 1 ? "a second policy with the name" + key
                                                     : "the key" + key + " is twice in one object"));
    }

    template <typename Make>
    void add(std::string const& name, std::string const& place, Make make) {
        if (!names_.insert(name).second)
            throw policy_fault(place + ": a second policy with the name '" + shown(name) + "'");
        found_.push_back(made_at(place, [&] {
            check_name(name);
            return named_policy{name, make()};
        }));
    }

    std::string const& file_;
    std::vector<named_policy> found_;
    std::set<std::string> names_;
};

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
    std::vector<std::string> names;
    for (named_policy const& each : all)
        names.push_back(each.name);
    throw policy_fault(file + ": no policy '" + shown(name) + "'" + detail::did_you_mean(name, names));
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
        std::string_view const name = name_before(text);
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
    std::string_view const name = name_before(text);
    if (name.empty())
        return {text, policy_of(text)};
    check_name(std::string(name));
    return {std::string(name),
            policy_behind(std::string(name),
                          std::string(trimmed(std::string_view(text).substr(text.find('=') + 1))))};
}

std::vector<named_policy> policies_in(std::string const& content, std::string const& file) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    std::string_view text = content;
    if (text.starts_with(byte_order_mark))
        text.remove_prefix(byte_order_mark.size());
    policy_reader all(file);
    if (trimmed(text).starts_with('{'))
        all.read_json(text);
    else
        all.read_lines(text);
    return std::move(all).finish();
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
