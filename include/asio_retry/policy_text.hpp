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
    policy_syntax_error(std::size_t position, std::string const& message);

    /// How many bytes of the text precede the fault.
    ///
    /// It is std::string_view::npos for JSON, whose message has the path to the fault instead.
    std::size_t position() const noexcept { return position_; }

private:
    std::size_t position_;
};

/// Writes a backoff as text.
///
/// A duration has the largest unit that divides it. A number has as few digits as distinguish it from others.
/// Equal texts mean equal objects, except for callables.
ASIO_RETRY_DECL std::string to_string(backoff const& shape);
/// The same for a jitter.
ASIO_RETRY_DECL std::string to_string(jitter const& kind);

/// Writes a policy as text: the backoff, the jitter, the greatest number of attempts, and all that is set
/// besides.
///
/// `parse_policy` reads it, unless the policy has callables.
ASIO_RETRY_DECL std::string to_string(retry_policy const& policy);
/// Writes the text of the policy.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, retry_policy const& policy);

/// Reads a policy from a text.
///
/// A setting that the text does not mention is as in `retry_policy()`, or as in the profile at its beginning.
/// The grammar: doc/reference/policy_text.md.
///
/// Throws policy_syntax_error if the text does not have that form, names an item twice, or asks for a value
/// that the C++ function refuses.
ASIO_RETRY_DECL retry_policy parse_policy(std::string_view text);

} // namespace asio_retry
