#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

// The gates that a text can name: a `rate_limit`, a `concurrency_limit` that is fixed and has no queue, and the
// budget of `hedge_share`.

namespace asio_retry::detail {

/// @name The gates of a text or of JSON. Each throws std::invalid_argument.
/// @{
ASIO_RETRY_DECL std::shared_ptr<retry_gate> make_rate_limit(std::int64_t n, duration per, std::int64_t burst);
ASIO_RETRY_DECL std::shared_ptr<retry_gate> make_concurrency_limit(fixed_limit limit);
ASIO_RETRY_DECL std::shared_ptr<retry_gate> make_hedge_share(double share, std::int64_t burst);
/// @}

/// The gate, if `make_rate_limit` has made it; otherwise null.
std::shared_ptr<rate_limit> rate_limit_of_text(std::shared_ptr<retry_gate> const& gate) noexcept;

/// How many attempts a `concurrency_limit` lets run.
struct fixed_limit_number {
    std::uint32_t n = 0;
    bool operator==(fixed_limit_number const&) const = default;
};

/// The numbers in the text of a gate.
using gate_numbers = std::variant<std::monostate, rate_limit_numbers, fixed_limit_number, hedge_share_numbers>;

/// The numbers of a gate that a text can name, made by a text or by a program; none for another gate and null.
gate_numbers numbers_of(retry_gate const* gate) noexcept;

/// Whether a text has made both gates, and they have the same numbers.
bool are_same_in_text(std::shared_ptr<retry_gate> const& a, std::shared_ptr<retry_gate> const& b) noexcept;

} // namespace asio_retry::detail
