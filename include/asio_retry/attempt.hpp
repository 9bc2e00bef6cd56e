#pragma once

#include <asio_retry/duration.hpp>

#include <cstdint>

namespace asio_retry {

/// One call of the operation, as the operation may ask to see it.
///
/// An operation whose first parameter is an `attempt` is told which one it is. Handed on to
/// `async_retry(attempt, operation, policy)`, it makes that a nested retry.
struct attempt {
    /// Counted from 1; a retry is every attempt after the first.
    std::uint64_t number = 1;

    /// When the whole operation must be over; time_point::max() if it has no deadline.
    time_point deadline = time_point::max();
};

} // namespace asio_retry
