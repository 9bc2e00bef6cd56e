#pragma once

#include <asio_retry/retry_policy.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace asio_retry::bench {

/// What a workload asks of an operation, for those who retry by hand and for the library.
struct plan {
    unsigned failures = 0;
    duration base{};
    duration cap{};
    bool full_jitter = false; ///< uniform below the ceiling, which is the delay otherwise

    template <typename Generator>
    duration delay(unsigned failure, Generator& generator) const {
        duration const ceiling = std::min(cap, base * (std::int64_t(1) << std::min(failure - 1, 20u)));
        if (!full_jitter)
            return ceiling;
        return duration(std::uniform_int_distribution<std::int64_t>(0, ceiling.count())(generator));
    }

    retry_policy policy() const {
        return retry_policy()
            .backoff(base == cap ? constant(base) : exponential(base).cap(cap))
            .jitter(full_jitter ? asio_retry::full_jitter() : no_jitter())
            .max_attempts(failures + 1);
    }
};

/// What those who retry by hand draw from.
inline std::mt19937_64& generator() {
    static thread_local std::mt19937_64 numbers(7);
    return numbers;
}

} // namespace asio_retry::bench
