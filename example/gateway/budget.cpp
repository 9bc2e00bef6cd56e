#include "budget.hpp"

#include <asio_retry/traffic/retry_budget.hpp>

#include <chrono>

namespace gateway {

budget_of_retries budget_of_its_own(asio_retry::retry_metrics& metrics) {
    asio_retry::retry_budget_options options;
    options.keep = options.initial = 10;
    auto const budget = std::make_shared<asio_retry::retry_budget>(options);
    metrics.add_gauge("gateway_retry_budget", "Retries that may be made at once.",
                      [budget] { return budget->balance(std::chrono::steady_clock::now()); });
    return {budget, [] {}};
}

} // namespace gateway
