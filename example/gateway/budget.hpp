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

/// Allows a tenth of what succeeds: here, or at all gateways that share a store.
///
/// No request waits for the store. Without its answer the budget is a tenth of what succeeds here. Throws
/// std::exception for a store, if the gateway was built without hiredis.
budget_of_retries make_budget(settings const& s, boost::asio::any_io_executor const& executor,
                              asio_retry::retry_metrics& metrics);

} // namespace gateway
