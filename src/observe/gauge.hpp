#pragma once

#include "observe/exposition.hpp"

#include <asio_retry/observe/retry_metrics.hpp>

#include <functional>
#include <string>

namespace asio_retry {

/// One gauge, or with `fill` all those of a name.
struct retry_metrics::gauge {
    std::string name, help;
    detail::label_text labels;
    std::function<double()> value;
    std::function<void(gauge_sink const&)> fill;
};

} // namespace asio_retry
