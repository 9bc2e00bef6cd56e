#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/traffic/rate_limit.hpp>

#include <cstdint>
#include <memory>
#include <optional>

// The only gate that a text can name is a `rate_limit`.

namespace asio_retry::detail {

/// Makes the gate of a text or of JSON. Throws std::invalid_argument.
ASIO_RETRY_DECL std::shared_ptr<retry_gate> make_rate_limit(std::int64_t n, duration per, std::int64_t burst);

/// The gate, if `make_rate_limit` has made it; otherwise null.
std::shared_ptr<rate_limit> rate_limit_of_text(std::shared_ptr<retry_gate> const& gate) noexcept;

/// The numbers of a gate that is a `rate_limit`, made by a text or by a program.
std::optional<rate_limit_numbers> numbers_of(retry_gate const* gate) noexcept;

} // namespace asio_retry::detail
