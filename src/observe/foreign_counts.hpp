#pragma once

#include "observe/buckets.hpp"

#include <asio_retry/retry_observer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace asio_retry::detail {

/// gRFC A96: numbers of retries and of hedges.
inline constexpr bucket_bounds<5> grpc_number_bounds = {1, {1, 2, 3, 4, 5}};

/// gRFC A66: latencies, here in units of 10 us.
inline constexpr bucket_bounds<41> grpc_latency_bounds = [] {
    bucket_bounds<41> made{1e9, {0,       1,       5,         10,        30,        60,        80,
                                 100,     200,     300,       400,       500,       600,       800,
                                 1000,    1300,    1600,      2000,      2500,      3000,      4000,
                                 5000,    6500,    8000,      10'000,    13'000,    16'000,    20'000,
                                 25'000,  30'000,  40'000,    50'000,    65'000,    80'000,    100'000,
                                 200'000, 500'000, 1'000'000, 2'000'000, 5'000'000, 10'000'000}};
    for (std::int64_t& bound : made.bounds)
        bound *= 10'000;
    return made;
}();

/// OpenTelemetry's advice for http.client.request.duration, here in ms.
inline constexpr bucket_bounds<14> http_bounds = [] {
    bucket_bounds<14> made{1e9, {5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000}};
    for (std::int64_t& bound : made.bounds)
        bound *= 1'000'000;
    return made;
}();

/// The counts of gRFC A96, for each call at its end. Zeros are not recorded.
struct grpc_counts {
    bucket_counts<5> retries, hedges;
    bucket_counts<41> delays;

    void on_event(observation const& event) noexcept {
        if (event.what != observation::kind::ended)
            return;
        if (event.attempt <= 1)
            return;
        grpc_number_bounds.add(event.is_hedge ? hedges : retries, static_cast<std::int64_t>(event.attempt - 1));
        if (event.delay > duration::zero())
            grpc_latency_bounds.add(delays, event.delay.count());
    }
};

/// The durations of ended attempts by failure_kind; OpenTelemetry calls attempts requests. Abandoned attempts
/// count with the successes.
struct open_telemetry_counts {
    std::array<bucket_counts<14>, 6> requests;

    void on_event(observation const& event) noexcept {
        if (event.what == observation::kind::attempt_ended)
            http_bounds.add(requests[event.is_abandoned ? 0 : static_cast<std::size_t>(event.failure)],
                            event.took.count());
    }
};

} // namespace asio_retry::detail
