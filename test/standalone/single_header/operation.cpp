#include "operation.hpp"

asio_retry::retry_policy policy() {
    return asio_retry::retry_policy().backoff(asio_retry::constant(std::chrono::milliseconds(1)));
}

asio_retry::error_code attempt_once(int& attempts) {
    ++attempts;
    return attempts < 2 ? asio::error::connection_refused : asio_retry::error_code();
}
