// expected alone: a number alone is not a duration: give it a unit, as in 5s or 500ms
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().attempt_timeout(std::chrono::seconds(5));
#else
    return asio_retry::retry_policy().attempt_timeout(5);
#endif
}
