// expected at once: gate: operations share a gate: use std::make_shared, as in
// gate(std::make_shared<retry_budget>())
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include <chrono>
#include <memory>

asio_retry::retry_policy policy() {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().gate(std::make_shared<asio_retry::retry_budget>());
#else
    return asio_retry::retry_policy().gate(asio_retry::retry_budget());
#endif
}
