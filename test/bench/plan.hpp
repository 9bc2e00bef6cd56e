#pragma once

#include <asio_retry/retry_policy.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace asio_retry::bench {

enum class spread {
    none, ///< the ceiling itself
    full, ///< uniform below the ceiling
    half, ///< uniform in the upper half below the ceiling
};

/// What a workload asks of an operation, for those who retry by hand and for the library.
struct plan {
    unsigned failures = 0;
    duration base{};
    duration cap{};
    spread jitter = spread::none;

    template <typename Generator>
    duration delay(unsigned failure, Generator& generator) const {
        duration const ceiling = std::min(cap, base * (std::int64_t(1) << std::min(failure - 1, 20u)));
        if (jitter == spread::none)
            return ceiling;
        duration const least = jitter == spread::half ? ceiling / 2 : duration::zero();
        return duration(std::uniform_int_distribution<std::int64_t>(least.count(), ceiling.count())(generator));
    }

    retry_policy policy() const {
        return retry_policy()
            .backoff(base == cap ? constant(base) : exponential(base).cap(cap))
            .jitter(jitter == spread::none   ? no_jitter()
                    : jitter == spread::full ? full_jitter()
                                             : equal_jitter())
            .max_attempts(failures + 1);
    }
};

/// What those who retry by hand draw from.
inline std::mt19937_64& generator() {
    static thread_local std::mt19937_64 numbers(7);
    return numbers;
}

} // namespace asio_retry::bench
