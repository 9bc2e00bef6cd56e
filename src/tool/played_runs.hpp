#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/retry_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asio_retry::tool {

constexpr std::size_t most_runs = 1'000;
constexpr std::uint64_t most_attempts_in_a_run = 10'000;

/// Operations whose attempts all fail at once. The longer they are, the fewer.
struct played_runs {
    std::vector<std::uint64_t>
        attempts;                ///< sorted; one more than the most where a run was not played to its end
    std::vector<duration> waits; ///< in all, sorted
};

played_runs play(retry_policy const& policy, std::uint64_t seed);

} // namespace asio_retry::tool
