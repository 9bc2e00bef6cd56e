#pragma once

#include <asio_retry/detail/policy/health_monitor.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/pushback.hpp>

#include <cstdint>

namespace asio_retry {

/// One call of the operation, as the operation sees it.
///
/// An operation whose first parameter is an `attempt` receives it. An overloaded operation that can be called
/// without arguments is called without arguments. Pass the attempt on to
/// `async_retry(attempt, operation, policy)` to make that a nested retry.
struct attempt {
    /// Counted from 1; a retry is every attempt after the first.
    std::uint64_t number = 1;

    /// The latest time at which the attempt is cancelled; deadline_fields.hpp writes it for the server.
    ///
    /// It is the earlier of the end of `attempt_timeout` and the deadline of the operation, or
    /// time_point::max() if there is neither. `setup_timeout` and `idle_timeout` are left out, because they
    /// depend on later marks of the attempt.
    time_point deadline = (time_point::max)();

    /// What `mark_healthy` and the other functions tell; null outside a retry.
    detail::health_monitor* monitor = nullptr;

    /// The number of the operation, as its observer gets it; 0 if no observer hears of the operation.
    ///
    /// Precondition: the attempt is running.
    std::uint64_t operation() const noexcept { return monitor ? monitor->operation_number() : 0; }

    /// Says that the connection, or whatever the attempt has set up, works from now on.
    ///
    /// For `retry_policy::reset_after` and `retry_policy::setup_timeout`. Call it, for instance, when a server
    /// has accepted the connection and has answered. Only the first mark of an attempt counts.
    ///
    /// Preconditions: the attempt is running, and this is called where the attempt runs.
    void mark_healthy() const noexcept {
        if (monitor)
            monitor->on_healthy();
    }

    /// Says that the attempt is alive, for `retry_policy::idle_timeout`: for instance, data has arrived.
    ///
    /// It reads the clock and notes the time, so call it as often as you like. A nested retry does not pass it
    /// on to the attempt that it runs in. In an attempt of a hedge it has no effect.
    ///
    /// Preconditions: as for `mark_healthy`.
    void progress() const noexcept {
        if (monitor)
            monitor->on_progress();
    }

    /// Says that the attempt is about to send something that must not be done twice.
    ///
    /// For `retry_policy::retry_sent` and `retry_event::sent`. An operation that takes no `attempt` counts as
    /// having sent from its beginning. A nested retry or hedge also passes it on to the attempt that it runs
    /// in.
    ///
    /// Preconditions: as for `mark_healthy`.
    void mark_sent() const noexcept {
        if (monitor)
            monitor->on_sent();
    }

    /// Passes on the server's wish about retries; the operation obeys it if the attempt fails.
    ///
    /// The last call counts. The judgement of a predicate of `fail_if` overrides all calls.
    ///
    /// Preconditions: the attempt is running, and this is called where the attempt runs.
    void heed(pushback said) const noexcept {
        if (monitor)
            monitor->on_pushback(said);
    }
};

} // namespace asio_retry
