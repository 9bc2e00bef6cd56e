#pragma once

#include "studies.hpp"
#include "study_gates.hpp"

#include <cstdint>
#include <vector>

namespace asio_retry::lab {

/// A server serves 1000 requests in a second, also those that their clients have given up. Its clients make 700
/// requests in a second, each of at most five attempts of at most a second. After 30 s the server works at a
/// fifth of its speed for 10 s: the trigger. The study asks whether the trouble ends with the trigger.
struct metastable_setting {
    unsigned clients;
    gate_kind gate; ///< one gate for each client
    bool jitter = true;
    unsigned attempts = 5;
};

struct metastable_second {
    double offered = 0; ///< requests that began
    double attempts = 0;
    double succeeded = 0; ///< requests that succeeded

    double goodput() const { return offered == 0 ? 1 : succeeded / offered; }
};

struct metastable_result {
    std::vector<metastable_second> seconds;

    /// Seconds after the trigger's end until the goodput stays at 95 %; `never` if it does not.
    double back_after() const;

    /// Attempts per request in the 40 s from the trigger's beginning on.
    double load() const;

    /// The goodput of all time after the trigger.
    double goodput_afterwards() const;
};

inline constexpr unsigned trigger_begins = 30, trigger_ends = 40, metastable_seconds = 130;

metastable_result study_metastable(metastable_setting const& setting, std::uint64_t seed);

study_report report_metastable(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::lab
