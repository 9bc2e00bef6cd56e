#pragma once

#include <asio_retry/duration.hpp>

namespace asio_retry::detail {

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

} // namespace asio_retry::detail
