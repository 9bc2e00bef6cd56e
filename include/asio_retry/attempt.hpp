#pragma once

#include <asio_retry/detail/policy/shared_value.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/pushback.hpp>

#include <atomic>
#include <cstdint>

namespace asio_retry {

/// What a nested retry tells the attempt that it runs in.
struct nested_marks {
    std::atomic<bool> forbidden = false; ///< it was told never to retry
    std::atomic<bool> sent = false;      ///< it may have sent something
};

/// Learns from an attempt what its operation cannot see: that what it set up works, that it has sent something,
/// and what its peer said.
class health_monitor {
public:
    /// See `attempt::mark_healthy`.
    virtual void on_healthy() noexcept = 0;

    /// See `attempt::mark_sent`.
    virtual void on_sent() noexcept {}

    /// See `attempt::progress`.
    virtual void on_progress() noexcept {}

    /// The peer said this about trying again.
    virtual void on_pushback(pushback) noexcept {}

    /// For a nested retry; null if nobody would look.
    virtual detail::shared_value<nested_marks> marks() { return {}; }

protected:
    ~health_monitor() = default;
};

/// One call of the operation, as the operation may ask to see it.
///
/// An operation whose first parameter is an `attempt` is told which one it is; an overloaded one that can be
/// called with nothing is called with nothing. Handed on to
/// `async_retry(attempt, operation, policy)`, it makes that a nested retry.
struct attempt {
    /// Counted from 1; a retry is every attempt after the first.
    std::uint64_t number = 1;

    /// When the attempt is told to stop at the latest: the earlier of the end of `attempt_timeout` and the
    /// deadline of the operation; time_point::max() if there is neither. It is what you tell the server. It
    /// leaves out `set_up_within` and `idle_timeout`, which depend on what the attempt will say.
    time_point deadline = (time_point::max)();

    /// For the functions below; null outside a retry.
    health_monitor* monitor = nullptr;

    /// Says that what the attempt has set up works from now on, for `retry_policy::reset_after` and
    /// `retry_policy::set_up_within`: a connection has been accepted and has answered, for instance. Only the
    /// first mark of an attempt counts. Preconditions: the attempt is running, and this is called where it
    /// runs.
    void mark_healthy() const noexcept {
        if (monitor)
            monitor->on_healthy();
    }

    /// Says that the attempt is alive, for `retry_policy::idle_timeout`: something has arrived, for instance.
    /// It reads the clock and notes the time, so call it as often as you like. A nested retry does not say it
    /// to the attempt that it runs in, and an attempt of a hedge to nobody. Preconditions: as those of
    /// `mark_healthy`.
    void progress() const noexcept {
        if (monitor)
            monitor->on_progress();
    }

    /// Says that the attempt is about to send what must not be done twice, for `retry_policy::retry_sent` and
    /// `retry_event::sent`. An operation that takes no attempt counts as having sent from its beginning. A
    /// nested retry or hedge says it to the attempt that it runs in, too. Preconditions: as those of
    /// `mark_healthy`.
    void mark_sent() const noexcept {
        if (monitor)
            monitor->on_sent();
    }

    /// Says what the peer wants about trying again; the retry obeys if the attempt fails. The last call counts,
    /// and the judgement of a predicate of `fail_if` comes after all of them. Preconditions: the attempt is
    /// running, and this is called where it runs.
    void heed(pushback said) const noexcept {
        if (monitor)
            monitor->on_pushback(said);
    }
};

} // namespace asio_retry
