// expected: jitter: it must be called, as an lvalue, with a backoff_step and a random& and return a duration
#include <asio_retry/retry_policy.hpp>

struct half {
    asio_retry::duration operator()(asio_retry::backoff_step step, asio_retry::random&)
#ifndef FAULT_REMOVED
        &&
#endif
    {
        return step.ceiling / 2;
    }
};

asio_retry::retry_policy make() {
    return asio_retry::retry_policy().jitter(half());
}
