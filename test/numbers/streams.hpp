#pragma once

#include "numbers/kolmogorov_smirnov.hpp"

#include <asio_retry/retry_scheduler.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace asio_retry::test {

constexpr std::size_t stream_count = 64;
constexpr std::size_t stream_length = 2048;

/// Delays with full jitter under the greatest ceiling, so that all of them differ unless streams overlap.
using stream = std::array<std::int64_t, stream_length>;

inline stream draw_stream(retry_scheduler& of) {
    random source = of.next_random();
    stream drawn{};
    for (std::int64_t& delay : drawn)
        delay = source.uniform(duration::zero(), duration::max()).count();
    return drawn;
}

/// Pearson's coefficient of two samples whose law is uniform.
inline double correlation(stream const& a, stream const& b) {
    auto const greatest = static_cast<double>(duration::max().count());
    double sum = 0;
    for (std::size_t i = 0; i != stream_length; ++i)
        sum += (static_cast<double>(a[i]) / greatest - 0.5) * (static_cast<double>(b[i]) / greatest - 0.5);
    return 12 * sum / stream_length;
}

/// Whether the streams could be one long sample: none has a number of another, the pool is uniform, no two go
/// together. Right streams fail once in 10^7 runs at most.
inline testing::AssertionResult are_independent(std::vector<stream> const& streams) {
    std::vector<std::int64_t> pool;
    std::vector<double> places;
    for (stream const& s : streams)
        pool.insert(pool.end(), s.begin(), s.end());
    for (std::int64_t delay : pool)
        places.push_back(place(duration(delay), duration::zero(), duration::max()));
    std::sort(pool.begin(), pool.end());
    if (std::adjacent_find(pool.begin(), pool.end()) != pool.end())
        return testing::AssertionFailure() << "two streams have a number in common";
    if (double const distance = distance_from_uniform(places); distance > greatest_distance)
        return testing::AssertionFailure() << "the pool is " << distance << " from uniform";
    double const greatest_correlation = 7 / std::sqrt(stream_length);
    for (std::size_t i = 0; i != streams.size(); ++i)
        for (std::size_t j = 0; j != i; ++j)
            if (double const c = correlation(streams[i], streams[j]); std::abs(c) > greatest_correlation)
                return testing::AssertionFailure()
                       << "streams " << j << " and " << i << " have a correlation of " << c;
    return testing::AssertionSuccess();
}

} // namespace asio_retry::test
