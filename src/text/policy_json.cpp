#include <asio_retry/policy_json.hpp>

#include "policy/shown_text.hpp"
#include "text/build.hpp"
#include "text/enumerators.hpp"
#include "text/grpc_status_codes.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"
#include "text/policy_json_place.hpp"
#include "text/setting_forms.hpp"
#include "text/shown_json.hpp"
#include "text/term.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace asio_retry {
namespace detail {

text_position within(text_position const& at, std::string_view key) {
    text_position inner{at.offset, at.path + '/'};
    for (char const c : shown(key))
        if (c == '~')
            inner.path += "~0";
        else if (c == '/')
            inner.path += "~1";
        else
            inner.path += c;
    return inner;
}

void fail_expecting_json(text_position const& at, std::string_view expected, boost::json::value const& found,
                         std::string_view question) {
    fail_expecting(at, expected, shown_json(found), question);
}

namespace {

namespace json = boost::json;

text_position element_of(text_position const& array, std::size_t index) {
    return within(array, std::to_string(index));
}

/// Reads the text as a kind of failure, a priority or a duration, if it is one.
void read_string(argument& to, std::string_view text) {
    to.value = stand_in();
    to.text = text;
    if (text.starts_with('<'))
        return;
    if (read_enumerator(to, text))
        return;
    try {
        to.value = read_duration(text, to.at);
    } catch (policy_syntax_error const&) { // the parameter decides what is wrong with it
        to.quoted = text;
    }
}

term term_from(std::string_view name, json::value const& from, text_position const& at, int depth);

argument argument_from(std::string_view name, json::value const& from, text_position const& at, int depth) {
    argument read{std::string(name), false, shown_json(from), at, at};
    if (auto const* flag = from.if_bool()) {
        read.value = *flag;
    } else if (auto const* text = from.if_string()) {
        read_string(read, view_of(*text));
    } else if (auto const* inner = from.if_object()) {
        if (inner->size() != 1)
            fail_expecting_json(at, "an object with one key, the name of a backoff", from);
        auto const& [key, value] = *inner->begin();
        read.value = term_from(view_of(key), value, within(at, view_of(key)), depth + 1);
    } else if (std::string const digits = digits_of(from); !digits.empty()) {
        read.value = number_word{digits};
    } else {
        fail_expecting_json(at, "a number, a string, true, false or an object", from);
    }
    return read;
}

void add_in_order(term& to, json::array const& values, text_position const& at, int depth) {
    for (std::size_t i = 0; i != values.size(); ++i)
        to.arguments.push_back(argument_from("", values[i], element_of(at, i), depth));
}

void add_named(term& to, json::object const& values, text_position const& at, int depth) {
    constexpr json::string_view list = "delays";
    json::value const* const delays = to.name == "schedule" ? values.if_contains(list) : nullptr;
    if (delays) {
        if (!delays->is_array())
            fail_expecting_json(within(at, view_of(list)), "an array", *delays);
        add_in_order(to, delays->get_array(), within(at, view_of(list)), depth);
    }
    for (auto const& [key, value] : values)
        if (&value != delays)
            to.arguments.push_back(argument_from(view_of(key), value, within(at, view_of(key)), depth));
}

/// Whether true and false are the argument of the setting. To other settings, true means that they are there.
bool is_flag(std::string_view name) {
    auto const* const setting = find_setting(name);
    return setting && setting->parameters.front().kind == parameter_kind::a_flag &&
           !setting->parameters.front().name.empty();
}

term term_from(std::string_view name, json::value const& from, text_position const& at, int depth) {
    check_depth(depth, at);
    term read{std::string(name), {}, at, at};
    refuse_unreadable(read);
    if (auto const* named = from.if_object())
        add_named(read, *named, at, depth);
    else if (auto const* in_order = from.if_array())
        add_in_order(read, *in_order, at, depth);
    else if (!from.is_bool() || is_flag(name))
        read.arguments.push_back(argument_from("", from, at, depth));
    else if (!from.get_bool()) {
        (void)build_policy({read}); // throws for an unknown item, and for an item that needs arguments
        fail_expecting_json(at, "true or no such key", from);
    }
    return read;
}

/// Whether the value is a list of rules, and not the arguments of one rule.
bool are_several(std::string_view name, json::value const& from) {
    auto const* const setting = find_setting(name);
    auto const* const all = from.if_array();
    return setting && setting->may_be_repeated && all && (all->empty() || !all->front().is_string());
}

/// Puts the profile first: the keys of an object have no order.
std::vector<term> terms_from(json::object const& items, text_position const& whole) {
    std::vector<term> profiles, others;
    for (auto const& [key, value] : items) {
        text_position const at = within(whole, view_of(key));
        if (are_several(view_of(key), value)) {
            for (std::size_t i = 0; i != value.get_array().size(); ++i)
                others.push_back(term_from(view_of(key), value.get_array()[i], element_of(at, i), 1));
            continue;
        }
        term read = term_from(view_of(key), value, at, 1);
        bool const is_profile = profile_named(read.name).has_value();
        if (is_profile && !profiles.empty())
            fail_expecting(read.at, "no second profile", read.name);
        (is_profile ? profiles : others).push_back(std::move(read));
    }
    profiles.insert(profiles.end(), others.begin(), others.end());
    return profiles;
}

json::value to_json(term const& written);

json::value to_json(argument const& written) {
    if (written.text)
        return json::string(*written.text);
    return std::visit(
        []<typename Value>(Value const& value) -> json::value {
            if constexpr (std::is_same_v<Value, number_word>) {
                if (auto const whole = read_whole(value.digits))
                    return *whole;
                return *read_number(value.digits);
            } else if constexpr (std::is_same_v<Value, duration>) {
                return json::string(to_text(value));
            } else if constexpr (std::is_same_v<Value, bool>) {
                return value;
            } else if constexpr (std::is_same_v<Value, stand_in>) {
                return json::string('<' + value.of + '>');
            } else if constexpr (std::is_same_v<Value, failure_kind> ||
                                 std::is_same_v<Value, request_priority>) {
                return json::string(text_of(value));
            } else {
                json::object inner;
                inner.emplace(value.name, to_json(value));
                return inner;
            }
        },
        written.value);
}

json::value to_json(term const& written) {
    json::array in_order;
    json::object named;
    for (argument const& a : written.arguments)
        if (a.name.empty())
            in_order.push_back(to_json(a));
        else
            named.emplace(a.name, to_json(a));
    if (written.arguments.empty())
        return true;
    if (named.empty())
        return in_order.size() == 1 ? in_order.front() : json::value(in_order);
    if (!in_order.empty())
        named.emplace("delays", in_order);
    else if (named.size() == 1 && written.is_led_by_value && !named.begin()->value().is_object())
        return named.begin()->value();
    return named;
}

/// The digits in the JSON of protocol buffers, where a number may be in quotation marks.
std::string grpc_digits_of(json::value const& from) {
    auto const* const text = from.if_string();
    if (!text)
        return digits_of(from);
    boost::system::error_code none;
    return digits_of(json::parse(*text, none));
}

std::string grpc_status_code(json::value const& from, text_position const& at) {
    auto const* const end = std::end(grpc_status_codes);
    auto const* found = end;
    if (auto const* name = from.if_string())
        found = std::find_if(std::begin(grpc_status_codes), end,
                             [&](std::string_view code) { return is_same_but_for_case(view_of(*name), code); });
    else if (auto const number = read_whole(digits_of(from));
             number && *number >= 0 && *number < std::ssize(grpc_status_codes))
        found = std::begin(grpc_status_codes) + *number;
    if (found == end || found == std::begin(grpc_status_codes))
        fail_expecting_json(at, "a status code of gRPC other than OK, by name or number", from,
                            from.is_string() ? did_you_mean(view_of(from.get_string()), grpc_status_codes)
                                             : "");
    return std::string(*found);
}

std::vector<std::string> grpc_status_codes_from(json::value const& from, text_position const& at) {
    if (!from.is_array() || from.get_array().empty())
        fail_expecting_json(at, "an array of at least one status code", from);
    std::vector<std::string> codes;
    for (std::size_t i = 0; i != from.get_array().size(); ++i) {
        std::string const code = grpc_status_code(from.get_array()[i], element_of(at, i));
        if (std::find(codes.begin(), codes.end(), code) == codes.end())
            codes.push_back(code);
    }
    return codes;
}

/// Reads the JSON form of a protocol buffers Duration.
duration grpc_backoff(json::value const& from, text_position const& at) {
    constexpr std::string_view seconds = "a positive number of seconds such as \"0.5s\"";
    auto const* const text = from.if_string();
    if (!text || text->find_first_not_of("-.0123456789") + 1 != text->size() || !text->ends_with('s'))
        fail_expecting_json(at, seconds, from);
    duration const read = read_duration(view_of(*text), at);
    if (read <= duration::zero())
        fail_expecting_json(at, seconds, from);
    return read;
}

std::int64_t grpc_attempts(json::value const& from, text_position const& at) {
    constexpr std::int64_t most_attempts = 5;
    auto const count = read_whole(grpc_digits_of(from));
    if (!count || *count < 2)
        fail_expecting_json(at, "a whole number of at least 2", from);
    return std::min(*count, most_attempts);
}

double grpc_multiplier(json::value const& from, text_position const& at) {
    std::string const digits = grpc_digits_of(from);
    auto const factor = digits.empty() ? 0 : *read_number(digits);
    if (factor <= 0)
        fail_expecting_json(at, "a positive number", from);
    if (factor < 1)
        fail_expecting_json(at, "at least 1 (no backoff of this library shrinks)", from);
    return factor;
}

} // namespace

retry_policy policy_from_object(boost::json::object const& from, text_position const& at) {
    return build_policy(terms_from(from, at));
}

} // namespace detail

retry_policy policy_from_json(boost::json::value const& from) {
    if (!from.is_object())
        detail::fail_expecting_json({}, "an object", from);
    return detail::policy_from_object(from.get_object(), {});
}

boost::json::value policy_to_json(retry_policy const& policy) {
    boost::json::object items;
    for (detail::term const& written : detail::terms_of(policy)) {
        boost::json::value& all = items.emplace(written.name, boost::json::array()).first->value();
        (written.may_be_repeated ? all.get_array().emplace_back(nullptr) : all) = detail::to_json(written);
    }
    return items;
}

grpc_retry_policy grpc_retry_policy_from_json(boost::json::value const& from) {
    if (!from.is_object())
        detail::fail_expecting_json({}, "an object", from);
    auto const read = [&](std::string_view field, auto reader) {
        detail::text_position const at = detail::within({}, field);
        auto const* const value = from.get_object().if_contains({field.data(), field.size()});
        if (!value)
            detail::fail(at, "expected a value, found none");
        return reader(*value, at);
    };
    std::int64_t const attempts = read("maxAttempts", detail::grpc_attempts);
    duration const initial = read("initialBackoff", detail::grpc_backoff);
    duration const greatest = read("maxBackoff", detail::grpc_backoff);
    double const multiplier = read("backoffMultiplier", detail::grpc_multiplier);
    // If the initial backoff is above the greatest, all delays are the greatest.
    backoff const shape = exponential(std::min(initial, greatest), multiplier).cap(greatest);
    return {retry_policy()
                .backoff(shape)
                .jitter(multiplicative_jitter(0.8, 1.2).beyond_cap())
                .max_attempts(attempts),
            read("retryableStatusCodes", detail::grpc_status_codes_from)};
}

} // namespace asio_retry
