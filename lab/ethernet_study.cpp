#include "ethernet_study.hpp"

#include "simulated_client.hpp"

#include <boost/system/errc.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

constexpr duration slot_time = 51'200ns;
constexpr unsigned growing_failures = 20; // so that there are slots for every batch

struct trial_result {
    std::uint64_t slots;
    std::uint64_t attempts;
};

trial_result run_trial(unsigned stations, std::uint64_t seed) {
    static verdict const collision =
        verdict::failure(make_error_code(boost::system::errc::resource_unavailable_try_again));
    auto const policy = retry_policy()
                            .backoff(truncated_binary(growing_failures, slot_time * (1 << growing_failures)))
                            .jitter(full_jitter())
                            .unlimited_attempts();
    std::deque<simulated_client> all;
    std::map<std::uint64_t, std::vector<simulated_client*>> senders;
    for (unsigned i = 0; i != stations; ++i)
        senders[0].push_back(&all.emplace_back(policy, random(seed, i)));

    trial_result result{};
    while (!senders.empty()) {
        auto const [number, here] = *senders.begin();
        senders.erase(senders.begin());
        time_point const now(slot_time * static_cast<duration::rep>(number));
        result.slots = number + 1;
        result.attempts += here.size();
        if (here.size() == 1) {
            here.front()->machine.on_success(now);
            continue;
        }
        for (simulated_client* const station : here) {
            duration const delay = station->machine.on_failure(collision, now, station->source).delay;
            auto const slots = static_cast<std::uint64_t>(delay / slot_time);
            station->machine.on_wait_over(now + delay);
            senders[number + 1 + slots].push_back(station);
        }
    }
    return result;
}

} // namespace

ethernet_result study_ethernet(unsigned stations, unsigned trials, std::uint64_t seed) {
    ethernet_result result;
    for (unsigned i = 0; i != trials; ++i) {
        trial_result const found = run_trial(stations, random(seed, std::uint64_t(stations) << 32 | i)());
        result.slots.add(static_cast<double>(found.slots));
        result.attempts_per_station.add(static_cast<double>(found.attempts) / stations);
    }
    return result;
}

unsigned ethernet_trials(unsigned stations) {
    return std::clamp(65'536 / stations, 24u, 100u);
}

study_report report_ethernet(std::uint64_t seed, study_progress const& progress) {
    study_report report;
    report.title = "Stations that begin to send in the same slot";
    report.figures.columns = {"stations", "slots", "slots_per_n_log2_n", "attempts_per_station",
                              "attempts_less_log2_n"};
    std::vector<point> ratio, attempts, expected;
    for (unsigned power = 6; power <= 12; ++power) {
        unsigned const n = 1u << power;
        auto const [slots, each] = study_ethernet(n, ethernet_trials(n), seed);
        double const share = slots.mean() / (static_cast<double>(n) * power);
        report.figures.rows.push_back(
            {std::to_string(n) + " stations",
             {static_cast<double>(n), slots.mean(), share, each.mean(), each.mean() - power}});
        ratio.push_back({static_cast<double>(power), share});
        attempts.push_back({static_cast<double>(power), each.mean()});
        expected.push_back({static_cast<double>(power), power + 1.95});
        progress((power - 5) / 7.0);
    }
    plot first("attempts of a station", "log2 of n stations", "");
    first.add_line(std::move(attempts), "found");
    first.add_guide(std::move(expected), "log2 n + 1.95");
    plot second("slots until all have sent", "log2 of n stations", "");
    second.add_line(std::move(ratio), "divided by n log2 n");
    report.charts = {first, second};
    return report;
}

} // namespace asio_retry::lab
