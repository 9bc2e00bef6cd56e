// expected: backoff: this function makes a backoff: call it, as in exponential(100ms)
#include <asio_retry/retry_policy.hpp>

#include <chrono>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().backoff(asio_retry::fibonacci(std::chrono::seconds(1)));
#else
    return asio_retry::retry_policy().backoff(asio_retry::fibonacci);
#endif
}
