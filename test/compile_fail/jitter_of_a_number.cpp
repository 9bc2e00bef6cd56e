// expected alone: jitter: a number alone says no jitter: proportional_jitter(0.1)
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().jitter(asio_retry::proportional_jitter(0.1));
#else
    return asio_retry::retry_policy().jitter(0.1);
#endif
}
