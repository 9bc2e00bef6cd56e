#pragma once

#include "studies.hpp"
#include "study_gates.hpp"

#include <cstdint>
#include <vector>

namespace asio_retry::tool {

/// Services that call one another, each of which retries what the next one could not do. What the last of them
/// calls fails always.
struct amplification_setting {
    unsigned layers;
    unsigned attempts; ///< of each
    gate_kind gate;    ///< one for each layer
};

/// How many attempts each layer makes for one request, the first layer first, of a thousand that come a
/// hundred in a second.
std::vector<double> study_amplification(amplification_setting const& setting, std::uint64_t seed);

study_report report_amplification(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::tool
