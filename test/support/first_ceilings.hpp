#pragma once

#include <asio_retry/backoff.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace asio_retry::test {

inline constexpr std::uint64_t most_failures = std::numeric_limits<std::uint64_t>::max();

inline std::vector<duration> first_ceilings(backoff const& shape, std::uint64_t count) {
    std::vector<duration> result;
    for (std::uint64_t failures = 1; failures <= count; ++failures)
        result.push_back(shape.ceiling(failures));
    return result;
}

} // namespace asio_retry::test
