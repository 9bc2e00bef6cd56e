// expected: keep the policy that this returns: no policy is changed in place
#pragma GCC diagnostic error "-Wunused-result"
#include <asio_retry/hedge_policy.hpp>

asio_retry::hedge_policy changed(asio_retry::hedge_policy policy) {
#ifdef FAULT_REMOVED
    return policy.deliver_at_once();
#else
    policy.deliver_at_once();
    return policy;
#endif
}
