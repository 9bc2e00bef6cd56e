// expected: backoff: this is a jitter, which is set by jitter(...)
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().jitter(asio_retry::full_jitter());
#else
    return asio_retry::retry_policy().backoff(asio_retry::full_jitter());
#endif
}
