#pragma once

#include "policy/duration_text.hpp"
#include "text/term.hpp"

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace asio_retry::detail {

// Numbers and durations as text, independent of the locale.

/// The fewest digits that name this value and no other.
ASIO_RETRY_DECL std::string to_text(double value);

/// Reads a whole or decimal number with a unit. Throws policy_syntax_error for any other text, and unless it is
/// a whole number of nanoseconds that a duration can hold.
ASIO_RETRY_DECL duration read_duration(std::string_view word, text_position const& at);

/// Reads a whole number. None if it has a fraction or an exponent, or is out of range.
ASIO_RETRY_DECL std::optional<std::int64_t> read_whole(std::string_view digits);

/// Reads a number. None if it is out of range. Precondition: the digits are those of a number.
ASIO_RETRY_DECL std::optional<double> read_number(std::string_view digits);

} // namespace asio_retry::detail
