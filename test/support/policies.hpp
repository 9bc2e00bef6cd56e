#pragma once

#include <asio_retry/retry_policy.hpp>

#include <cstdint>

namespace asio_retry::test {

inline retry_policy every_100ms(std::int64_t attempts = 3) {
    return retry_policy()
        .backoff(constant(std::chrono::milliseconds(100)))
        .jitter(no_jitter())
        .max_attempts(attempts);
}

inline retry_policy hourly() {
    return retry_policy().backoff(constant(std::chrono::hours(1))).jitter(no_jitter()).unlimited_attempts();
}

} // namespace asio_retry::test
