#pragma once

#include <asio_retry/duration.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace asio_retry::test {

/// The greatest distance between the distribution of the sample and the uniform one on [0, 1].
inline double distance_from_uniform(std::vector<double> sample) {
    std::sort(sample.begin(), sample.end());
    auto const size = static_cast<double>(sample.size());
    double greatest = 0;
    for (std::size_t i = 0; i != sample.size(); ++i) {
        double const below = static_cast<double>(i) / size, up_to = static_cast<double>(i + 1) / size;
        greatest = std::max({greatest, sample[i] - below, up_to - sample[i]});
    }
    return greatest;
}

/// Where a delay lies in [least, greatest]: uniform on [0, 1] where the delay is uniform in the range. A
/// nanosecond is so small a part of the ranges that are tested that the law counts as continuous.
inline double place(duration delay, duration least, duration greatest) {
    return static_cast<double>((delay - least).count()) / static_cast<double>((greatest - least).count());
}

inline std::vector<double> places(std::vector<duration> const& delays, duration least, duration greatest) {
    std::vector<double> result;
    result.reserve(delays.size());
    for (duration delay : delays)
        result.push_back(place(delay, least, greatest));
    return result;
}

/// A sample of 10^5 from the right law is further away once in a million times.
constexpr std::size_t sample_size = 100'000;
constexpr double greatest_distance = 0.0085;

} // namespace asio_retry::test
