#pragma once

#include "studies.hpp"

#include <asio_retry/traffic/adaptive_throttle.hpp>

#include <cstdint>
#include <vector>

namespace asio_retry::tool {

/// A client of 1000 requests in a second with a throttle, at a server that accepts 300 in a second and refuses
/// the others. Attempts per accepted one, after a minute.
double study_throttle_overload(adaptive_throttle_options const& options, std::uint64_t seed);

/// The same client at one that accepts all of them, but for an outage.
struct throttle_outage {
    static constexpr unsigned begins = 60, ends = 360, seconds = 660;

    std::vector<double> accepted; ///< as a share of the requests of each second
    std::vector<double> sent;

    /// How many seconds after the outage 95 % are accepted again; `never`, if they are not.
    double back_after() const;

    /// The share that is sent to the dead server, after a minute of it.
    double sent_in_outage() const;
};

throttle_outage study_throttle_outage(adaptive_throttle_options const& options, std::uint64_t seed);

study_report report_throttle(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::tool
