// expected alone: backoff: a number is no delay, and needs a unit and a shape: constant(100ms) or
// exponential(100ms)
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().backoff(asio_retry::constant(std::chrono::milliseconds(100)));
#else
    return asio_retry::retry_policy().backoff(100);
#endif
}
