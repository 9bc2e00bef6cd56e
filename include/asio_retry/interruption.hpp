#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <string_view>

namespace asio_retry {

/// What told an attempt to stop before it had ended by itself.
enum class interruption : unsigned char {
    none,            ///< nothing did: the error is the attempt's own
    attempt_timeout, ///< it took longer than attempt_timeout, or set_up_within or idle_timeout allow
    deadline,        ///< total_timeout, the deadline or that of the scope was reached
    cancellation,    ///< the caller or a scope cancelled the operation
};

/// The enumerator's name, for logs.
ASIO_RETRY_DECL std::string_view to_string(interruption what) noexcept;

} // namespace asio_retry
