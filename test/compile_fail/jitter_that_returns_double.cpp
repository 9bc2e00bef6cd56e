// expected: jitter: it must be called, as an lvalue, with a backoff_step and a random& and return a duration
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    auto half = [](asio_retry::backoff_step step, asio_retry::random&) { return step.ceiling / 2; };
#else
    auto half = [](asio_retry::backoff_step step, asio_retry::random&) {
        return 0.5 * static_cast<double>(step.ceiling.count());
    };
#endif
    return asio_retry::retry_policy().jitter(half);
}
