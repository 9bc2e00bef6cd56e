#pragma once

#include "studies.hpp"

#include <cstdint>
#include <vector>

namespace asio_retry::tool {

/// Many processes of few requests each, of three attempts, of which one in a hundred fails; and all of them for
/// a minute. What budgets of their own let through, and what one for all of them does.
struct fleet_setting {
    enum class kind {
        shared,        ///< a fleet_budget in a store that gets 5 % of the requests' rate besides
        shared_killed, ///< the same, and the store is down from the outage's beginning on
        own_budget,    ///< a retry_budget each
        own_tokens,    ///< ten tokens each
    };

    unsigned processes;
    double rate; ///< requests per second of each
    kind gate;
    std::uint32_t batch = 5; ///< of a shared one
};

struct fleet_second {
    double requests = 0; ///< that began
    double attempts = 0;
    double failures = 0; ///< of attempts
    double questions = 0;
};

struct fleet_result {
    static constexpr unsigned measured_from = 30, outage_begins = 150, outage_ends = 210, all_seconds = 220;

    std::vector<fleet_second> seconds;

    /// Attempts for each request in the first 10 s of the outage, and in its last 30 s.
    double first_load() const;
    double last_load() const;

    /// Before it: retries that began for each one that was wanted, and questions for each request.
    double granted_in_health() const;
    double questions_in_health() const;

    /// During the outage, for each request.
    double questions_in_outage() const;
};

fleet_result study_fleet(fleet_setting const& setting, std::uint64_t seed);

study_report report_fleet(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::tool
