#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/random.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace asio_retry {

/// Keeps all waits of an execution context on one timer.
///
/// It is a service of the context, and `scheduler(context)` returns it. The first operation that needs the time
/// creates it. The context destroys it, and with it, without a call, the handlers of operations that still
/// wait. A wait never ends early, and a wait until time_point::max() never ends at all. When no wait remains,
/// the scheduler does not keep the context's `run()` from returning. Waits end in batches of at most 64; other
/// handlers of the context run between two batches.
///
/// Thread safety: any thread may call every member function but `seed`.
class ASIO_RETRY_DECL retry_scheduler : public boost::asio::execution_context::service {
public:
    /// Identifies the service to a context.
    static boost::asio::execution_context::id id;

    /// For `scheduler(context)`, which makes it.
    explicit retry_scheduler(boost::asio::execution_context& context);
    ~retry_scheduler() override;

    /// How much later than asked a wait may end, so that waits can share a wake-up; zero is as exact as a
    /// timer.
    ///
    /// The default is 1 ms. While no more than 16 waits are pending, they are exact too. Throws
    /// std::invalid_argument if negative.
    retry_scheduler& slack(saturating_duration greatest);
    /// The slack that was set, 1 ms at first.
    duration slack() const noexcept;

    /// Makes a run repeatable: operations draw their delays from the streams 0, 1, 2 ... of `value`.
    ///
    /// They get the streams in the order of their initiation, from here on. Precondition: no operation is being
    /// initiated meanwhile.
    retry_scheduler& seed(std::uint64_t value) noexcept;

    /// How many waits, time limits and joins of scopes are pending.
    std::size_t pending() const noexcept;

    /// The time of the steady clock, or of the manual clock of a `virtual_time`.
    time_point now() const noexcept;

    /// @name For the operations of this library
    /// @{
    /// Begins a wait until `expiry`. Returns false, and does nothing, if the context is being destroyed.
    ///
    /// Precondition: the node is not scheduled.
    bool schedule(detail::wait_node& node, time_point expiry);

    /// Takes back a wait: returns true, or false if its expiry is being or has been reported.
    bool cancel(detail::wait_node& node) noexcept;

    /// Makes the wait end in the next batch on `here`, which is the scheduler's context.
    ///
    /// Waits that are ended early together share the batch. Returns false if the expiry is being or has been
    /// reported.
    bool end_early(detail::wait_node& node, boost::asio::io_context& here) noexcept;

    /// Begins a wait that is over already, and ends in the next batch, as after `end_early`.
    ///
    /// Returns false, and does nothing, if the context is being destroyed. Precondition: the node is not
    /// scheduled.
    bool schedule_early(detail::wait_node& node);

    /// Makes a pending wait end no later than `latest`.
    ///
    /// Returns false if the expiry is being or has been reported.
    bool end_by(detail::wait_node& node, time_point latest) noexcept;

    /// Tells the scheduler that this is its context, because an execution_context does not.
    ///
    /// Batches that follow one another are posted then, and need no timer.
    void go_on_in(boost::asio::io_context& own) noexcept;

    /// Whether one thread runs the context.
    ///
    /// It is true for a context with a virtual_time, with a concurrency hint of 1, or with a hint that lets it
    /// run without locks. A hint of 1 cannot be read with Boost 1.87 to 1.89.
    bool has_one_thread() const noexcept;

    /// The next independent source of randomness.
    random next_random() noexcept;

    /// Whether any scheduler of the process is seeded, so that the order of initiations matters.
    static bool any_seeded() noexcept { return seeded_.load(std::memory_order_relaxed) != 0; }
    /// @}

private:
    friend class virtual_time;

    void shutdown() override;
    void notify_fork(boost::asio::execution_context::fork_event event) override;

    void stop_clock();
    void restart_clock();
    bool advance_to_next_expiry(time_point limit);
    void advance_clock(time_point to) noexcept;
    void set_clock(time_point to) noexcept;

    static std::atomic<std::size_t> seeded_; // schedulers

    class impl;
    std::unique_ptr<impl> impl_;
};

/// The scheduler of `context`, created if necessary.
ASIO_RETRY_DECL retry_scheduler& scheduler(boost::asio::execution_context& context);

} // namespace asio_retry
