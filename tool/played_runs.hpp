#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/retry_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asio_retry::tool {

constexpr std::size_t most_runs = 1'000;
constexpr std::uint64_t most_attempts_in_a_run = 10'000;

/// Plays operations whose attempts all fail at once; the longer they are, the fewer.
struct played_runs {
    std::vector<std::uint64_t>
        attempts;                ///< sorted; a run that was cut off counts as one more than the greatest number
    std::vector<duration> waits; ///< the total wait of each run, sorted
};

played_runs play(retry_policy const& policy, std::uint64_t seed);

} // namespace asio_retry::tool
