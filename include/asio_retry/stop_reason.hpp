#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <iosfwd>
#include <string_view>

namespace asio_retry {

/// Why an operation made no further attempt.
enum class stop_reason {
    succeeded,     ///< an attempt succeeded
    not_retryable, ///< the failure is not one to retry, or a callable of yours threw
    attempts,      ///< max_attempts were made
    elapsed,       ///< the next wait would have ended after max_elapsed
    deadline,      ///< the next wait would have ended after the deadline, or the deadline passed
    budget,        ///< the gate granted no retry, or the scope had no room for a first attempt
    pushback,      ///< the server asked for no retry, or for a longer delay than pushback_limit
    cancelled,     ///< the caller or a scope cancelled the operation
    refused,       ///< a gate refused an attempt
};

/// The enumerator's name, for logs.
ASIO_RETRY_DECL std::string_view to_string(stop_reason reason) noexcept;
/// Writes the enumerator's name.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, stop_reason reason);

} // namespace asio_retry
