#pragma once

#include <asio_retry/detail/inject/injected_fault.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/fault_options.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace asio_retry {

/// What a `fault_plan` has done since it was made.
struct fault_counts {
    std::uint64_t attempts = 0;     ///< attempts that began while the plan was enabled
    std::uint64_t errors = 0;       ///< attempts that were not made, and failed
    std::uint64_t lost_answers = 0; ///< attempts whose success became an error
    std::uint64_t delays = 0;       ///< attempts that were delayed
    std::uint64_t hangs = 0;        ///< attempts that hung

    /// Whether all fields are equal.
    bool operator==(fault_counts const&) const = default;
};

/// Says which attempts of the operations in `inject` fail, are delayed or hang. A new plan is disabled.
///
/// Each attempt draws its fault from the stream of its running number under the seed. So attempts that begin in
/// the same order have the same faults. Without a seed the faults differ from run to run.
///
/// Errors: constructor and `update` throw std::invalid_argument for a share outside [0, 1], shares whose sum
/// exceeds 1, a code that is no error, and delays that are negative or whose `least` exceeds `greatest`.
///
/// Thread safety: call any function from any thread. While the plan is disabled, an attempt reads one atomic
/// variable. While it is enabled, an attempt takes a lock for a moment. No function may be called in a signal
/// handler of the system; in the handler of an `asio::signal_set` each may.
class ASIO_RETRY_DECL fault_plan {
public:
    /// Makes a plan without faults.
    fault_plan();
    /// Makes a plan that has the faults of `options`, once it is enabled.
    explicit fault_plan(fault_options const& options);
    ~fault_plan();
    fault_plan(fault_plan const&) = delete;
    fault_plan& operator=(fault_plan const&) = delete;

    /// Gives faults to attempts that begin from here on.
    void enable() noexcept;

    /// The abort switch: attempts that begin from here on have no faults, and all delays and hangs end.
    ///
    /// An attempt that was delayed or hung is then made, unless its operation has ended. An attempt of the
    /// blocking `retry` is made within 100 ms.
    void disable() noexcept;

    /// Whether attempts have faults.
    bool is_enabled() const noexcept { return enabled_.load(std::memory_order_relaxed); }

    /// Gives these faults, in place of the earlier ones, to attempts that begin from here on.
    ///
    /// A seed in `options` begins its streams anew. Without it the seed and the running number stay.
    void update(fault_options const& options);

    /// What happened until now.
    fault_counts counts() const noexcept;

private:
    friend detail::fault_access;

    detail::injected_fault draw() noexcept;

    std::atomic<bool> enabled_ = false;
    std::atomic<std::uint64_t> era_ = 0; // changes when delays and hangs end; written under the mutex

    std::mutex mutable mutex_;
    fault_options options_;
    std::uint64_t seed_;
    std::uint64_t next_ = 0; // the stream of the next attempt
    fault_counts counts_;
    detail::linked_list<detail::held_attempt> held_;
};

} // namespace asio_retry
