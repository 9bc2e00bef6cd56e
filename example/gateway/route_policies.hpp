#pragma once

#include "settings.hpp"

#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/policy_book.hpp>
#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace gateway {

/// The policies of requests, by the first part of their path. They come from a file, which may change.
class route_policies {
public:
    /// All policies get the gate. The metrics read this while they exist. Throws std::exception for a file with
    /// a fault.
    route_policies(settings const& s, std::shared_ptr<asio_retry::retry_gate> gate,
                   asio_retry::retry_metrics& metrics);

    /// For the target `/orders/7` the policy `/orders` of the file, or else `/`, or else that of the settings.
    ///
    /// Call it from any thread. It waits for no reload.
    asio_retry::retry_policy of(std::string_view target) const;

    /// Reads the file again. If it has a fault, says so and keeps the old policies.
    void reload();

private:
    settings const& configured_;
    std::shared_ptr<asio_retry::retry_gate> const gate_;
    std::optional<asio_retry::policy_book> book_; // none without a file
    std::atomic<std::uint64_t> good_ = 0, bad_ = 0;
};

} // namespace gateway
