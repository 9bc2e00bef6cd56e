// expected: on_retry: the hook must take a retry_event const&
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    auto log = [](asio_retry::retry_event const&) {};
#else
    auto log = [](asio_retry::error_code, asio_retry::duration) {};
#endif
    return asio_retry::retry_policy().on_retry(log);
}
