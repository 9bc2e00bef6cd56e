#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <string_view>

namespace asio_retry::detail {

/// Throws std::invalid_argument, naming the field, its value and the broken rule.
[[noreturn]] ASIO_RETRY_DECL void refuse(std::string_view field, std::string_view value, std::string_view rule);
[[noreturn]] ASIO_RETRY_DECL void refuse(std::string_view field, duration value, std::string_view rule);
[[noreturn]] ASIO_RETRY_DECL void refuse(std::string_view field, double value, std::string_view rule);

/// The rule ends with the name of another field; its value is added: "..., which is 2s".
[[noreturn]] ASIO_RETRY_DECL void refuse(std::string_view field, duration value, std::string_view rule,
                                         duration other);
[[noreturn]] ASIO_RETRY_DECL void refuse(std::string_view field, double value, std::string_view rule,
                                         double other);

/// Refuses a negative duration.
ASIO_RETRY_DECL duration non_negative(std::string_view field, duration value);

} // namespace asio_retry::detail
