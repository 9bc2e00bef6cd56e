// expected: on_give_up: the hook must take a retry_event const& or a stop_reason
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    auto log = [](asio_retry::stop_reason) {};
#else
    auto log = [](int) {};
#endif
    return asio_retry::retry_policy().on_give_up(log);
}
