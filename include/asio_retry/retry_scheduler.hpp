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

/// All waits of an execution context, on one timer.
///
/// A service of the context: `scheduler(context)` gives it, the first operation that needs the time creates it,
/// the context destroys it and with it, uncalled, the handlers of operations that still wait. A wait never ends
/// early, and one until time_point::max() never ends at all. When no wait remains nothing keeps the context's
/// `run()` from returning. Waits end in turns of at most 64, between which the other handlers of the context
/// run. Thread safety: every member function but `seed` may be called from any thread.
class ASIO_RETRY_DECL retry_scheduler : public boost::asio::execution_context::service {
public:
    /// By which a context knows the service.
    static boost::asio::execution_context::id id;

    /// For `scheduler(context)`, which makes it.
    explicit retry_scheduler(boost::asio::execution_context& context);
    ~retry_scheduler() override;

    /// How much later than asked a wait may end, so that wake-ups can be shared; zero is as exact as a timer.
    /// While no more than 16 waits are pending there is nothing to share, and they are exact too. The default
    /// is 1 ms. Throws std::invalid_argument if negative.
    retry_scheduler& slack(saturating_duration greatest);
    /// What was set, 1 ms at first.
    duration slack() const noexcept;

    /// From here on the operations draw their delays from the streams 0, 1, 2 ... of `value`, in the order of
    /// their initiation, so that a run can be repeated. Precondition: nothing is being initiated meanwhile.
    retry_scheduler& seed(std::uint64_t value) noexcept;

    /// How many waits, time limits and joins of scopes are pending.
    std::size_t pending() const noexcept;

    /// The steady clock, or the manual clock of a `virtual_time`.
    time_point now() const noexcept;

    /// @name For the operations of this library
    /// @{
    /// Returns false, and does nothing, when the context is being destroyed. Precondition: the node is not
    /// scheduled.
    bool schedule(detail::wait_node& node, time_point expiry);

    /// Returns true if the wait was taken back, false if its expiry is being or has been reported.
    bool cancel(detail::wait_node& node) noexcept;

    /// Makes the wait end in the next turn on `here`, which is the scheduler's context. Waits that are ended
    /// early together share the turn. Returns false if the expiry is being or has been reported.
    bool end_early(detail::wait_node& node, boost::asio::io_context& here) noexcept;

    /// The same of a wait that is over when it begins. Returns false, and does nothing, when the context is
    /// being destroyed. Precondition: the node is not scheduled.
    bool schedule_early(detail::wait_node& node);

    /// Makes a pending wait end no later than `latest`. Returns false if the expiry is being or has been
    /// reported.
    bool end_by(detail::wait_node& node, time_point latest) noexcept;

    /// Says that this is the scheduler's context, which an execution_context does not tell: turns that follow
    /// one another are posted then, and need no timer.
    void go_on_in(boost::asio::io_context& own) noexcept;

    /// Whether the context is run by one thread: it was made with a concurrency hint of 1 (which cannot be told
    /// with Boost 1.87 to 1.89), or one that lets it do without locks, or has a virtual_time.
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

/// The scheduler of `context`, created if need be.
ASIO_RETRY_DECL retry_scheduler& scheduler(boost::asio::execution_context& context);

} // namespace asio_retry
