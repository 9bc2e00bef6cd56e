#pragma once

#include <asio_retry/detail/traffic/failure_window.hpp>
#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <mutex>
#include <string_view>
#include <vector>

namespace asio_retry {

/// The options of a `circuit_breaker`.
struct circuit_breaker_options {
    double failure_rate = 0.5;       ///< failures per attempt that open it, in (0, 1]
    std::uint32_t min_attempts = 20; ///< fewer say nothing; `last` if that is set and less
    saturating_duration window = std::chrono::seconds(10); ///< the attempts that count: those that ended within
                                                           ///< it, in ten slots
    std::uint32_t last = 0;        ///< or, if not 0, this many that ended last; at most a million
    std::uint32_t consecutive = 0; ///< so many failures in a row open it too; 0: off
    double slow_rate = 0;          ///< slow attempts per attempt that open it too, in [0, 1]; 0: off
    saturating_duration slow{};    ///< slow is what took longer
    saturating_duration open_for = std::chrono::seconds(5); ///< how long it stays open at first
    double growth = 2; ///< and how many times as long after each failed probe, at least 1
    saturating_duration open_cap = std::chrono::seconds(60); ///< up to this
    std::uint32_t probes = 3; ///< attempts that have to succeed before it closes, 1 to 1000
};

/// What a `circuit_breaker` lets through.
enum class breaker_state : unsigned char {
    closed,    ///< lets every attempt begin
    open,      ///< refuses every attempt
    half_open, ///< lets some begin, to see how they end
    isolated,  ///< refuses every attempt until it is reset
};

/// The enumerator's name, for logs.
ASIO_RETRY_DECL std::string_view to_string(breaker_state state) noexcept;
/// Writes it.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, breaker_state state);

/// Refuses all attempts for a while when too many have failed, with error::circuit_open: they fail at once
/// instead of after a timeout, and the peer has a pause.
///
/// Failures are transient ones, timeouts and those of an overloaded peer, whether they are retried or not;
/// permanent and throttled ones are answers, and abandoned attempts are nothing. When an attempt ends, it opens
/// if the rules of the options say so. While it is open it says until when. Then it is half-open: at most
/// `probes` attempts run or have succeeded; when so many have succeeded it closes and forgets what was, and one
/// failure opens it again, for longer, also one that is not retried. A probe that is abandoned frees its place,
/// and one that has not ended after `open_cap` does too. An attempt that began before the breaker was half-open
/// does not count any more, however it ends.
///
/// One breaker per peer, in `keyed_gates` if there are many: one for all would keep everybody from all of them
/// because of one. It is not a budget: put one before it, with `all_gates`.
/// Thread safety: any function may be called from any thread.
class ASIO_RETRY_DECL circuit_breaker final : public retry_gate {
public:
    /// Throws std::invalid_argument for what is no number, is negative, or lies outside what the options say;
    /// for an open_cap below open_for; and for a min_attempts, a window or an open_for of 0.
    explicit circuit_breaker(circuit_breaker_options const& options = {});

    /// Its state at `now`.
    breaker_state state(time_point now) const noexcept;

    /// Refuses everything until `reset`.
    void isolate() noexcept;

    /// Closes it and forgets what was. Attempts that run count when they end.
    void reset() noexcept;

    admission admit(std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;
    bool measures_time() const noexcept override { return true; }

private:
    void open(time_point now) noexcept;
    void half_open() noexcept;
    void close() noexcept;
    bool take_place(time_point now) noexcept;
    void free_place(time_point taken) noexcept;
    void on_probe_end(bool failed, time_point now) noexcept;
    bool has_to_open() const noexcept;

    circuit_breaker_options const options_;
    std::mutex mutable mutex_;
    std::atomic<breaker_state> state_ = breaker_state::closed; // changed under the mutex
    detail::failure_window window_;
    std::uint32_t failures_in_row_ = 0;
    duration open_length_;
    time_point open_until_{};
    time_point heard_from_ = (time_point::min)(); // what began before this says nothing
    std::vector<time_point> places_;              // when the running probes began, in this order
    std::size_t succeeded_ = 0;
};

} // namespace asio_retry
