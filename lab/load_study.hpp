#pragma once

#include "studies.hpp"
#include "study_gates.hpp"

#include <cstdint>

namespace asio_retry::lab {

struct load_result {
    double load;    ///< attempts per request
    double success; ///< share of the requests that succeed
};

/// A client whose attempts fail with this probability, independently: 20 000 requests, a hundred in a second,
/// of at most four attempts.
load_result study_load(double failure_rate, gate_kind const& gate, std::uint64_t seed);

study_report report_load(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::lab
