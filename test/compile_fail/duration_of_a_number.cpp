// expected alone: a number alone is no duration, and needs a unit: 5s or 500ms, and not 5
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().attempt_timeout(std::chrono::seconds(5));
#else
    return asio_retry::retry_policy().attempt_timeout(5);
#endif
}
