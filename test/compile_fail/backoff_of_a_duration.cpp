// expected: backoff: a duration alone has no shape: constant(100ms) or exponential(100ms)
#include <asio_retry/retry_policy.hpp>

#include <chrono>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().backoff(asio_retry::constant(std::chrono::seconds(1)));
#else
    return asio_retry::retry_policy().backoff(std::chrono::seconds(1));
#endif
}
