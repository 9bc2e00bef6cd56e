#pragma once

#include "studies.hpp"

#include <asio_retry/traffic/adaptive_throttle.hpp>

#include <cstdint>
#include <vector>

namespace asio_retry::lab {

/// A client of 1000 requests in a second with a throttle. The server accepts 300 in a second and refuses the
/// others. Returns the attempts per accepted request, after a minute.
double study_throttle_overload(adaptive_throttle_options const& options, std::uint64_t seed);

/// The same client with a server that accepts all requests, except in an outage.
struct throttle_outage {
    static constexpr unsigned begins = 60, ends = 360, seconds = 660;

    std::vector<double> accepted; ///< as a share of the requests of each second
    std::vector<double> sent;

    /// Seconds after the outage until 95 % are accepted again; `never` if they are not.
    double back_after() const;

    /// The share that is sent to the dead server, after a minute of outage.
    double sent_in_outage() const;
};

throttle_outage study_throttle_outage(adaptive_throttle_options const& options, std::uint64_t seed);

study_report report_throttle(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::lab
