// expected: classify: it must take an error_code const& and return a failure_class
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    auto by_code = [](asio_retry::error_code const&) { return asio_retry::failure_class(); };
#else
    auto by_code = [](asio_retry::error_code const&) { return true; };
#endif
    return asio_retry::retry_policy().classify(by_code);
}
