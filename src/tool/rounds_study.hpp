#pragma once

#include <asio_retry/retry_policy.hpp>

#include <cstdint>
#include <map>

namespace asio_retry::tool {

struct round_result {
    unsigned attempts = 0;
    unsigned served = 0;
};

struct rounds_result {
    std::map<std::uint64_t, round_result> rounds; ///< from 0, and only those in which somebody came
    std::uint64_t attempts = 0;
    unsigned gave_up = 0; ///< clients
};

/// Clients that begin together at a server that serves the first few of each round, a second, and turns the
/// others away; these come back as the policy says, but not in the same round.
rounds_result study_rounds(retry_policy const& policy, unsigned clients, unsigned capacity, std::uint64_t seed);

} // namespace asio_retry::tool
