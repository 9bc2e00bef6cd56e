#pragma once

#include "studies.hpp"

#include <asio_retry/duration.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace asio_retry::lab {

/// When an operation is hedged.
enum class hedging {
    none,
    fixed,      ///< after 10 ms
    observed,   ///< after the quantile 0.95 of all attempts
    of_winners, ///< the same, but losing attempts are not recorded
};

/// A thousand operations begin in a second. Most attempts take 1 to 8 ms, some take longer.
struct hedging_setting {
    hedging when = hedging::none;
    bool with_budget = false;
    double slow_share = 0.005; ///< share of the attempts that are slow
    std::chrono::milliseconds slow_least{200}, slow_greatest{1900};
    std::chrono::seconds ends{100};
    std::chrono::seconds slow_begins{0}, slow_ends{100}; ///< outside this time no attempt is slow
};

struct hedging_result {
    std::vector<double> ms;     ///< the operations' times, in order
    double load;                ///< attempts per operation
    double hedged;              ///< share of the operations that had more than one attempt
    std::vector<double> course; ///< the load in each second
};

hedging_result study_hedging(hedging_setting const& setting, std::uint64_t seed);

study_report report_hedging(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::lab
