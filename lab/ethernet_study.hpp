#pragma once

#include "studies.hpp"
#include "tool/sample.hpp"

#include <cstdint>

namespace asio_retry::lab {

using tool::sample;

/// Stations that begin to send in the same slot. Stations that send in one slot collide, and draw another slot
/// with the library's truncated binary backoff. A station alone in its slot has sent.
struct ethernet_result {
    sample slots; ///< until the last station has sent
    sample attempts_per_station;
};

ethernet_result study_ethernet(unsigned stations, unsigned trials, std::uint64_t seed);

/// Enough trials for a mean that is good to a few per cent.
unsigned ethernet_trials(unsigned stations);

study_report report_ethernet(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::lab
