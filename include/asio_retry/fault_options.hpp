#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>

#include <cstdint>
#include <optional>

namespace asio_retry {

/// Which share of the attempts fails, and with which error.
struct fault_errors {
    double share = 0;  ///< of the attempts, in [0, 1]
    error_code code{}; ///< must be an error, unless the share is 0
};

/// Which share of the attempts is delayed, and for how long.
struct fault_delays {
    double share = 0;               ///< of the attempts, in [0, 1]
    saturating_duration least{};    ///< not negative
    saturating_duration greatest{}; ///< not below `least`; delays are drawn evenly between both
};

/// The options of a `fault_plan`. An attempt has at most one fault: the sum of the shares is at most 1.
struct fault_options {
    fault_errors errors{};               ///< attempts that fail, and are not made
    fault_errors lost_answers{};         ///< attempts that are made, and fail with this error when they succeed
    fault_delays delays{};               ///< attempts that are made later
    double hangs = 0;                    ///< share of attempts that never complete unless something ends them
    std::optional<std::uint64_t> seed{}; ///< makes the faults repeatable
};

} // namespace asio_retry
