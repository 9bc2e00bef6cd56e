#pragma once

#include "text/term.hpp"

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/policy_text.hpp>

#include <string>
#include <string_view>

namespace asio_retry::detail {

// Policies with names: the lines of a file, and parts of them.

/// The text without white space at its ends.
ASIO_RETRY_DECL std::string_view trimmed(std::string_view text) noexcept;

/// The text without the byte order mark that some editors write.
ASIO_RETRY_DECL std::string_view without_mark(std::string_view text) noexcept;

/// The name before the first "=", if that text may be a name: it is not empty, and no part of an item.
ASIO_RETRY_DECL std::string_view name_before(std::string_view text) noexcept;

/// Refuses a name that JSON or SVG cannot hold, or that a terminal would obey. Throws policy_syntax_error.
ASIO_RETRY_DECL void check_name(std::string_view name, text_position const& at);

/// Like `parse_policy`, but refuses an empty text, which is more likely a slip than the default policy.
ASIO_RETRY_DECL retry_policy parse_some_policy(std::string_view text);

/// Reads "name = policy". Throws policy_syntax_error.
ASIO_RETRY_DECL named_policy parse_named_policy(std::string_view text);

/// Throws policy_syntax_error for a fault at this byte of a text of several lines.
[[noreturn]] ASIO_RETRY_DECL void fail_in_lines(std::string_view text, std::size_t offset,
                                                std::string_view problem);
[[noreturn]] ASIO_RETRY_DECL void fail_second(text_position const& at, std::string_view name);

/// The message without the library's name and the place at its beginning.
ASIO_RETRY_DECL std::string problem_of(policy_syntax_error const& fault);

} // namespace asio_retry::detail
