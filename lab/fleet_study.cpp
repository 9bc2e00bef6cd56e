#include "fleet_study.hpp"

#include "draw.hpp"
#include "simulated_caller.hpp"
#include "simulated_store.hpp"

#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <utility>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;
using kind = fleet_setting::kind;

constexpr double failing = 0.01;

fleet_second sum_of(std::vector<fleet_second> const& seconds, unsigned first, unsigned end) {
    fleet_second sum;
    for (unsigned i = first; i != end; ++i) {
        sum.requests += seconds[i].requests;
        sum.attempts += seconds[i].attempts;
        sum.failures += seconds[i].failures;
        sum.questions += seconds[i].questions;
    }
    return sum;
}

} // namespace

fleet_result study_fleet(fleet_setting const& setting, std::uint64_t seed) {
    static verdict const refused = verdict::failure(make_error_code(boost::system::errc::connection_refused));
    double const rate = setting.processes * setting.rate;
    fleet_result result;
    result.seconds.resize(fleet_result::all_seconds);
    event_queue events;
    auto const this_second = [&]() -> fleet_second& {
        return result.seconds[static_cast<std::size_t>(events.now().time_since_epoch() / 1s)];
    };
    fleet_budget_options options{.batch = setting.batch, .per_second = 0.05 * rate};
    simulated_store store(events, options.capacity, options.per_second);
    auto const make_gate = [&]() -> std::shared_ptr<retry_gate> {
        switch (setting.gate) {
        case kind::own_budget: {
            auto const own = std::make_shared<retry_budget>();
            (void)own->balance(events.now()); // the first look begins its time
            return own;
        }
        case kind::own_tokens:
            return std::make_shared<token_budget>();
        case kind::shared:
        case kind::shared_killed:
            break;
        }
        return std::make_shared<simulated_driver>(events, store, options, [&] { ++this_second().questions; })
            ->gate();
    };
    bool is_out = false;
    events.at(at_second(fleet_result::outage_begins), [&] {
        is_out = true;
        store.is_up = setting.gate != kind::shared_killed;
    });
    events.at(at_second(fleet_result::outage_ends), [&] { is_out = false; });

    random luck(seed, 0), which(seed, 1);
    std::deque<simulated_caller> processes;
    for (unsigned i = 0; i != setting.processes; ++i)
        processes.emplace_back(events, retry_policy().gate(make_gate()), random(seed, i + 3),
                               [&](running_attempt const& attempt) {
                                   ++this_second().attempts;
                                   if (!is_out && drawn_share(luck) >= failing)
                                       return attempt.succeed();
                                   ++this_second().failures;
                                   attempt.fail(refused);
                               });
    at_random_times(events, rate, at_second(fleet_result::all_seconds), random(seed, 2), [&] {
        ++this_second().requests;
        processes[which.uniform(std::uint64_t(0), setting.processes - 1)].call([](bool) {});
    });
    events.run(at_second(fleet_result::all_seconds));
    return result;
}

double fleet_result::first_load() const {
    fleet_second const sum = sum_of(seconds, outage_begins, outage_begins + 10);
    return sum.attempts / sum.requests;
}

double fleet_result::last_load() const {
    fleet_second const sum = sum_of(seconds, outage_ends - 30, outage_ends);
    return sum.attempts / sum.requests;
}

double fleet_result::granted_in_health() const {
    fleet_second const sum = sum_of(seconds, measured_from, outage_begins);
    return (sum.attempts - sum.requests) / sum.failures;
}

double fleet_result::questions_in_health() const {
    fleet_second const sum = sum_of(seconds, measured_from, outage_begins);
    return sum.questions / sum.requests;
}

double fleet_result::questions_in_outage() const {
    fleet_second const sum = sum_of(seconds, outage_begins, outage_ends);
    return sum.questions / sum.requests;
}

study_report report_fleet(std::uint64_t seed, study_progress const& progress) {
    struct row {
        char const* name;
        fleet_setting setting;
        char const* label = nullptr; // the label of its line in the chart
    };
    row const rows[] = {
        {"7000 x 0.1/s, fleet_budget", {7000, 0.1, kind::shared}, "fleet_budget"},
        {"7000 x 0.1/s, fleet_budget, batch 1", {7000, 0.1, kind::shared, 1}},
        {"7000 x 0.1/s, fleet_budget, batch 20", {7000, 0.1, kind::shared, 20}},
        {"7000 x 0.1/s, fleet_budget, store down", {7000, 0.1, kind::shared_killed}, "its store is down too"},
        {"7000 x 0.1/s, retry_budget each", {7000, 0.1, kind::own_budget}, "retry_budget each"},
        {"7000 x 0.1/s, 10 tokens each", {7000, 0.1, kind::own_tokens}, "10 tokens each"},
        {"1000 x 1/s, fleet_budget", {1000, 1, kind::shared}},
        {"1000 x 1/s, retry_budget each", {1000, 1, kind::own_budget}},
        {"1000 x 1/s, 10 tokens each", {1000, 1, kind::own_tokens}},
    };
    study_report report;
    report.title = "A fleet of 7000 processes whose requests all fail for a minute";
    report.figures.columns = {"load_first_10_s", "load_last_30_s", "granted_in_health", "questions_in_health",
                              "questions_in_outage"};
    report.course.columns = {"second", "requests", "attempts", "questions"};
    plot load("attempts per request", "s of the outage", "");
    double done = 0;
    for (row const& r : rows) {
        fleet_result const found = study_fleet(r.setting, seed);
        report.figures.rows.push_back({r.name,
                                       {found.first_load(), found.last_load(), found.granted_in_health(),
                                        found.questions_in_health(), found.questions_in_outage()}});
        std::vector<point> line;
        for (unsigned second = fleet_result::outage_begins; second != fleet_result::all_seconds; ++second) {
            fleet_second const& s = found.seconds[second];
            double const when = static_cast<double>(second) - fleet_result::outage_begins;
            report.course.rows.push_back({r.name, {when, s.requests, s.attempts, s.questions}});
            line.push_back({when, s.attempts / std::max(s.requests, 1.0)});
        }
        if (r.label)
            load.add_line(std::move(line), r.label);
        progress(++done / static_cast<double>(std::size(rows)));
    }
    report.charts = {load};
    return report;
}

} // namespace asio_retry::lab
