#pragma once

#include "studies.hpp"
#include "study_gates.hpp"

#include <cstdint>
#include <vector>

namespace asio_retry::tool {

/// Clients of a server that works off 1000 requests in a second, among them those for which nobody waits any
/// more. Together they make 700 requests in a second, each of at most five attempts of a second at most. After
/// 30 s the server works at a fifth of its speed, for 10 s: the trigger. Is the trouble over when that is?
struct metastable_setting {
    unsigned clients;
    gate_kind gate; ///< one for each client
    bool jitter = true;
    unsigned attempts = 5;
};

struct metastable_second {
    double offered = 0; ///< requests that began
    double attempts = 0;
    double succeeded = 0; ///< requests that ended well

    double goodput() const { return offered == 0 ? 1 : succeeded / offered; }
};

struct metastable_result {
    std::vector<metastable_second> seconds;

    /// How many seconds after the trigger's end there is a goodput of 95 % in each second; `never`, if not.
    double back_after() const;

    /// Attempts for each request from the trigger's beginning on, for 40 s.
    double load() const;

    /// The goodput of all the time after the trigger.
    double goodput_afterwards() const;
};

inline constexpr unsigned trigger_begins = 30, trigger_ends = 40, metastable_seconds = 130;

metastable_result study_metastable(metastable_setting const& setting, std::uint64_t seed);

study_report report_metastable(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::tool
