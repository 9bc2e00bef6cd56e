#include "amplification_study.hpp"

#include "simulated_caller.hpp"

#include <boost/system/errc.hpp>

#include <array>
#include <chrono>
#include <deque>
#include <string>
#include <utility>

namespace asio_retry::lab {

using namespace std::chrono_literals;

std::vector<double> study_amplification(amplification_setting const& setting, std::uint64_t seed) {
    constexpr unsigned requests = 1000;
    static verdict const down = verdict::failure(make_error_code(boost::system::errc::connection_refused));
    event_queue events;
    std::vector<double> attempts(setting.layers);
    std::deque<simulated_caller> layers; // the last layer first
    auto const policy = retry_policy().max_attempts(setting.attempts);
    for (unsigned layer = setting.layers; layer-- != 0;) {
        simulated_caller* const below = layers.empty() ? nullptr : &layers.back();
        layers.emplace_back(
            events, gated(policy, setting.gate), random(seed, layer),
            [&attempts, layer, below](running_attempt const& attempt) {
                ++attempts[layer];
                if (!below)
                    return attempt.fail(down);
                below->call([attempt](bool succeeded) { succeeded ? attempt.succeed() : attempt.fail(down); });
            });
    }
    for (unsigned i = 0; i != requests; ++i)
        events.at(time_point(i * 10ms), [&] { layers.back().call([](bool) {}); });
    events.run();
    for (double& all : attempts)
        all /= requests;
    return attempts;
}

study_report report_amplification(std::uint64_t seed, study_progress const& progress) {
    constexpr std::array kinds{no_gate, budget_by_request, default_budget};
    study_report report;
    report.title = "Layers that retry what always fails";
    report.figures.columns = {"layers", "attempts_of_each", "hits_per_request"};
    report.course.columns = {"layer", "attempts_per_request"};
    double done = 0;
    for (auto const& [layers, attempts] : {std::pair(3u, 4u), std::pair(5u, 3u)}) {
        std::string const each = std::to_string(attempts) + " attempts";
        plot chart("attempts per request, " + std::to_string(layers) + " layers of " + each, "layer", "", 1);
        for (gate_kind const& kind : kinds) {
            auto const found = study_amplification({layers, attempts, kind}, seed);
            std::string const setting = each + ", " + kind.name;
            report.figures.rows.push_back(
                {setting, {static_cast<double>(layers), static_cast<double>(attempts), found.back()}});
            std::vector<point> line;
            for (double const one : found) {
                line.push_back({static_cast<double>(line.size() + 1), one});
                report.course.rows.push_back({setting, {line.back().x, one}});
            }
            chart.add_line(std::move(line), kind.name);
            progress(++done / (2 * static_cast<double>(kinds.size())));
        }
        report.charts.push_back(std::move(chart));
    }
    return report;
}

} // namespace asio_retry::lab
