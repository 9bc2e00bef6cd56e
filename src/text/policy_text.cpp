#include <asio_retry/policy_text.hpp>

#include "policy/backoff_shapes.hpp"
#include "policy/shown_text.hpp"
#include "text/build.hpp"
#include "text/enumerators.hpp"
#include "text/number.hpp"
#include "text/term.hpp"

#include <ostream>
#include <type_traits>
#include <variant>

namespace asio_retry {
namespace detail {
namespace {

std::string in_quotation_marks(std::string_view text) {
    std::string quoted = "\"";
    for (char const c : text)
        quoted.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
    return quoted + '"';
}

std::string text_of_value(argument const& written) {
    if (written.text)
        return in_quotation_marks(*written.text);
    return std::visit(
        []<typename Value>(Value const& value) -> std::string {
            if constexpr (std::is_same_v<Value, number_word>)
                return value.digits;
            else if constexpr (std::is_same_v<Value, bool>)
                return value ? "true" : "false";
            else if constexpr (std::is_same_v<Value, stand_in>)
                return '<' + value.of + '>';
            else if constexpr (std::is_same_v<Value, failure_kind> || std::is_same_v<Value, request_priority>)
                return std::string(text_of(value));
            else
                return to_text(value);
        },
        written.value);
}

} // namespace

void fail(text_position const& at, std::string_view problem) {
    std::string message("asio_retry: at ");
    if (at.offset != std::string_view::npos)
        message.append("byte ").append(std::to_string(at.offset));
    else
        message += at.path.empty() ? "the root" : at.path;
    message.append(": ").append(problem);
    throw policy_syntax_error(at.offset, message);
}

void fail_expecting(text_position const& at, std::string_view expected, std::string_view found,
                    std::string_view question) {
    fail(at, "expected " + std::string(expected) + ", found " +
                 (found.empty() ? "the end" : "'" + shown(found) + "'").append(question));
}

void fail_unknown(text_position const& at, std::string_view found, std::string_view question,
                  std::string_view expected) {
    std::string const unknown = "unknown name '" + shown(found) + "'";
    fail(at, question.empty() ? (unknown + "; expected ").append(expected) : unknown + std::string(question));
}

void check_depth(int depth, text_position const& at) {
    if (depth > greatest_depth)
        fail(at, "more than " + std::to_string(greatest_depth) + " backoffs inside one another");
}

std::string to_text(term const& written) {
    std::string text = written.name + '(';
    bool is_named = !written.is_led_by_value;
    std::string_view separator;
    for (argument const& a : written.arguments) {
        text += separator;
        if (is_named && !a.name.empty())
            text.append(a.name).append("=");
        text += text_of_value(a);
        separator = ", ";
        is_named = true;
    }
    return text + ')';
}

} // namespace detail

policy_syntax_error::policy_syntax_error(std::size_t position, std::string const& message, std::size_t line,
                                         std::size_t column)
    : std::invalid_argument(message)
    , position_(position)
    , line_(line)
    , column_(column) {}

std::string to_string(backoff const& shape) {
    return detail::to_text(detail::term_of(shape));
}

std::string to_string(jitter const& kind) {
    return detail::to_text(detail::term_of(kind));
}

std::string to_string(retry_policy const& policy) {
    std::string text;
    for (detail::term const& written : detail::terms_of(policy))
        text.append(text.empty() ? "" : " ").append(detail::to_text(written));
    return text;
}

std::ostream& operator<<(std::ostream& out, retry_policy const& policy) {
    return out << to_string(policy);
}

retry_policy parse_policy(std::string_view text) {
    if (std::optional<retry_policy> const profile = detail::bare_profile(text))
        return *profile;
    return detail::build_policy(detail::parse_terms(text));
}

} // namespace asio_retry
