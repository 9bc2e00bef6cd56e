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

/// What a policy does after one more failure.
struct explained_failure {
    std::uint64_t failure = 1;
    duration ceiling{};
    duration least{};
    duration mean{};
    duration greatest{};
    duration usual{};            ///< the greatest; if that is for ever, what one delay in a hundred exceeds
    duration cumulative_least{}; ///< within the limits of time, but where failures were asked for
    duration cumulative_mean{};
    duration cumulative_greatest{};
    duration cumulative_usual{};
    std::vector<duration> draws; ///< sorted; none unless asked for
};

/// All that an operation waits.
struct range_of_waits {
    duration least, greatest;
    std::size_t runs = 0; ///< which had these, others may not; 0: there are no others
};

struct explanation {
    retry_policy policy;
    std::vector<explained_failure> failures; ///< that a wait follows, if all delays are average
    bool is_whole = true;                    ///< nothing follows what is listed, in no run
    bool means_are_sampled = false;

    /// Sorted numbers of them, in runs in which all fail at once; none: no limit. One more than the most in a
    /// run says that there are more than those.
    std::vector<std::uint64_t> attempts;
    std::optional<duration> time_limit;  ///< after which no wait ends; runs are played if there is one
    std::optional<range_of_waits> waits; ///< none: not known
    std::optional<duration> longest;     ///< from the start to the end at most; none: no limit is known
};

struct explain_request {
    std::optional<std::uint64_t> failures; ///< so many rows, instead of what the policy's limits allow
    std::uint64_t seed = 1;
    std::size_t draws = 0;
};

explanation explain(retry_policy const& policy, explain_request const& request);

/// Unless it only says that there are more than the most in a run.
inline bool is_known(explanation const& what, std::uint64_t attempts) {
    return !what.time_limit || attempts <= most_attempts_in_a_run;
}

/// What a failure probability, the same for each attempt, makes of this.
struct expected_load {
    double attempts;  ///< for each operation, on average
    double successes; ///< probability that the operation succeeds
    bool is_least;    ///< what was not played adds to both
};
expected_load load_at(explanation const& what, double failure_probability);

} // namespace asio_retry::tool
