#include "json.hpp"

#include <boost/json.hpp>
#include <boost/json/src.hpp>

namespace asio_retry::bench {
namespace {

namespace json = boost::json;

json::object json_of(row const& one) {
    json::object result{{"workload", one.workload}, {"contender", one.contender}};
    if (!one.unavailable.empty())
        result["unavailable"] = one.unavailable;
    for (auto const& [name, value] : one.values)
        result[name] = value;
    return result;
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

json::object json_of(judged_target const& one) {
    json::object result{{"name", one.name}, {"unit", one.unit}, {"limit", one.limit}, {"state", one.state()}};
    if (one.value)
        result["value"] = *one.value;
    return result;
}

// One element on a line, so that runs can be compared with line-oriented tools.
template <typename Elements>
std::string lines(char const* name, Elements const& elements) {
    std::string result = std::string("  \"") + name + "\": [";
    char const* separator = "\n    ";
    for (auto const& each : elements) {
        result += separator + json::serialize(json_of(each));
        separator = ",\n    ";
    }
    return result + "\n  ]";
}

} // namespace

row row_from_json(std::string const& text) {
    return row_of(json::parse(text).as_object());
}

std::string to_json(report const& all) {
    json::array notes;
    for (std::string const& note : all.notes)
        notes.emplace_back(note);
    return "{\n  \"toolchain\": " + json::serialize(json::string(toolchain())) +
           ",\n  \"notes\": " + json::serialize(notes) + ",\n" + lines("results", all.results) + ",\n" +
           lines("targets", all.targets) + "\n}\n";
}

rows rows_from_json(std::string const& text) {
    rows result;
    json::value const parsed = json::parse(text);
    for (json::value const& each : parsed.at("results").as_array())
        result.push_back(row_of(each.as_object()));
    return result;
}

} // namespace asio_retry::bench
