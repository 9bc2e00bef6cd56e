#pragma once

#include "tool/sample.hpp"

#include <asio_retry/retry_policy.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace asio_retry::lab {

using tool::sample;

/// Clients that contend for one row: each reads the row and writes it back. The write succeeds if no other
/// client has written meanwhile; otherwise the client waits and begins again. A message travels for |normal(10
/// ms, 2 ms)|.
///
/// Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
struct occ_algorithm {
    std::string name;
    retry_policy policy;
};

/// The study's algorithms: base 5 ms, cap 2 s, and a first wait of already twice the base.
std::vector<occ_algorithm> occ_algorithms();

struct occ_result {
    unsigned clients;
    std::string algorithm;
    sample time_ms; ///< until the last client has succeeded or given up
    sample calls;   ///< number of writes
    sample gave_up; ///< number of clients
};

/// `progress` gets the share that is done. A client gives up when its policy does, or when it would wait longer
/// than there is time.
std::vector<occ_result> study_occ(std::vector<occ_algorithm> const& algorithms,
                                  std::vector<unsigned> const& clients, unsigned trials, std::uint64_t seed,
                                  std::function<void(double)> const& progress);

} // namespace asio_retry::lab
