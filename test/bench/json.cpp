#include "json.hpp"

#include <boost/json.hpp>
#include <boost/json/src.hpp>

#include <cstdio>
#include <stdexcept>

namespace asio_retry::bench {
namespace {

namespace json = boost::json;

std::string quoted(std::string const& text) {
    return json::serialize(json::string(text));
}

/// An object on one line. Boost.JSON would write every number with an exponent.
class object_line {
public:
    object_line& add(std::string const& name, std::string const& value) {
        begin(name);
        text_ += quoted(value);
        return *this;
    }
    object_line& add(std::string const& name, double value) {
        begin(name);
        char text[32];
        std::snprintf(text, sizeof text, "%.7g", value);
        text_ += text;
        return *this;
    }
    std::string end() { return text_ + '}'; }

private:
    void begin(std::string const& name) {
        text_ += text_.empty() ? '{' : ',';
        text_ += quoted(name) + ':';
    }

    std::string text_;
};

std::string json_of(row const& one) {
    object_line result;
    result.add("workload", one.workload).add("contender", one.contender);
    if (!one.unavailable.empty())
        result.add("unavailable", one.unavailable);
    for (auto const& [name, value] : one.values)
        result.add(name, value);
    return result.end();
}

std::string json_of(judged_target const& one) {
    object_line result;
    result.add("name", one.name).add("unit", one.unit).add("limit", one.limit).add("state", one.state());
    if (one.value)
        result.add("value", *one.value);
    return result.end();
}

row row_of(json::object const& object) {
    row result;
    for (auto const& [key, value] : object) {
        std::string const name(key);
        if (name == "workload")
            result.workload = json::value_to<std::string>(value);
        else if (name == "contender")
            result.contender = json::value_to<std::string>(value);
        else if (name == "unavailable")
            result.unavailable = json::value_to<std::string>(value);
        else
            result.values[name] = json::value_to<double>(value);
    }
    return result;
}

// One element on a line, so that runs can be compared with line-oriented tools.
template <typename Elements>
std::string lines(char const* name, Elements const& elements) {
    std::string result = std::string("  \"") + name + "\": [";
    char const* separator = "\n    ";
    for (auto const& each : elements) {
        result += separator + json_of(each);
        separator = ",\n    ";
    }
    return result + "\n  ]";
}

} // namespace

row row_from_json(std::string const& text) {
    boost::system::error_code failed;
    json::value const parsed = json::parse(text, failed);
    if (failed || !parsed.is_object())
        throw std::runtime_error(failed ? failed.message() : "not an object");
    return row_of(parsed.get_object());
}

std::string to_json(report const& all) {
    json::array notes;
    for (std::string const& note : all.notes)
        notes.emplace_back(note);
    return "{\n  \"toolchain\": " + quoted(toolchain()) + ",\n  \"notes\": " + json::serialize(notes) + ",\n" +
           lines("results", all.results) + ",\n" + lines("targets", all.targets) + "\n}\n";
}

rows rows_from_json(std::string const& text) {
    rows result;
    json::value const parsed = json::parse(text);
    for (json::value const& each : parsed.at("results").as_array())
        result.push_back(row_of(each.as_object()));
    return result;
}

} // namespace asio_retry::bench
