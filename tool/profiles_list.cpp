#include "profiles_list.hpp"

#include "text_layout.hpp"

#include <asio_retry/policy_text.hpp>
#include <asio_retry/profiles.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace asio_retry::tool {
namespace {

namespace json = boost::json;

std::string as_csv_cell(std::string_view text) {
    std::string result = "\"";
    for (char const c : text)
        result.append(c == '"' ? 2 : 1, c);
    return result + '"';
}

} // namespace

void print_profiles(std::ostream& out, format as, view const& on) {
    json::array all;
    constexpr std::size_t roomy = 26;
    bool const is_narrow = on.width < 2 * roomy;
    std::size_t const indent = is_narrow ? 2 : roomy;
    if (as == format::csv)
        out << "name,summary,policy,source,flaw\n";
    for (profiles::profile const& p : profiles::all()) {
        std::string const name(p.name);
        std::string const policy = to_string(p.make());
        if (as == format::json)
            all.push_back({{"name", p.name},
                           {"summary", p.summary},
                           {"formula", p.formula},
                           {"policy", policy},
                           {"source", p.source},
                           {"flaw", p.flaw}});
        else if (as == format::csv)
            out << p.name << ',' << as_csv_cell(p.summary) << ',' << as_csv_cell(policy) << ','
                << as_csv_cell(p.source) << ',' << as_csv_cell(p.flaw) << '\n';
        else
            out << coloured(on, "1", name)
                << (is_narrow ? "\n" + std::string(indent, ' ') : std::string(indent - name.size(), ' '))
                << wrapped(p.summary, on.width, indent, indent) << '\n';
    }
    if (as == format::json)
        out << json::serialize(all) << '\n';
}

} // namespace asio_retry::tool
