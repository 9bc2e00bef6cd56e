#pragma once

#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/retry_policy.hpp>

#include <cstddef>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry {

// Policies as text, such as
//
//     exponential(base=500ms, factor=1.5, cap=1min) proportional_jitter(0.5) max_attempts(10)
//     max_elapsed(15min)
//
// Items stand in any order, separated by white space. An item is a name of the C++ interface with its arguments
// in parentheses: in their order first, and then by name. A duration is a number and one of ns, us, ms, s, min
// and h. A profile, such as celery(), may be the first item. All items and rules: doc/reference/policy_text.md.

/// The error of a text or of JSON; its message names the fault, its place, and the expected text.
class ASIO_RETRY_DECL policy_syntax_error : public std::invalid_argument {
public:
    /// For the functions that read policies.
    policy_syntax_error(std::size_t position, std::string const& message, std::size_t line = 0,
                        std::size_t column = 0);

    /// How many bytes of the text precede the fault.
    ///
    /// It is std::string_view::npos for a value of JSON, whose message has the path to the fault instead.
    std::size_t position() const noexcept { return position_; }

    /// The line of the fault in a text of several policies, from 1 on; otherwise 0.
    std::size_t line() const noexcept { return line_; }
    /// The character in that line, from 1 on; otherwise 0. A character of UTF-8 is one, a tab too.
    std::size_t column() const noexcept { return column_; }

private:
    std::size_t position_, line_, column_;
};

/// Writes a backoff as text.
///
/// A duration has the largest unit that divides it. A number has as few digits as distinguish it from others.
/// Equal texts mean equal objects, except for callables.
ASIO_RETRY_DECL std::string to_string(backoff const& shape);
/// Writes a jitter as text.
ASIO_RETRY_DECL std::string to_string(jitter const& kind);

/// Writes a policy as text: the backoff, the jitter, the greatest number of attempts, and all that is set
/// besides.
///
/// `parse_policy` reads it, unless the policy has callables, an observer, or a gate that a text cannot name.
ASIO_RETRY_DECL std::string to_string(retry_policy const& policy);
/// Writes the text of the policy.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, retry_policy const& policy);

/// Reads a policy from a text.
///
/// A setting that the text does not mention is as in `retry_policy()`, or as in the profile at its beginning.
/// The grammar: doc/reference/policy_text.md. Each call makes a new gate for a `rate_limit`, a
/// `concurrency_limit` and a `hedge_share`.
///
/// Throws policy_syntax_error if the text does not have that form, names an item twice, or asks for a value
/// that the C++ function refuses.
ASIO_RETRY_DECL retry_policy parse_policy(std::string_view text);

/// A policy and its name, as a file has them.
struct named_policy {
    std::string name;    ///< unique in the file
    retry_policy policy; ///< with the settings of its text
};

/// Reads policies from a text with one on each line, as `name = policy`; in their order.
///
/// A name is UTF-8 without spaces, quotation marks, parentheses and angle brackets. Empty lines and lines that
/// begin with # say nothing. A policy is a text as `parse_policy` reads it, and not empty. The text may begin
/// with a byte order mark.
///
/// Throws policy_syntax_error, with line and column, for any other line, for a name that stands twice, and for
/// a text without policies.
ASIO_RETRY_DECL std::vector<named_policy> parse_policies(std::string_view text);

} // namespace asio_retry
