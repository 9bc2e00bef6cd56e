// expected: jitter: it must be called, as an lvalue, with a backoff_step and a random& and return a duration
#include <asio_retry/retry_policy.hpp>

struct half {
#ifdef FAULT_REMOVED
    asio_retry::duration operator()(asio_retry::backoff_step step, asio_retry::random&) {
        return step.ceiling / 2;
    }
#else
    asio_retry::duration operator()(asio_retry::duration ceiling) { return ceiling / 2; }
#endif
};

asio_retry::retry_policy make() {
    return asio_retry::retry_policy().jitter(half());
}
