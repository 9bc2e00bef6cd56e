#pragma once

#include "slot_counts.hpp"
#include "studies.hpp"

#include <asio_retry/retry_policy.hpp>

#include <chrono>
#include <cstdint>

namespace asio_retry::lab {

/// Ten thousand clients are told at one moment to come back in five seconds. The server serves 1000 requests in
/// a second, keeps a hundred, and tells all others the same again.
struct pushback_result {
    double attempts_per_client = 0; ///< attempts from then on
    double peak_share = 0;          ///< greatest share of the clients in the same 10 ms
    double served_after = 0;        ///< seconds until all are served
    slot_counts attempts{std::chrono::milliseconds(10)}, served{std::chrono::milliseconds(10)};
};

pushback_result study_pushback(retry_policy const& policy, std::uint64_t seed);

/// Comes back exactly when it is told to.
retry_policy pushback_to_the_letter();

/// The library's default, with unlimited attempts.
retry_policy default_pushback();

study_report report_pushback(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::lab
