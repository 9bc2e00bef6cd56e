#include "stampede_study.hpp"

#include "simulated_caller.hpp"

#include <boost/system/errc.hpp>

#include <chrono>
#include <deque>
#include <string>
#include <vector>

namespace asio_retry::lab {

using namespace std::chrono_literals;

namespace {
constexpr unsigned clients = 10'000;
}

stampede_result study_stampede(jitter const& kind, std::uint64_t seed) {
    static verdict const down = verdict::failure(make_error_code(boost::system::errc::connection_refused));
    auto const policy = retry_policy().backoff(exponential(100ms).cap(10s)).jitter(kind).unlimited_attempts();
    stampede_result result;
    event_queue events;
    std::deque<simulated_caller> all;
    for (unsigned i = 0; i != clients; ++i) {
        all.emplace_back(events, policy, random(seed, i), [&](running_attempt const& attempt) {
            result.attempts.count(events.now());
            attempt.fail(down);
        });
        all.back().call([](bool) {});
    }
    events.run(time_point(30s));
    return result;
}

double stampede_result::peak_share() const {
    return attempts.greatest(time_point(600ms)) / clients;
}

study_report report_stampede(std::uint64_t seed, study_progress const& progress) {
    struct kind {
        char const* name;
        asio_retry::jitter jitter;
    };
    std::vector<kind> const kinds{{"no jitter", no_jitter()},
                                  {"20 % more or less", proportional_jitter(0.2)},
                                  {"equal_jitter", equal_jitter()},
                                  {"full_jitter", full_jitter()},
                                  {"decorrelated_jitter", decorrelated_jitter().cap(10s)}};
    study_report report;
    report.title = "10 000 clients whose attempts begin to fail at the same moment";
    report.figures.columns = {"peak_share_per_10_ms"};
    report.course.columns = {"ms", "share"};
    plot shares("share of the clients in 10 ms, logarithmic", "ms", "", 0.001);
    double done = 0;
    for (kind const& k : kinds) {
        stampede_result const found = study_stampede(k.jitter, seed);
        report.figures.rows.push_back({k.name, {found.peak_share()}});
        std::vector<point> line;
        for (std::size_t slot = 0; slot != 200; ++slot) {
            line.push_back({10.0 * static_cast<double>(slot), found.attempts.at(slot) / clients});
            report.course.rows.push_back({k.name, {line.back().x, line.back().y}});
        }
        shares.add_line(std::move(line), k.name);
        progress(++done / static_cast<double>(kinds.size()));
    }
    report.charts = {shares};
    return report;
}

} // namespace asio_retry::lab
