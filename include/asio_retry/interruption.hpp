#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <iosfwd>
#include <string_view>

namespace asio_retry {

/// Which of these cancelled an attempt before it ended by itself.
enum class interruption : unsigned char {
    none,            ///< none: the error is the attempt's own
    attempt_timeout, ///< the attempt took longer than attempt_timeout, setup_timeout or idle_timeout allows
    deadline,        ///< the attempt reached total_timeout, the deadline, or the deadline of the scope
    cancellation,    ///< the caller or a scope cancelled the operation
    beaten,          ///< another attempt of the hedge ended the operation first
};

/// The enumerator's name, for logs.
ASIO_RETRY_DECL std::string_view to_string(interruption what) noexcept;
/// Writes the enumerator's name.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, interruption what);

} // namespace asio_retry
