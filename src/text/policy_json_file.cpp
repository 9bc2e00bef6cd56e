#include <asio_retry/policy_json.hpp>

#include "policy/shown_text.hpp"
#include "text/policy_json_keys.hpp"
#include "text/policy_json_place.hpp"
#include "text/policy_lines.hpp"

#include <boost/json/error.hpp>
#include <boost/json/stream_parser.hpp>
#include <boost/json/string.hpp>

namespace asio_retry {
namespace detail {
namespace {

boost::json::value parse_json(std::string_view text) {
    std::string_view const json = without_mark(text);
    boost::json::stream_parser reader;
    boost::system::error_code error;
    std::size_t const read = reader.write_some(json.data(), json.size(), error);
    if (!error && read == json.size())
        reader.finish(error);
    else if (!error)
        error = boost::json::error::extra_data;
    if (error)
        fail_in_lines(text, text.size() - json.size() + read, "no JSON: " + error.message());
    return reader.release();
}

/// Boost.JSON would keep the last of two values.
void refuse_repeated_key(std::string_view json) {
    std::vector<std::string> const keys = repeated_key(json);
    if (keys.size() == 1)
        fail_second(within({}, keys.front()), keys.front());
    if (!keys.empty())
        fail(within({}, keys.front()), "the key '" + shown(keys.back()) + "' is twice in one object");
}

retry_policy policy_from(boost::json::value const& from, text_position const& at) {
    if (auto const* const object = from.if_object())
        return policy_from_object(*object, at);
    auto const* const text = from.if_string();
    if (!text)
        fail(at, "expected a policy, which is an object or a text, after its name");
    try {
        return parse_some_policy(view_of(*text));
    } catch (policy_syntax_error const& fault) {
        text_position const inside{at.offset, at.path + ", byte " + std::to_string(fault.position())};
        fail(inside, problem_of(fault));
    }
}

} // namespace
} // namespace detail

std::vector<named_policy> policies_from_json(std::string_view text) {
    boost::json::value const all = detail::parse_json(text);
    detail::refuse_repeated_key(detail::without_mark(text));
    if (!all.is_object())
        detail::fail_expecting_json({}, "an object of policies", all);
    if (all.get_object().empty())
        detail::fail({}, "expected a policy, found none");
    std::vector<named_policy> found;
    for (auto const& [key, value] : all.get_object()) {
        detail::text_position const at = detail::within({}, detail::view_of(key));
        detail::check_name(detail::view_of(key), at);
        found.push_back({std::string(detail::view_of(key)), detail::policy_from(value, at)});
    }
    return found;
}

} // namespace asio_retry
