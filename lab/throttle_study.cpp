#include "throttle_study.hpp"

#include "simulated_caller.hpp"
#include "simulated_server.hpp"
#include "slot_counts.hpp"

#include <asio_retry/failure_class.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

constexpr double offered_to_throttles = 1000;

retry_policy throttled(adaptive_throttle_options options, std::uint64_t seed) {
    options.seed = seed;
    return retry_policy().max_attempts(1).gate(std::make_shared<adaptive_throttle>(options));
}

verdict const& refusal() {
    static verdict const too_much_to_do = verdict::rejected(judge_http(503));
    return too_much_to_do;
}

} // namespace

double study_throttle_overload(adaptive_throttle_options const& options, std::uint64_t seed) {
    constexpr auto begin = time_point(60s), end = time_point(180s);
    event_queue events;
    simulated_server server(events, 300, 30);
    double sent = 0, accepted = 0;
    simulated_caller client(events, throttled(options, seed), random(seed, 1),
                            [&](running_attempt const& attempt) {
                                sent += events.now() >= begin;
                                if (!server.take(attempt))
                                    attempt.fail(refusal());
                            });
    at_random_times(events, offered_to_throttles, end, random(seed, 2),
                    [&] { client.call([&](bool good) { accepted += good && events.now() >= begin; }); });
    events.run();
    return sent / accepted;
}

throttle_outage study_throttle_outage(adaptive_throttle_options const& options, std::uint64_t seed) {
    constexpr auto end = time_point(throttle_outage::seconds * 1s);
    slot_counts requests(1s), sent(1s), accepted(1s);
    event_queue events;
    simulated_caller client(
        events, throttled(options, seed), random(seed, 1), [&](running_attempt const& attempt) {
            time_point const now = events.now();
            sent.count(now);
            if (time_point(throttle_outage::begins * 1s) <= now && now < time_point(throttle_outage::ends * 1s))
                return attempt.fail(refusal());
            accepted.count(now);
            attempt.succeed();
        });
    at_random_times(events, offered_to_throttles, end, random(seed, 2), [&] {
        requests.count(events.now());
        client.call([](bool) {});
    });
    events.run(end);
    throttle_outage result;
    for (std::size_t second = 0; second != throttle_outage::seconds; ++second) {
        result.accepted.push_back(accepted.at(second) / requests.at(second));
        result.sent.push_back(sent.at(second) / requests.at(second));
    }
    return result;
}

double throttle_outage::back_after() const {
    std::size_t const back = steady_from(accepted, ends, 0.95);
    return back == accepted.size() ? never : static_cast<double>(back - ends);
}

double throttle_outage::sent_in_outage() const {
    auto const begin = sent.begin() + begins + 60, end = sent.begin() + ends;
    return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

study_report report_throttle(std::uint64_t seed, study_progress const& progress) {
    struct kind {
        std::string name;
        adaptive_throttle_options options;
    };
    std::vector<kind> const kinds{{"20 s, 0.9: the default", {}},
                                  {"30 s, 0.9", {.window = 30s, .max_rejection = 0.9}},
                                  {"30 s, 0.7", {.window = 30s, .max_rejection = 0.7}},
                                  {"120 s, 0.9", {.window = 120s, .max_rejection = 0.9}},
                                  {"120 s, 0.999", {.window = 120s, .max_rejection = 0.999}}};
    study_report report;
    report.title = "A throttle of 1000 requests/s after an outage of 300 s";
    report.figures.columns = {"back_after_s", "sent_in_the_outage", "sent_per_accepted_at_300_per_s"};
    report.course.columns = {"s", "accepted", "sent"};
    plot accepted("requests that are accepted", "s after the outage", "%");
    double done = 0;
    for (kind const& k : kinds) {
        throttle_outage const found = study_throttle_outage(k.options, seed);
        progress((done += 0.8) / static_cast<double>(kinds.size()));
        report.figures.rows.push_back(
            {k.name, {found.back_after(), found.sent_in_outage(), study_throttle_overload(k.options, seed)}});
        progress((done += 0.2) / static_cast<double>(kinds.size()));
        std::vector<point> line;
        for (std::size_t second = 0; second != throttle_outage::seconds; ++second) {
            auto const s = static_cast<double>(second);
            report.course.rows.push_back({k.name, {s, found.accepted[second], found.sent[second]}});
            if (second >= throttle_outage::ends)
                line.push_back({s - throttle_outage::ends, 100 * found.accepted[second]});
        }
        accepted.add_line(std::move(line), k.name);
    }
    report.charts = {accepted};
    return report;
}

} // namespace asio_retry::lab
