#pragma once

#include "studies.hpp"

#include <asio_retry/duration.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace asio_retry::lab {

/// What happens to servers for twenty seconds.
enum class trouble {
    one_hangs,
    one_is_slow, ///< ten times slower
    half_hang,
    all_are_slow,
    one_wants_rest, ///< it answers 503 and "Retry-After: 5"
    one_refuses,    ///< it answers 429 within 1 ms
    one_flaps,      ///< it hangs, and each second it leaves the list or comes back
};

/// Eight servers answer 1000 requests in a second, each after 1 to 8 ms. Clients make three attempts of 100 ms.
struct endpoints_result {
    static constexpr unsigned begins = 20, ends = 40, seconds = 60;

    std::vector<double> ms;     ///< how long the successful requests of the trouble took, in order
    double failed;              ///< of a thousand requests in the trouble
    double load;                ///< attempts per request in the trouble
    double in_trouble;          ///< share of these that servers in trouble got, in the last ten seconds of it
    std::vector<double> course; ///< the mean time of requests in each second, in ms
};

/// `chooses`: attempts choose a server of an `endpoint_set`. Otherwise they ask the servers in turn. For so
/// long the set knows a server that has left it.
endpoints_result study_endpoints(trouble what, bool chooses, std::uint64_t seed,
                                 duration remembered = std::chrono::minutes(1));

study_report report_endpoints(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::lab
