#include "endpoints_study.hpp"

#include "simulated_caller.hpp"
#include "slot_counts.hpp"
#include "tool/sample.hpp"

#include <asio_retry/failure_class.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>
#include <asio_retry/verdict.hpp>

#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace asio_retry::lab {

using tool::quantile;
using tool::sample;

namespace {

using namespace std::chrono_literals;

using server_set = endpoint_set<std::size_t>;

constexpr std::size_t servers = 8;

retry_policy three_attempts() {
    return retry_policy().max_attempts(3).backoff(constant(1ms)).jitter(no_jitter()).attempt_timeout(100ms);
}

/// The servers, and what they do in the trouble.
class troubled_servers {
public:
    troubled_servers(event_queue& events, trouble what, std::uint64_t seed)
        : events_(events)
        , what_(what)
        , length_(seed, 2) {}

    bool is_time() const {
        return at_second(endpoints_result::begins) <= events_.now() &&
               events_.now() < at_second(endpoints_result::ends);
    }
    bool has_trouble(std::size_t server) const {
        std::size_t const troubled = what_ == trouble::all_are_slow ? servers
                                     : what_ == trouble::half_hang  ? servers / 2
                                                                    : 1;
        return server < troubled && is_time();
    }

    /// A server that hangs never answers.
    void ask(std::size_t server, running_attempt const& attempt) {
        duration const took = length_.uniform(1ms, 8ms);
        if (!has_trouble(server))
            return events_.after(took, [attempt] { attempt.succeed(); });
        switch (what_) {
        case trouble::one_is_slow:
        case trouble::all_are_slow:
            return events_.after(10 * took, [attempt] { attempt.succeed(); });
        case trouble::one_wants_rest:
            return events_.after(took, [attempt] { attempt.fail(verdict::rejected(judge_http(503, "5"))); });
        case trouble::one_refuses:
            return events_.after(1ms, [attempt] { attempt.fail(verdict::rejected(judge_http(429))); });
        case trouble::one_hangs:
        case trouble::half_hang:
        case trouble::one_flaps:
            break;
        }
    }

private:
    event_queue& events_;
    trouble what_;
    random length_;
};

/// One request with a caller of its own, which keeps it alive.
struct request {
    std::optional<detail::endpoint_chooser> chooser;
    std::optional<simulated_caller> caller;
};

std::vector<std::size_t> numbers_from(std::size_t first) {
    std::vector<std::size_t> numbers(servers - first);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

std::shared_ptr<server_set> all_servers(duration remembered) {
    endpoint_options options;
    options.remembered = remembered;
    options.breaker.consecutive = 5;
    options.breaker.open_spread = 0; // the seed alone decides
    return std::make_shared<server_set>(numbers_from(0), options);
}

/// In the trouble the first server leaves the list in every other second.
void let_it_flap(event_queue& events, std::shared_ptr<server_set> const& set) {
    for (unsigned second = endpoints_result::begins; second != endpoints_result::ends; ++second)
        events.at(at_second(second),
                  [&events, set, second] { set->assign(numbers_from(second % 2), events.now()); });
}

} // namespace

endpoints_result study_endpoints(trouble what, bool chooses, std::uint64_t seed, duration remembered) {
    event_queue events;
    troubled_servers asked(events, what, seed);
    auto const set = all_servers(remembered);
    if (what == trouble::one_flaps)
        let_it_flap(events, set);
    std::size_t turn = 0;
    double requests = 0, failed = 0, attempts = 0, late = 0, late_in_trouble = 0;
    sample took;
    std::vector<sample> course(endpoints_result::seconds);
    random seeds(seed, 1);
    auto const ask = [&](std::size_t server, running_attempt const& attempt) {
        bool const is_late = asked.is_time() && events.now() >= at_second(endpoints_result::ends - 10);
        attempts += asked.is_time();
        late += is_late;
        late_in_trouble += is_late && asked.has_trouble(server);
        asked.ask(server, attempt);
    };
    at_random_times(events, 1000, at_second(endpoints_result::seconds), random(seed, 3), [&] {
        auto const one = std::make_shared<request>();
        if (chooses)
            one->chooser.emplace(detail::endpoint_access::table(*set));
        one->caller.emplace(
            events, three_attempts(), random(seeds(), 1), [&, one](running_attempt const& attempt) {
                ask(chooses ? detail::endpoint_access::value<std::size_t>(one->chooser->at(attempt.number()))
                            : turn++ % servers,
                    attempt);
            });
        if (chooses)
            one->caller->choose_with(*one->chooser);
        bool const counts = asked.is_time();
        requests += counts;
        time_point const began = events.now();
        one->caller->call([&, one, counts, began](bool good) {
            double const ms = std::chrono::duration<double, std::milli>(events.now() - began).count();
            if (counts && good)
                took.add(ms);
            failed += counts && !good;
            course[static_cast<std::size_t>(began.time_since_epoch() / 1s)].add(ms);
            events.after(0s, [one] { one->caller.reset(); });
        });
    });
    events.run();
    endpoints_result result{
        took.sorted(), 1000 * failed / requests, attempts / requests, late_in_trouble / late, {}};
    for (sample const& second : course)
        result.course.push_back(second.mean());
    return result;
}

study_report report_endpoints(std::uint64_t seed, study_progress const& progress) {
    struct setting {
        std::string name;
        trouble what;
        bool chooses;
        duration remembered = 1min;
    };
    std::vector<setting> const settings{{"one hangs: in turn", trouble::one_hangs, false},
                                        {"one hangs: endpoint_set", trouble::one_hangs, true},
                                        {"one is slow: in turn", trouble::one_is_slow, false},
                                        {"one is slow: endpoint_set", trouble::one_is_slow, true},
                                        {"half hang: in turn", trouble::half_hang, false},
                                        {"half hang: endpoint_set", trouble::half_hang, true},
                                        {"all are slow: in turn", trouble::all_are_slow, false},
                                        {"all are slow: endpoint_set", trouble::all_are_slow, true},
                                        {"one wants rest: in turn", trouble::one_wants_rest, false},
                                        {"one wants rest: endpoint_set", trouble::one_wants_rest, true},
                                        {"one refuses: in turn", trouble::one_refuses, false},
                                        {"one refuses: endpoint_set", trouble::one_refuses, true},
                                        {"one flaps: forgotten", trouble::one_flaps, true, 0s},
                                        {"one flaps: endpoint_set", trouble::one_flaps, true}};
    study_report report;
    report.title = "Eight servers of which some are in trouble for 20 s";
    report.figures.columns = {"p50_ms", "p99_ms", "failed_of_1000", "attempts_per_request", "to_the_troubled"};
    report.course.columns = {"s", "mean_ms"};
    plot times("half of the servers hang", "s", "ms");
    double done = 0;
    for (setting const& each : settings) {
        endpoints_result const found = study_endpoints(each.what, each.chooses, seed, each.remembered);
        report.figures.rows.push_back(
            {each.name,
             {quantile(found.ms, 0.5), quantile(found.ms, 0.99), found.failed, found.load, found.in_trouble}});
        if (std::string const half = "half hang: "; each.name.starts_with(half)) {
            std::vector<point> line;
            for (double const mean : found.course) {
                auto const second = static_cast<double>(line.size());
                line.push_back({second, mean});
                report.course.rows.push_back({each.name.substr(half.size()), {second, mean}});
            }
            times.add_line(std::move(line), each.name.substr(half.size()));
        }
        progress(++done / static_cast<double>(settings.size()));
    }
    report.charts = {times};
    return report;
}

} // namespace asio_retry::lab
