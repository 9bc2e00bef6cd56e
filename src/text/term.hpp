#pragma once

#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/gate_waiter.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace asio_retry::detail {

// The tree between a policy and its text or JSON.

/// A position in a text or in JSON.
struct text_position {
    std::size_t offset = std::string_view::npos; ///< in a text
    std::string path = {};                       ///< in JSON (RFC 6901)

    text_position after(std::size_t bytes) const {
        return {offset == std::string_view::npos ? offset : offset + bytes, path};
    }
};

struct argument;

/// name(arguments)
struct term {
    std::string name;
    std::vector<argument> arguments;
    text_position at = {};
    text_position end = {};       ///< where a further argument could stand
    bool is_led_by_value = false; ///< its first argument is written without its name
    bool may_be_repeated = false; ///< JSON writes terms of this name as an array
};

inline constexpr std::string_view white_space = " \t\r\n\v\f";

/// A number as it is written; its parameter decides the type.
struct number_word {
    std::string digits;
};

/// Stands for a part that a text cannot express, such as <callable>.
struct stand_in {
    std::string of;
};

struct argument {
    std::string name; ///< empty if the argument is given by position
    std::variant<number_word, duration, bool, stand_in, term, failure_kind, request_priority> value;
    std::string word = {};                ///< the value as found, for messages
    text_position at = {};                ///< of the value
    text_position name_at = {};           ///< of the value if there is no name
    std::string quoted = {};              ///< as `text`; empty for JSON that is in `value` or begins with <
    std::optional<std::string> text = {}; ///< the text between quotation marks, if there are any; `value` is
                                          ///< then a stand_in, unless it is JSON and reads as something else
};

/// Throws policy_syntax_error.
[[noreturn]] ASIO_RETRY_DECL void fail(text_position const& at, std::string_view problem);
[[noreturn]] ASIO_RETRY_DECL void fail_expecting(text_position const& at, std::string_view expected,
                                                 std::string_view found, std::string_view question = {});

/// Throws policy_syntax_error for a place where many names may stand. It asks the question, or says what was
/// expected.
[[noreturn]] void fail_unknown(text_position const& at, std::string_view found, std::string_view question,
                               std::string_view expected);

/// Throws policy_syntax_error if `depth` is too great, for a term at `at`.
ASIO_RETRY_DECL void check_depth(int depth, text_position const& at);

/// The terms of a text. Throws policy_syntax_error.
std::vector<term> parse_terms(std::string_view text);

std::string to_text(term const& written);

} // namespace asio_retry::detail
