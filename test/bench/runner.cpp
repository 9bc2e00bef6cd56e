#include "runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>

namespace asio_retry::bench {
namespace {

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    double const upper = *middle;
    return values.size() % 2 == 1 ? upper : (upper + *std::max_element(values.begin(), middle)) / 2;
}

} // namespace

progress::progress(std::vector<workload> const& all) {
    for (workload const& each : all)
        for (contender const& one : each.contenders)
            steps_ += each.repetitions + (one.record ? 1 : 0);
}

void progress::begin(std::string const& what) {
    std::cerr << '[' << std::setw(static_cast<int>(std::to_string(steps_).size())) << ++step_ << '/' << steps_
              << "] " << what << " ... " << std::flush;
    began_ = seconds_now();
}

void progress::end() {
    std::cerr << std::fixed << std::setprecision(1) << seconds_now() - began_ << " s\n";
}

rows run(workload const& which, progress& shown) {
    std::vector<std::map<std::string, std::vector<double>>> samples(which.contenders.size());
    for (unsigned repetition = 1; repetition <= which.repetitions; ++repetition)
        for (std::size_t i = 0; i != samples.size(); ++i) {
            contender const& one = which.contenders[i];
            std::string const turn =
                " (" + std::to_string(repetition) + " of " + std::to_string(which.repetitions) + ")";
            for (auto const& [name, value] : shown.step(which.name + ": " + one.name + turn, one.measure))
                samples[i][name].push_back(value);
        }
    rows result;
    for (std::size_t i = 0; i != samples.size(); ++i) {
        contender const& one = which.contenders[i];
        row measured{which.name, one.name, {}, {}};
        for (auto const& [name, values] : samples[i])
            measured.values[name] = median(values);
        if (one.record)
            measured.values.merge(shown.step(which.name + ": " + one.name + " (apart)", one.record));
        result.push_back(measured);
    }
    return result;
}

row const* find(rows const& all, std::string const& workload, std::string const& contender) {
    auto const found = std::find_if(all.begin(), all.end(), [&](row const& each) {
        return each.workload == workload && each.contender == contender && each.unavailable.empty();
    });
    return found == all.end() ? nullptr : &*found;
}

std::vector<workload> all_workloads(scale size) {
    return {first_try(size),          gateway_requests(size),
            zero_delay_1(size),       zero_delay_64(size),
            storm_1k(size),           storm_10k(size),
            storm_100k(size),         storm_1m(size),
            one_wait(size),           cancel_100k(size),
            cancel_1m(size),          two_threads(size),
            cancel_two_threads(size), gates(size),
            lateness(size),           longest_turn(size),
            two_threads_turns(size),  pending(size)};
}

} // namespace asio_retry::bench
