#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/retry_event.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace asio_retry::detail {

/// The state of a rule of `when` or `max_attempts_when`.
struct rule_state {
    std::uint64_t failures = 0; // since the last reset
    jitter_course course;
};

/// The state of a running attempt that must report to avoid its limit. Another thread may write it.
struct attempt_pulse {
    std::atomic<duration::rep> heard = 0; // when it last made progress
    std::atomic<bool> is_healthy = false;
};

/// The part of an operation's state that few policies need, allocated on demand.
struct rare_state {
    explicit rare_state(std::size_t count)
        : rules(count) {}

    /// Resets all counts. `started`: the start of the operation, or its last reset.
    void reset(time_point started) noexcept {
        std::fill(rules.begin(), rules.end(), rule_state());
        refusals = 0;
        waited = duration::zero();
        cut_to.reset();
        initiated = std::min(initiated, started);
    }

    std::vector<rule_state> rules;
    attempt_pulse pulse;
    bool has_pulse = false;                         // an attempt must report to avoid its limit
    time_point healthy_since = (time_point::max)(); // reported by the running attempt
    std::optional<time_point> cut_to;               // the end of the last wait, if it was cut to end at a limit
    std::uint64_t refusals = 0;                     // since the last reset of the failures
    duration waited{};                              // since the last reset; for max_waited
    time_point initiated = (time_point::max)();     // the start before the first reset
    time_limit reached = time_limit::none;          // the limit of its own that stopped the last failed attempt
};

} // namespace asio_retry::detail
