#include "pushback_study.hpp"

#include "simulated_caller.hpp"
#include "simulated_server.hpp"

#include <asio_retry/failure_class.hpp>

#include <chrono>
#include <deque>
#include <vector>

namespace asio_retry::lab {

using namespace std::chrono_literals;

namespace {
constexpr unsigned told_clients = 10'000;
}

pushback_result study_pushback(retry_policy const& policy, std::uint64_t seed) {
    static verdict const in_five_seconds = verdict::rejected(judge_http(503, "5"));
    pushback_result result;
    event_queue events;
    simulated_server server(events, 1000, 100);
    std::deque<simulated_caller> all;
    double attempts = 0;
    time_point last{};
    for (unsigned i = 0; i != told_clients; ++i) {
        all.emplace_back(events, policy, random(seed, i), [&](running_attempt const& attempt) {
            if (events.now() == time_point())
                return attempt.fail(in_five_seconds);
            ++attempts;
            result.attempts.count(events.now());
            if (!server.take(attempt))
                attempt.fail(in_five_seconds);
        });
        all.back().call([&](bool) {
            last = events.now();
            result.served.count(last);
        });
    }
    events.run();
    result.attempts_per_client = attempts / told_clients;
    result.peak_share = result.attempts.greatest(time_point()) / told_clients;
    result.served_after = std::chrono::duration<double>(last.time_since_epoch()).count();
    return result;
}

retry_policy pushback_to_the_letter() {
    return default_pushback().backoff(constant(0s)).pushback_spread(0);
}

retry_policy default_pushback() {
    return retry_policy().unlimited_attempts();
}

study_report report_pushback(std::uint64_t seed, study_progress const& progress) {
    struct kind {
        char const* name;
        retry_policy policy;
    };
    std::vector<kind> const kinds{{"to the letter", pushback_to_the_letter()},
                                  {"and a backoff", default_pushback().pushback_spread(0)},
                                  {"and a spread of a tenth", pushback_to_the_letter().pushback_spread(0.1)},
                                  {"and both: the default", default_pushback()}};
    study_report report;
    report.title = "10 000 clients that are told to come back in 5 s";
    report.figures.columns = {"attempts_per_client", "peak_share_per_10_ms", "all_served_after_s"};
    report.course.columns = {"s", "attempts_per_s", "served_per_s"};
    plot served("clients that have been served", "s", "%");
    double done = 0;
    for (kind const& k : kinds) {
        pushback_result const found = study_pushback(k.policy, seed);
        report.figures.rows.push_back(
            {k.name, {found.attempts_per_client, found.peak_share, found.served_after}});
        std::vector<point> line;
        double in_all = 0;
        for (std::size_t second = 0; second != 60; ++second) {
            double attempts = 0, here = 0;
            for (std::size_t slot = 100 * second; slot != 100 * (second + 1); ++slot) {
                attempts += found.attempts.at(slot);
                here += found.served.at(slot);
            }
            auto const s = static_cast<double>(second);
            report.course.rows.push_back({k.name, {s, attempts, here}});
            line.push_back({s, 100 * in_all / told_clients});
            in_all += here;
        }
        served.add_line(std::move(line), k.name);
        progress(++done / static_cast<double>(kinds.size()));
    }
    report.charts = {served};
    return report;
}

} // namespace asio_retry::lab
