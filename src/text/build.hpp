#pragma once

#include "text/term.hpp"

#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::detail {

/// The policy that the terms name. Throws policy_syntax_error.
ASIO_RETRY_DECL retry_policy build_policy(std::vector<term> const& terms);

/// Refuses a term that `to_string` writes for a part without text.
ASIO_RETRY_DECL void refuse_unreadable(term const& t);

/// The terms that name a policy, and its parts.
ASIO_RETRY_DECL std::vector<term> terms_of(retry_policy const& policy);
term term_of(backoff const& shape);
ASIO_RETRY_DECL backoff build_backoff(term const& from);
term term_of(jitter const& kind);
ASIO_RETRY_DECL fixed_limit build_limit(term const& from);

/// "; did you mean exponential?": finds a similar name among all items and profiles for an unknown name.
std::string similar_name(std::string_view name);

ASIO_RETRY_DECL std::optional<retry_policy> profile_named(std::string_view name);

/// The profile of a text that is nothing but a name. Throws policy_syntax_error for a near miss.
std::optional<retry_policy> bare_profile(std::string_view text);

} // namespace asio_retry::detail
