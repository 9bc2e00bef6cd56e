#include "budget.hpp"

#include "fleet/redis_driver.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gateway {

budget_of_retries budget_of_a_fleet(shared_store const& store, boost::asio::any_io_executor const& executor,
                                    asio_retry::retry_metrics& metrics) {
    std::vector<std::vector<std::string>> greeting;
    if (!store.password.empty() && !store.user.empty())
        greeting.push_back({"AUTH", store.user, store.password});
    else if (!store.password.empty())
        greeting.push_back({"AUTH", store.password});
    if (store.database != "0")
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

} // namespace gateway
