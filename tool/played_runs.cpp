#include "played_runs.hpp"

#include "played_operation.hpp"

#include <algorithm>

namespace asio_retry::tool {
namespace {

constexpr std::uint64_t most_attempts_in_all = 1'000'000;

} // namespace

played_runs play(retry_policy const& policy, std::uint64_t seed) {
    played_runs runs;
    std::uint64_t attempts_in_all = 0;
    for (std::size_t i = 0; i != most_runs && attempts_in_all < most_attempts_in_all; ++i) {
        played_operation operation(policy, seed, i);
        std::uint64_t attempts = operation.begins();
        while (attempts != 0 && attempts <= most_attempts_in_a_run && operation.next())
            ++attempts;
        attempts_in_all += attempts;
        runs.attempts.push_back(attempts);
        runs.waits.push_back(operation.waited());
    }
    std::sort(runs.attempts.begin(), runs.attempts.end());
    std::sort(runs.waits.begin(), runs.waits.end());
    return runs;
}

} // namespace asio_retry::tool
