#pragma once

#include "result.hpp"
#include "targets.hpp"

#include <map>
#include <string>
#include <vector>

namespace asio_retry::bench {

/// All that is told of a run.
struct report {
    std::map<std::string, std::string> about_workloads; ///< by name
    std::vector<std::string> notes;
    rows results;
    std::vector<judged_target> targets;
};

/// With which compiler and libraries, and on how many cores.
std::string toolchain();

} // namespace asio_retry::bench
