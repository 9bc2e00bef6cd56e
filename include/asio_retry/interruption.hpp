#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <string_view>

namespace asio_retry {

/// Which of these cancelled an attempt before it ended by itself.
enum class interruption : unsigned char {
    none,            ///< none: the error is the attempt's own
    attempt_timeout, ///< the attempt took longer than attempt_timeout, set_up_within or idle_timeout allows
    deadline,        ///< the attempt reached total_timeout, the deadline, or the deadline of the scope
    cancellation,    ///< the caller or a scope cancelled the operation
    beaten,          ///< another attempt of the hedge ended the operation first
};

/// The enumerator's name, for logs.
ASIO_RETRY_DECL std::string_view to_string(interruption what) noexcept;

namespace detail {

/// A source of cancellation that cannot call `retry_machine::cancel` in time and is asked instead.
class cancellation_probe {
public:
    /// Whether the operation is to stop; `total_counts` says whether a `total` cancellation is reason enough.
    virtual bool stops(bool total_counts) const noexcept = 0;

    /// Whether a running attempt is cancelled too; otherwise it may finish.
    virtual bool tells_attempt() const noexcept { return true; }

    /// When a running attempt is cancelled, also if it was cancelled before; time_point::max() for never.
    virtual time_point deadline() const noexcept { return (time_point::max)(); }

protected:
    ~cancellation_probe() = default;
};

} // namespace detail

} // namespace asio_retry
