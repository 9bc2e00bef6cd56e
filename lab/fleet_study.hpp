#pragma once

#include "studies.hpp"

#include <cstdint>
#include <vector>

namespace asio_retry::lab {

/// Many processes of few requests each. An operation makes at most three attempts. One attempt in a hundred
/// fails; in an outage of a minute all fail. Compares budgets in each process with one budget for all.
struct fleet_setting {
    enum class kind {
        shared,        ///< a fleet_budget in a store that also gains 5 % of the request rate
        shared_killed, ///< the same, but the store is down from the outage on
        own_budget,    ///< a retry_budget in each process
        own_tokens,    ///< ten tokens in each process
    };

    unsigned processes;
    double rate; ///< requests per second of each process
    kind gate;
    std::uint32_t batch = 5; ///< of a shared budget
};

struct fleet_second {
    double requests = 0; ///< requests that began
    double attempts = 0;
    double failures = 0; ///< failed attempts
    double questions = 0;
};

struct fleet_result {
    static constexpr unsigned measured_from = 30, outage_begins = 150, outage_ends = 210, all_seconds = 220;

    std::vector<fleet_second> seconds;

    /// Attempts per request in the first 10 s of the outage, and in its last 30 s.
    double first_load() const;
    double last_load() const;

    /// Before the outage: retries that began per wanted retry, and questions per request.
    double granted_in_health() const;
    double questions_in_health() const;

    /// Questions per request during the outage.
    double questions_in_outage() const;
};

fleet_result study_fleet(fleet_setting const& setting, std::uint64_t seed);

study_report report_fleet(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::lab
