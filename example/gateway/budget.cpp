#include "budget.hpp"

#include <asio_retry/traffic/retry_budget.hpp>

#if defined(GATEWAY_HAS_HIREDIS)
#include "fleet/redis_driver.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#endif

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gateway {
namespace {

/// Besides its tenth, a gateway may always retry ten times: so often as it takes to notice that a server is
/// gone.
budget_of_retries budget_of_its_own(asio_retry::retry_metrics& metrics) {
    asio_retry::retry_budget_options options;
    options.keep = options.initial = 10;
    auto const budget = std::make_shared<asio_retry::retry_budget>(options);
    metrics.add_gauge("gateway_retry_budget", "Retries that may be made at once.",
                      [budget] { return budget->balance(std::chrono::steady_clock::now()); });
    return {budget, [] {}};
}

#if defined(GATEWAY_HAS_HIREDIS)
budget_of_retries budget_of_a_fleet(shared_store const& store, boost::asio::any_io_executor const& executor,
                                    asio_retry::retry_metrics& metrics) {
    std::vector<std::vector<std::string>> greeting;
    if (!store.password.empty() && !store.user.empty())
        greeting.push_back({"AUTH", store.user, store.password});
    else if (!store.password.empty())
        greeting.push_back({"AUTH", store.password});
    greeting.push_back({"SELECT", store.database});
    asio_retry::fleet_budget_options options;
    options.batch = 20; // a gateway retries more often than most
    auto const driver = std::make_shared<fleet::redis_driver>(executor, store.server, "gateway:retry_budget",
                                                              options, std::move(greeting));
    boost::asio::co_spawn(executor, driver->run(), boost::asio::detached);
    metrics.add_gauge("gateway_fleet_budget_held", "Tokens of the fleet's budget that are here.",
                      [driver] { return static_cast<double>(driver->budget()->held()); });
    metrics.add_gauge("gateway_fleet_budget_shared",
                      "Whether the last question was answered: 0 if the gateway lives on its own tenth.",
                      [driver] { return driver->is_shared() ? 1.0 : 0.0; });
    return {asio_retry::all_gates({driver->budget(), driver}), [driver] { driver->stop(); }};
}
#else
budget_of_retries budget_of_a_fleet(shared_store const&, boost::asio::any_io_executor const&,
                                    asio_retry::retry_metrics&) {
    throw std::runtime_error("budget: this gateway was built without hiredis, and cannot ask a Redis");
}
#endif

} // namespace

budget_of_retries make_budget(settings const& s, boost::asio::any_io_executor const& executor,
                              asio_retry::retry_metrics& metrics) {
    return s.budget ? budget_of_a_fleet(*s.budget, executor, metrics) : budget_of_its_own(metrics);
}

} // namespace gateway
