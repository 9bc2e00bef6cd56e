#pragma once

#include <asio_retry/retry_policy.hpp>

#include <cstdint>
#include <map>

namespace asio_retry::lab {

struct round_result {
    unsigned attempts = 0;
    unsigned served = 0;
};

struct rounds_result {
    std::map<std::uint64_t, round_result> rounds; ///< from 0; only rounds in which a client came
    std::uint64_t attempts = 0;
    unsigned gave_up = 0; ///< number of clients
};

/// Clients begin together. The server serves the first few clients of each round, which is a second, and turns
/// the others away. These come back as the policy says, but not in the same round.
rounds_result study_rounds(retry_policy const& policy, unsigned clients, unsigned capacity, std::uint64_t seed);

} // namespace asio_retry::lab
