// expected: keep the policy that this returns: no policy is changed in place
#pragma GCC diagnostic error "-Wunused-result"
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy changed(asio_retry::retry_policy policy) {
#ifdef FAULT_REMOVED
    return policy.max_attempts(5);
#else
    policy.max_attempts(5);
    return policy;
#endif
}
