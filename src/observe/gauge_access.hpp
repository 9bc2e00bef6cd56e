#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/observe/retry_metrics.hpp>

#include <functional>
#include <string>
#include <vector>

namespace asio_retry::detail {

/// Gauges of one name, for a set.
struct gauge_family {
    std::string name, help;
    std::function<void(gauge_sink const&)> fill;
};

struct gauge_access {
    /// Adds all or, if it throws as add_gauges does, none.
    static void add(retry_metrics& metrics, std::vector<gauge_family> families);
};

} // namespace asio_retry::detail
