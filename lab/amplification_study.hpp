#pragma once

#include "studies.hpp"
#include "study_gates.hpp"

#include <cstdint>
#include <vector>

namespace asio_retry::lab {

/// Services in layers: each calls the next and retries its failures. The calls of the last layer always fail.
struct amplification_setting {
    unsigned layers;
    unsigned attempts; ///< of each layer
    gate_kind gate;    ///< one for each layer
};

/// Returns how many attempts each layer makes for one request, the first layer first. Plays a thousand
/// requests, a hundred in a second.
std::vector<double> study_amplification(amplification_setting const& setting, std::uint64_t seed);

study_report report_amplification(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::lab
