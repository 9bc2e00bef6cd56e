#pragma once

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
    duration usual{}; ///< the greatest; if that is for ever, what one delay in a hundred exceeds
    duration cumulative_least{};
    duration cumulative_mean{};
    duration cumulative_greatest{};
    duration cumulative_usual{};
    std::vector<duration> draws; ///< sorted; none unless asked for
};

struct explanation {
    retry_policy policy;
    std::vector<explained_failure> failures; ///< that a wait follows
    bool is_whole = true;                    ///< nothing follows what is listed
    bool means_are_sampled = false;

    std::vector<std::uint64_t>
        attempts; ///< sorted numbers of them, in runs in which all fail at once; none: no limit
    std::optional<duration> time_limit; ///< after which no wait ends
    std::optional<duration> longest;    ///< from the start to the end at most; none: no limit is known
};

struct explain_request {
    std::optional<std::uint64_t> failures; ///< so many rows, instead of what the policy's limits allow
    std::uint64_t seed = 1;
    std::size_t draws = 0;
};

explanation explain(retry_policy const& policy, explain_request const& request);

/// What a failure probability, the same for each attempt, makes of this.
struct expected_load {
    double attempts;  ///< for each operation, on average
    double successes; ///< probability that the operation succeeds
};
expected_load load_at(explanation const& what, double failure_probability);

} // namespace asio_retry::tool
