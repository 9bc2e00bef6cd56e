// expected: jitter: this function makes a jitter: call it, as in equal_jitter()
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().jitter(asio_retry::equal_jitter());
#else
    return asio_retry::retry_policy().jitter(asio_retry::equal_jitter);
#endif
}
