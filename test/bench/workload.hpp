#pragma once

#include "result.hpp"

#include <functional>
#include <string>
#include <vector>

namespace asio_retry::bench {

struct contender {
    std::string name;
    std::function<figures()> measure;
    std::function<figures()> record = {}; ///< a run of its own for what would disturb the others; null for none
};

struct workload {
    std::string name;
    std::string about; ///< ends with what the CPU time is divided by
    unsigned repetitions;
    std::vector<contender> contenders;
};

struct scale {
    bool quick = false;
    bool everything = false; ///< what takes very long, too
};

workload first_try(scale);
workload gateway_requests(scale);
workload zero_delay_1(scale);
workload zero_delay_64(scale);
workload storm_1k(scale);
workload storm_10k(scale);
workload storm_100k(scale);
workload storm_1m(scale);
workload one_wait(scale);
workload cancel_100k(scale);
workload cancel_1m(scale);
workload two_threads(scale);
workload cancel_two_threads(scale);
workload gates(scale);
workload lateness(scale);
workload longest_turn(scale);
workload two_threads_turns(scale);
workload pending(scale);

std::vector<workload> all_workloads(scale);

} // namespace asio_retry::bench
