#pragma once

#include "slot_counts.hpp"
#include "studies.hpp"

#include <asio_retry/jitter.hpp>

#include <chrono>
#include <cstdint>

namespace asio_retry::lab {

/// Ten thousand clients whose first attempts fail at one moment, and all later attempts too. The study asks
/// whether they come back together.
struct stampede_result {
    slot_counts attempts{std::chrono::milliseconds(10)};

    /// The greatest share of the clients that comes in the same 10 ms, from 600 ms on.
    double peak_share() const;
};

stampede_result study_stampede(jitter const& kind, std::uint64_t seed);

study_report report_stampede(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::lab
