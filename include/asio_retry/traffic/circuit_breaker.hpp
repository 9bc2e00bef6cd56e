#pragma once

#include <asio_retry/detail/traffic/failure_window.hpp>
#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace asio_retry {

namespace detail {
class endpoint_table;
} // namespace detail

/// The state of a `circuit_breaker`.
enum class breaker_state : unsigned char {
    closed,    ///< lets every attempt begin
    open,      ///< refuses every attempt
    half_open, ///< lets some attempts begin as probes, to see how they end
    isolated,  ///< refuses every attempt until it is reset
};

/// The options of a `circuit_breaker`.
struct circuit_breaker_options {
    double failure_rate = 0.5;       ///< opens at this share of failures, in (0, 1]
    std::uint32_t min_attempts = 20; ///< least number of attempts for a rate; at most `last`, if that is set
    saturating_duration window =
        std::chrono::seconds(10);  ///< the time whose ended attempts make a rate, in ten slots
    std::uint32_t last = 0;        ///< if not 0, a rate is of the `last` attempts instead; at most a million
    std::uint32_t consecutive = 0; ///< opens after this many failures in a row too; 0: off
    double slow_rate = 0;          ///< opens at this share of slow attempts too, in [0, 1]; 0: off
    saturating_duration slow{};    ///< an attempt that takes longer is slow
    saturating_duration open_for = std::chrono::seconds(5); ///< how long it stays open at first
    double growth = 2; ///< factor on that time after each failed probe, at least 1
    saturating_duration open_cap = std::chrono::seconds(60); ///< the greatest time that it stays open
    double open_spread = 0.1; ///< up to this share of the open time is taken off at random, in [0, 1)
    std::uint32_t probes = 3; ///< attempts that must succeed before it closes, 1 to 1000
    std::function<void(breaker_state from, breaker_state to, time_point now)>
        on_change{}; ///< called after each change of state, without a lock; must not throw
};

/// The enumerator's name, for logs.
ASIO_RETRY_DECL std::string_view to_string(breaker_state state) noexcept;
/// Writes the enumerator's name.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, breaker_state state);

/// Refuses all attempts for a while when too many have failed.
///
/// Operations then fail at once instead of after a timeout, and the server gets time to recover.
///
/// - Failures: transient failures, timeouts and overload, whether they are retried or not. Permanent failures
///   and throttling are answers. Abandoned attempts do not count.
/// - Closed: it lets every attempt begin. When an attempt ends, it opens if a rule of the options says so.
/// - Open: it refuses every attempt, and says until when. A random share of the time, `open_spread` at most, is
///   taken off. So breakers that opened together do not probe together. `duration::max()` stays whole.
/// - Half-open, after that time: at most `probes` attempts run or have succeeded. When that many have
///   succeeded, it closes and forgets all earlier attempts. One failure opens it again, for longer, also if
///   that is not retried.
/// - A probe frees its place when it is abandoned, or has not ended after `open_cap`.
/// - An attempt that began before it was half-open does not count any more.
/// - An attempt that waits at another gate is asked for again before it begins, because a closed breaker may
///   have opened meanwhile. A probe that has waited stays the same probe.
///
/// Changes: the thread that changes the state calls `on_change`, with the time that it has given the breaker.
///
/// - The first probe changes the state to half-open. `state` says so earlier.
/// - `on_change` is called without a lock and may call the breaker. It must not throw; exceptions are lost.
/// - One thread makes its calls in the order of its changes. The calls of several threads may overlap, and the
///   later of two changes may be told first.
///
/// Use one breaker for each server, in `keyed_gates` if there are many: with one breaker for all, one dead
/// server keeps clients from all others. A breaker is no retry budget: put one before it, with `all_gates`.
///
/// Errors: an operation whose first attempt is refused ends with error::circuit_open.
/// Thread safety: call any function from any thread. Only the constructor and `update` allocate.
class ASIO_RETRY_DECL circuit_breaker final : public retry_gate {
public:
    /// Throws std::invalid_argument for an option outside its range, for a negative one and for NaN. Also for
    /// an open_cap below open_for, and for a min_attempts, a window or an open_for of 0.
    explicit circuit_breaker(circuit_breaker_options const& options = {});

    /// Changes the options, and keeps what the breaker knows. Attempts may run.
    ///
    /// - The state stays. An open breaker stays open until the time that it has named.
    /// - Running probes keep their places. At least one more probe must succeed before it closes.
    /// - Recent attempts stay as far as the new window holds them, in slots of a tenth of the earlier window.
    ///   Where a number of attempts (`last`) replaces a time, or the other way round, they are forgotten.
    /// - The new rules to open apply when the next attempt ends.
    /// - Other threads may still be in the earlier `on_change` when this returns.
    ///
    /// Throws as the constructor does, and then changes nothing.
    void update(circuit_breaker_options const& options);

    /// The state of the breaker at `now`.
    breaker_state state(time_point now) const noexcept;

    /// When it lets the next attempt begin: `now` if an attempt may begin now.
    ///
    /// - While it is open: the end of that time.
    /// - While probes have all places: when the oldest probe loses its place. An ended probe frees a place
    ///   earlier.
    /// - max() if it is isolated.
    time_point open_until(time_point now) const noexcept;

    /// The share of failures among the recent attempts, from 0 to 1; 0 if there are none.
    double failure_share(time_point now) const noexcept;

    /// Refuses every attempt until `reset`. The time is for `on_change` alone.
    void isolate(time_point now = {}) noexcept;

    /// Closes it and forgets all earlier attempts. Attempts that still run count when they end. The time is for
    /// `on_change` alone.
    void reset(time_point now = {}) noexcept;

    std::string_view name() const noexcept override { return "circuit_breaker"; }
    admission admit(std::uint64_t number, time_point now) noexcept override;
    admission admit_again(admission const& before, std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;
    bool measures_time() const noexcept override { return true; }

    /// Whether it is closed and remembers no attempt. The state does not change, and `on_change` is not called.
    bool is_idle(time_point now) const noexcept override;

private:
    friend detail::endpoint_table; // calls `admit_untold` under its own mutex, and `tell` after it

    using listener = std::function<void(breaker_state, breaker_state, time_point)>;

    struct probe {
        time_point began;
        std::uint64_t ticket;
    };

    struct change {
        breaker_state from = breaker_state::closed;
        breaker_state to = breaker_state::closed;
        explicit operator bool() const noexcept { return from != to; }
    };

    bool is_closed() const noexcept { return state_ == breaker_state::closed; }
    admission admit_untold(time_point now, change& made) noexcept;
    void tell(change made, time_point now) const noexcept;

    // The mutex is locked.
    time_point next_begin(time_point now) const noexcept;
    bool has_hung(time_point probe_began, time_point now) const noexcept;
    void open(time_point now) noexcept;
    void half_open() noexcept;
    void close() noexcept;
    void take_place(std::uint64_t ticket, time_point now) noexcept;
    bool free_place(std::uint64_t ticket) noexcept;
    void free_place_of(time_point began) noexcept;
    void on_probe_end(bool failed, time_point now) noexcept;
    bool has_to_open() const noexcept;

    std::uint64_t const number_; // among the breakers of the process
    std::mutex mutable mutex_;
    circuit_breaker_options options_; // without on_change
    std::shared_ptr<listener const> on_change_;
    std::atomic<breaker_state> state_ = breaker_state::closed; // changed under the mutex
    detail::failure_window window_;
    std::uint32_t failures_in_row_ = 0;
    duration open_length_;
    time_point open_until_{};
    // An attempt that began before this time does not count. Set when the breaker becomes half-open.
    time_point counts_from_ = (time_point::min)();
    std::vector<probe> places_; // the running probes, in the order in which they began
    std::size_t succeeded_ = 0;
};

} // namespace asio_retry
