#pragma once

#include "sample.hpp"

#include <asio_retry/retry_policy.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace asio_retry::tool {

/// Clients that contend for one row, as in the study of M. Brooker, "Exponential Backoff And Jitter", AWS
/// Architecture Blog, 2015: each reads the row and writes it back, which succeeds if nobody has written it
/// meanwhile; otherwise it waits and begins again. A message travels for |normal(10 ms, 2 ms)|.
struct occ_algorithm {
    std::string name;
    retry_policy policy;
};

/// Those of the study: base 5 ms, cap 2 s, and the first wait already twice the base.
std::vector<occ_algorithm> occ_algorithms();

struct occ_result {
    unsigned clients;
    std::string algorithm;
    sample time_ms; ///< until the last client has succeeded, or given up
    sample calls;   ///< writes
    sample gave_up; ///< clients
};

/// `progress` is told the share that is done. A client gives up when its policy does, and where it would wait
/// for longer than there is time.
std::vector<occ_result> study_occ(std::vector<occ_algorithm> const& algorithms,
                                  std::vector<unsigned> const& clients, unsigned trials, std::uint64_t seed,
                                  std::function<void(double)> const& progress);

} // namespace asio_retry::tool
