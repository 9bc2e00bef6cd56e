#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/io_context.hpp>

#include <cstddef>

namespace asio_retry {

/// A clock for tests: hours of backoff in milliseconds, with the same delays every time.
///
/// While it lives, the waits and time limits of the context's operations run on a manual clock; the code under
/// test does not change. The clock starts at the steady clock's present time and moves only when you tell it
/// to. The slack is zero and the seed is fixed. The clock does not move while a handler is ready: endless
/// retries without a delay keep it in place. Waits that end at the same time end in the order in which they
/// began. Real I/O and other timers of the context are polled, never waited for.
///
/// Preconditions: one thread runs the context. Throws std::logic_error if a wait is pending or the context has
/// a virtual_time. A wait that was cut short already is not pending, and continues by this clock.
///
/// Lifetimes: the context outlives it. Waits left at its destruction continue by the steady clock.
class ASIO_RETRY_DECL virtual_time {
public:
    /// Puts the waits of `context` on the manual clock.
    explicit virtual_time(boost::asio::io_context& context);
    ~virtual_time();
    virtual_time(virtual_time const&) = delete;
    virtual_time& operator=(virtual_time const&) = delete;

    /// The time of the manual clock.
    time_point now() const noexcept;

    /// Moves the clock on by `by`, and runs the waits that become due in order.
    ///
    /// Throws std::invalid_argument if `by` is negative. Returns the number of handlers run.
    std::size_t advance(saturating_duration by);

    /// Sets the clock forward or back at once, like a machine that was suspended, and only then runs due waits.
    ///
    /// Each wait ends once, late. A wait that was not due before a jump back lasts longer. The clock stops at
    /// the first and the last representable time. Returns the number of handlers run.
    std::size_t jump(saturating_duration by);

    /// Runs the context, and moves the clock to the next expiry whenever it is idle, until no wait can end.
    ///
    /// It also ends when the context is stopped. Returns the number of handlers run.
    std::size_t run();

private:
    std::size_t run_until(time_point limit);
    std::size_t poll();

    boost::asio::io_context& context_;
    retry_scheduler& scheduler_;
};

} // namespace asio_retry
