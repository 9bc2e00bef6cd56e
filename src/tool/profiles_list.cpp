#include "profiles_list.hpp"

#include <asio_retry/policy_text.hpp>
#include <asio_retry/profiles.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <iomanip>

namespace asio_retry::tool {
namespace {

namespace json = boost::json;

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (char const c : text)
        result.append(c == '"' ? 2 : 1, c);
    return result + '"';
}

} // namespace

void print_profiles(std::ostream& out, format as) {
    json::array all;
    if (as == format::csv)
        out << "name,summary,policy,source,flaw\n";
    for (profiles::profile const& p : profiles::all()) {
        std::string const policy = to_string(p.make());
        if (as == format::json)
            all.push_back({{"name", p.name},
                           {"summary", p.summary},
                           {"formula", p.formula},
                           {"policy", policy},
                           {"source", p.source},
                           {"flaw", p.flaw}});
        else if (as == format::csv)
            out << p.name << ',' << quoted(p.summary) << ',' << quoted(policy) << ',' << quoted(p.source) << ','
                << quoted(p.flaw) << '\n';
        else
            out << std::left << std::setw(26) << p.name << p.summary << '\n';
    }
    if (as == format::json)
        out << json::serialize(all) << '\n';
}

} // namespace asio_retry::tool
