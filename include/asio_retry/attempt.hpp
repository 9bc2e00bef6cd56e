#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/pushback.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace asio_retry {

/// Learns from an attempt what its operation cannot see: that what it set up works, and what its peer said.
class health_monitor {
public:
    virtual void on_healthy() noexcept = 0;

    /// The peer said this about trying again.
    virtual void on_pushback(pushback) noexcept {}

    /// Set by a nested retry that is told never to retry; null if nobody would look.
    virtual std::shared_ptr<std::atomic<bool>> forbidden() { return nullptr; }

protected:
    ~health_monitor() = default;
};

/// One call of the operation, as the operation may ask to see it.
///
/// An operation whose first parameter is an `attempt` is told which one it is. Handed on to
/// `async_retry(attempt, operation, policy)`, it makes that a nested retry.
struct attempt {
    /// Counted from 1; a retry is every attempt after the first.
    std::uint64_t number = 1;

    /// When the whole operation must be over; time_point::max() if it has no deadline.
    time_point deadline = time_point::max();

    /// For `mark_healthy` and `heed`; null outside a retry.
    health_monitor* monitor = nullptr;

    /// What the attempt set up works from now on, for `retry_policy::reset_after`: a connection has been
    /// accepted and has answered, say. Only the first mark of an attempt counts. Preconditions: the attempt is
    /// running, and this is called where it runs.
    void mark_healthy() const noexcept {
        if (monitor)
            monitor->on_healthy();
    }

    /// What the peer said to the attempt about trying again: obeyed by the retry if the attempt fails. The last
    /// one counts, and one in the judgement of a predicate of `fail_if` comes after all of them. Preconditions:
    /// the attempt is running, and this is called where it runs.
    void heed(pushback said) const noexcept {
        if (monitor)
            monitor->on_pushback(said);
    }
};

} // namespace asio_retry
