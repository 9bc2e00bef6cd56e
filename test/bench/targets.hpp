#pragma once

#include "result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace asio_retry::bench {

struct judged_target {
    std::string name;
    std::string unit;
    double limit;
    std::optional<double> value; ///< none if a workload that it needs was not run

    std::string state() const {
        if (!value)
            return "not run";
        return *value <= limit ? "met" : "NOT MET";
    }
};

std::vector<judged_target> judge_targets(rows const& results);

} // namespace asio_retry::bench
