#pragma once

#include "settings.hpp"

#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/retry_gate.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>

namespace gateway {

/// What keeps the retries of all requests from becoming a load of their own.
struct budget_of_retries {
    std::shared_ptr<asio_retry::retry_gate> gate;
    std::function<void()> stop; ///< what it does besides, so that the program can end
};

/// A tenth of what succeeds, and ten that a gateway may always spend: as many as it takes to notice that a
/// server is gone.
budget_of_retries budget_of_its_own(asio_retry::retry_metrics& metrics);

/// A tenth of what succeeds at all gateways with this store. Without the store it is a tenth of what succeeds
/// here, and no request ever waits for it. Throws std::exception where the gateway was built without hiredis.
budget_of_retries budget_of_a_fleet(shared_store const& store, boost::asio::any_io_executor const& executor,
                                    asio_retry::retry_metrics& metrics);

} // namespace gateway
