#include "json_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <charconv>
#include <string>

namespace asio_retry::tool {
namespace {

namespace json = boost::json;

constexpr std::size_t longest_json_line = 100;
constexpr std::size_t json_step = 2;

bool has_parts(json::value const& v) {
    return (v.is_array() && !v.get_array().empty()) || (v.is_object() && !v.get_object().empty());
}

bool is_nested(json::value const& v) {
    if (v.is_array())
        return std::any_of(v.get_array().begin(), v.get_array().end(), has_parts);
    return v.is_object() && std::any_of(v.get_object().begin(), v.get_object().end(),
                                        [](auto const& entry) { return has_parts(entry.value()); });
}

std::string scalar(json::value const& v) {
    if (!v.is_double())
        return json::serialize(v);
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, v.get_double()).ptr};
}

std::string json_of_parts(json::value const& v, std::size_t indent);

/// Writes the parts of an array or an object.
template <typename Each>
std::string parts_of(json::value const& v, std::string const& between, Each each) {
    std::string result;
    auto const add = [&](std::string const& part) { result += (result.empty() ? "" : between) + part; };
    if (v.is_array())
        for (json::value const& one : v.get_array())
            add(each(one));
    else
        for (auto const& entry : v.get_object())
            add(json::serialize(json::value(entry.key())) + ": " + each(entry.value()));
    return result;
}

std::string json_of_parts(json::value const& v, std::size_t indent) {
    if (!has_parts(v))
        return scalar(v);
    char const* const brackets = v.is_array() ? "[]" : "{}";
    if (!is_nested(v)) {
        std::string const line = brackets[0] + parts_of(v, ", ", scalar) + brackets[1];
        if (indent + line.size() <= longest_json_line)
            return line;
    }
    std::string const start = '\n' + std::string(indent + json_step, ' ');
    return brackets[0] + start +
           parts_of(v, "," + start,
                    [&](json::value const& one) { return json_of_parts(one, indent + json_step); }) +
           '\n' + std::string(indent, ' ') + brackets[1];
}

} // namespace

void write_json(std::ostream& out, json::value const& what) {
    out << json_of_parts(what, 0) << '\n';
}

} // namespace asio_retry::tool
