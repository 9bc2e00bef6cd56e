#include "load_study.hpp"

#include "draw.hpp"
#include "simulated_caller.hpp"

#include <boost/system/errc.hpp>

#include <array>
#include <chrono>
#include <vector>

namespace asio_retry::lab {

using namespace std::chrono_literals;

load_result study_load(double failure_rate, gate_kind const& gate, std::uint64_t seed) {
    constexpr unsigned requests = 20'000;
    static verdict const failure = verdict::failure(make_error_code(boost::system::errc::connection_reset));
    event_queue events;
    random fate(seed, 0);
    double attempts = 0, succeeded = 0;
    auto const policy = retry_policy().max_attempts(4);
    simulated_caller client(events, gated(policy, gate), random(seed, 1), [&](running_attempt const& attempt) {
        ++attempts;
        drawn_share(fate) <= failure_rate ? attempt.fail(failure) : attempt.succeed();
    });
    for (unsigned i = 0; i != requests; ++i)
        events.at(time_point(i * 10ms), [&] { client.call([&](bool good) { succeeded += good; }); });
    events.run();
    return {attempts / requests, succeeded / requests};
}

study_report report_load(std::uint64_t seed, study_progress const& progress) {
    constexpr std::array kinds{no_gate, default_budget, budget_by_request, grpc_budget};
    std::vector<double> const rates{0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
    study_report report;
    report.title = "A client of 100 requests/s whose attempts fail at random";
    report.figures.columns = {"failure_rate", "attempts_per_request", "success"};
    plot load("attempts per request", "attempts that fail, %", "");
    plot success("requests that succeed", "attempts that fail, %", "%");
    double done = 0;
    for (gate_kind const& kind : kinds) {
        std::vector<point> loads, successes;
        for (double const rate : rates) {
            load_result const found = study_load(rate, kind, seed);
            report.figures.rows.push_back({kind.name, {rate, found.load, found.success}});
            loads.push_back({100 * rate, found.load});
            successes.push_back({100 * rate, 100 * found.success});
            progress(++done / static_cast<double>(kinds.size() * rates.size()));
        }
        load.add_line(std::move(loads), kind.name);
        success.add_line(std::move(successes), kind.name);
    }
    report.charts = {load, success};
    return report;
}

} // namespace asio_retry::lab
