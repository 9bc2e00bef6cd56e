#include "deadlines_study.hpp"

#include "simulated_caller.hpp"
#include "slot_counts.hpp"

#include <asio_retry/deadline_fields.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

constexpr double requests_per_second = 700;
constexpr std::size_t services_in_a_row = 3;

double in_seconds(duration d) {
    return std::chrono::duration<double>(d).count();
}

/// One attempt of a caller, on its way through the services.
struct travelling_request {
    running_attempt attempt;
    std::size_t services = 0; ///< that have got it
    duration work{};          ///< that they have done
};

/// A request as it waits in a service.
struct waiting_request {
    std::shared_ptr<travelling_request> request;
    time_point until; ///< the deadline as the service knows it
};

/// The services, and the network between them.
class row_of_services {
public:
    row_of_services(event_queue& events, deadlines_setting const& setting, std::uint64_t seed,
                    deadlines_result& result)
        : events_(events)
        , setting_(setting)
        , network_(seed, 1)
        , length_(seed, 2)
        , result_(result) {}

    void take(running_attempt const& attempt) {
        bool const is_told = setting_.told != deadlines_told::to_none;
        send(std::make_shared<travelling_request>(travelling_request{attempt}),
             is_told ? attempt.deadline() : time_point::max());
    }

    /// Sets how much longer the last service takes from the next request on.
    void slow_down(int times) { slowness_ = times; }

private:
    /// Sends a request to the next service, or gives it up if the deadline is over.
    void send(std::shared_ptr<travelling_request> request, time_point until) {
        std::string const field = to_grpc_timeout(until, events_.now(), setting_.margin);
        if (field == "0m")
            return answer(std::move(request), false);
        events_.after(message(), [this, request = std::move(request), field] {
            auto const left = parse_grpc_timeout(field);
            std::size_t const service = request->services++;
            waiting_[service].push_back({request, left ? events_.now() + *left : time_point::max()});
            if (waiting_[service].size() == 1)
                serve(service);
        });
    }

    /// Works for the request that has waited longest.
    void serve(std::size_t service) {
        waiting_request const& next = waiting_[service].front();
        duration const length =
            length_.uniform(500us, 1500us) * (service + 1 == services_in_a_row ? slowness_ : 1);
        time_point const begins = events_.now(), ends = std::min(begins + length, std::max(begins, next.until));
        note(*next.request, begins, ends);
        events_.at(ends, [this, service, is_done = ends == begins + length] { end(service, is_done); });
    }

    void end(std::size_t service, bool is_done) {
        waiting_request const served = std::move(waiting_[service].front());
        waiting_[service].pop_front();
        if (!waiting_[service].empty())
            serve(service);
        if (!is_done || service + 1 == services_in_a_row)
            return answer(served.request, is_done);
        send(served.request, setting_.told == deadlines_told::to_all ? served.until : time_point::max());
    }

    /// The answer goes back through all services that got the request.
    void answer(std::shared_ptr<travelling_request> request, bool is_success) {
        duration way{};
        for (std::size_t i = 0; i != request->services; ++i)
            way += message();
        events_.after(way, [this, request = std::move(request), is_success] {
            static verdict const too_late = verdict::rejected(judge_http(504, ""));
            if (!is_success)
                return request->attempt.fail(too_late);
            if (events_.now() < request->attempt.deadline())
                result_.useful_work += in_seconds(request->work);
            request->attempt.succeed();
        });
    }

    void note(travelling_request& request, time_point begins, time_point ends) {
        request.work += ends - begins;
        deadlines_second& second = result_.seconds[static_cast<std::size_t>(begins.time_since_epoch() / 1s)];
        second.work += in_seconds(ends - begins);
        second.work_after_gone += in_seconds(ends - std::clamp(request.attempt.deadline(), begins, ends));
    }

    duration message() { return network_.uniform(200us, 5ms); }

    event_queue& events_;
    deadlines_setting setting_;
    random network_, length_;
    deadlines_result& result_;
    std::deque<waiting_request> waiting_[services_in_a_row];
    int slowness_ = 1;
};

} // namespace

deadlines_result study_deadlines(deadlines_setting const& setting, std::uint64_t seed) {
    deadlines_result result;
    result.seconds.resize(deadlines_seconds);
    event_queue events;
    row_of_services services(events, setting, seed, result);
    events.at(at_second(slow_from), [&] { services.slow_down(5); });
    events.at(at_second(slow_until), [&] { services.slow_down(1); });
    auto const policy =
        retry_policy().max_attempts(3).attempt_timeout(500ms).gate(std::make_shared<retry_budget>());
    simulated_caller caller(events, policy, random(seed, 3),
                            [&](running_attempt const& attempt) { services.take(attempt); });
    at_random_times(events, requests_per_second, at_second(deadlines_seconds), random(seed, 4), [&] {
        auto& second = result.seconds[static_cast<std::size_t>(events.now().time_since_epoch() / 1s)];
        ++second.offered;
        caller.call([&second](bool succeeded) { second.succeeded += succeeded; });
    });
    events.run(at_second(deadlines_seconds));
    return result;
}

double deadlines_result::sum(double deadlines_second::* member) const {
    double all = 0;
    for (deadlines_second const& second : seconds)
        all += second.*member;
    return all;
}

double deadlines_result::back_after() const {
    std::vector<double> goodput;
    for (deadlines_second const& second : seconds)
        goodput.push_back(second.succeeded / second.offered);
    goodput.resize(deadlines_seconds - 3); // the last requests have not ended
    std::size_t const back = steady_from(goodput, slow_until, 0.95);
    return back == goodput.size() ? never : static_cast<double>(back) - slow_until;
}

study_report report_deadlines(std::uint64_t seed, study_progress const& progress) {
    struct kind {
        char const* name;
        deadlines_setting setting;
    };
    constexpr kind kinds[] = {{"told to none", {deadlines_told::to_none, {}}},
                              {"told to the first, not passed on", {deadlines_told::to_first, 5ms}},
                              {"told to all, no margin", {deadlines_told::to_all, {}}},
                              {"told to all, margin 5 ms", {deadlines_told::to_all, 5ms}}};
    study_report report;
    report.title = "Three services in a row, the last one slow for ten seconds";
    report.figures.columns = {"work_after_gone_s", "work_after_gone_share", "work_in_vain_share",
                              "requests_that_succeed", "back_after_s"};
    report.course.columns = {"s", "work_after_gone_share", "requests_that_succeed"};
    plot gone("work for callers that have gone", "s", "%"), good("requests that succeed", "s", "%");
    double done = 0;
    for (kind const& each : kinds) {
        deadlines_result const found = study_deadlines(each.setting, seed);
        double const work = found.sum(&deadlines_second::work),
                     after = found.sum(&deadlines_second::work_after_gone);
        report.figures.rows.push_back(
            {each.name,
             {after, after / work, 1 - found.useful_work / work,
              found.sum(&deadlines_second::succeeded) / found.sum(&deadlines_second::offered),
              found.back_after()}});
        std::vector<point> line_gone, line_good;
        for (std::size_t i = 0; i != deadlines_seconds - 3; ++i) {
            deadlines_second const& second = found.seconds[i];
            auto const s = static_cast<double>(i);
            double const share = second.work_after_gone / second.work,
                         succeeded = second.succeeded / second.offered;
            report.course.rows.push_back({each.name, {s, share, succeeded}});
            line_gone.push_back({s, 100 * share});
            line_good.push_back({s, 100 * succeeded});
        }
        if (each.setting.told != deadlines_told::to_first) { // its lines are those of `to_none`
            gone.add_line(std::move(line_gone), each.name);
            good.add_line(std::move(line_good), each.name);
        }
        progress(++done / static_cast<double>(std::size(kinds)));
    }
    report.charts = {gone, good};
    return report;
}

} // namespace asio_retry::lab
