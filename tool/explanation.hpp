#pragma once

#include "played_runs.hpp"

#include <asio_retry/duration.hpp>
#include <asio_retry/retry_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace asio_retry::tool {

constexpr std::uint64_t most_failures_unasked = 20;

/// The policy's reaction to one more failure.
struct explained_failure {
    std::uint64_t failure = 1;
    duration ceiling{};
    duration least{};
    duration mean{};
    duration greatest{};
    duration usual{}; ///< the greatest delay; without a bound, the delay that one in a hundred exceeds
    duration cumulative_least{}; ///< cut off by the time limits, unless a number of failures was asked for
    duration cumulative_mean{};
    duration cumulative_greatest{};
    duration cumulative_usual{};
    std::vector<duration> draws; ///< sorted; empty unless asked for
};

/// The total wait of an operation.
struct range_of_waits {
    duration least, greatest;
    std::size_t runs = 0; ///< from this many runs, and others may exceed it; 0: no run can
};

struct explanation {
    retry_policy policy;
    std::vector<explained_failure> failures; ///< failures followed by a wait, if all delays are average
    bool is_whole = true;                    ///< no run has more failures than these
    bool means_are_sampled = false;

    /// Sorted numbers of attempts, from runs in which all fail at once; empty: no limit. The number after the
    /// greatest possible one means that a run had more.
    std::vector<std::uint64_t> attempts;
    std::optional<duration> time_limit;  ///< no wait ends after this; runs are played if there is one
    std::optional<range_of_waits> waits; ///< none: unknown
    std::optional<duration> longest;     ///< longest time from start to end; none: no known limit
};

struct explain_request {
    std::optional<std::uint64_t> failures; ///< this many rows, regardless of the policy's limits
    std::uint64_t seed = 1;
    std::size_t draws = 0;
};

explanation explain(retry_policy const& policy, explain_request const& request);

/// False if it only says that a run had more than the greatest number.
inline bool is_known(explanation const& what, std::uint64_t attempts) {
    return !what.time_limit || attempts <= most_attempts_in_a_run;
}

/// Load and success of a policy, if each attempt fails with the same probability.
struct expected_load {
    double attempts;  ///< attempts for each operation, on average
    double successes; ///< probability that the operation succeeds
    bool is_least;    ///< both are lower bounds: runs were cut off
};
expected_load load_at(explanation const& what, double failure_probability);

} // namespace asio_retry::tool
