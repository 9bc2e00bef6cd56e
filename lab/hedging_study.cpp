#include "hedging_study.hpp"

#include "draw.hpp"
#include "simulated_caller.hpp"
#include "simulated_hedge.hpp"
#include "slot_counts.hpp"
#include "tool/sample.hpp"

#include <asio_retry/traffic/latency_quantile.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace asio_retry::lab {

using tool::quantile;
using tool::sample;

namespace {

using namespace std::chrono_literals;

/// Makes the policy of an operation that begins now.
class hedger {
public:
    explicit hedger(hedging_setting const& setting)
        : when_(setting.when)
        , budget_(setting.with_budget ? std::make_shared<retry_budget>() : nullptr)
        , common_(gated(when_ == hedging::observed ? hedge_policy(seen_) : hedge_policy(10ms))) {}

    hedge_policy policy() const {
        return when_ == hedging::of_winners ? gated(hedge_policy(seen_->value())) : common_;
    }

    void on_end(hedge_end const& end) const {
        if (when_ == hedging::of_winners)
            seen_->record(end.took_winner);
    }

private:
    hedge_policy gated(hedge_policy const& policy) const {
        return policy.gate(budget_).max_attempts(when_ == hedging::none ? 1 : 2);
    }

    hedging when_;
    std::shared_ptr<retry_budget> budget_;
    std::shared_ptr<latency_quantile> seen_ = std::make_shared<latency_quantile>(0.95);
    hedge_policy common_;
};

} // namespace

hedging_result study_hedging(hedging_setting const& setting, std::uint64_t seed) {
    event_queue events;
    random fate(seed, 1), length(seed, 2);
    hedger const hedges(setting);
    slot_counts attempts(1s), operations(1s);
    sample took;
    double begun = 0, hedged = 0;
    auto const draw = [&]() -> duration {
        attempts.count(events.now());
        bool const is_time =
            time_point(setting.slow_begins) <= events.now() && events.now() < time_point(setting.slow_ends);
        bool const is_slow = drawn_share(fate) <= setting.slow_share && is_time;
        return is_slow ? length.uniform(setting.slow_least, setting.slow_greatest) : length.uniform(1ms, 8ms);
    };
    at_random_times(events, 1000, time_point(setting.ends), random(seed, 3), [&] {
        operations.count(events.now());
        simulate_hedge(events, hedges.policy(), draw, [&](hedge_end const& end) {
            took.add(std::chrono::duration<double, std::milli>(end.took).count());
            begun += static_cast<double>(end.attempts);
            hedged += end.attempts > 1;
            hedges.on_end(end);
        });
    });
    events.run();
    auto const all = static_cast<double>(took.size());
    hedging_result result{took.sorted(), begun / all, hedged / all, {}};
    for (std::size_t second = 0; second != static_cast<std::size_t>(setting.ends / 1s); ++second)
        result.course.push_back(attempts.at(second) / operations.at(second));
    return result;
}

namespace {

struct named_setting {
    std::string name;
    hedging_setting setting;
};

std::vector<named_setting> settings_of_figures() {
    hedging_setting const few, all{.slow_share = 1},
        some{.slow_share = 0.05, .slow_least = 20ms, .slow_greatest = 190ms};
    auto const with = [](hedging_setting setting, hedging when, bool with_budget = false) {
        setting.when = when;
        setting.with_budget = with_budget;
        return setting;
    };
    return {{"0.5 % slow: no hedges", with(few, hedging::none)},
            {"0.5 % slow: after 10 ms", with(few, hedging::fixed)},
            {"0.5 % slow: q = 0.95", with(few, hedging::observed)},
            {"all slow: after 10 ms", with(all, hedging::fixed)},
            {"all slow: after 10 ms, retry_budget", with(all, hedging::fixed, true)},
            {"5 % slow: q = 0.95", with(some, hedging::observed)},
            {"5 % slow: q = 0.95 of winners alone", with(some, hedging::of_winners)}};
}

/// Settings in which every attempt is slow for twenty of sixty seconds.
std::vector<named_setting> settings_of_course() {
    hedging_setting episode{.slow_share = 1, .ends = 60s, .slow_begins = 20s, .slow_ends = 40s};
    std::vector<named_setting> all;
    episode.when = hedging::fixed;
    all.push_back({"after 10 ms", episode});
    episode.when = hedging::observed;
    all.push_back({"q = 0.95", episode});
    episode.with_budget = true;
    all.push_back({"q = 0.95, retry_budget", episode});
    return all;
}

/// The times that 0 to 10 of a thousand operations exceed.
std::vector<point> slowest(hedging_result const& result) {
    std::vector<point> line;
    for (int tenths = 0; tenths <= 100; ++tenths)
        line.push_back({tenths / 10.0, quantile(result.ms, 1 - tenths / 10'000.0)});
    return line;
}

} // namespace

study_report report_hedging(std::uint64_t seed, study_progress const& progress) {
    study_report report;
    report.title = "Hedges of operations of which some are slow";
    report.figures.columns = {"p50_ms", "p99_ms", "p999_ms", "attempts_per_operation"};
    report.course.columns = {"s", "attempts_per_operation"};
    plot times("the slowest of a thousand, 0.5 % slow", "operations that are slower", "ms", 1);
    plot load("attempts per operation, all slow for 20 s", "s", "");
    auto const figures = settings_of_figures(), course = settings_of_course();
    double done = 0;
    auto const step = [&] { progress(++done / static_cast<double>(figures.size() + course.size())); };
    for (auto const& [name, setting] : figures) {
        hedging_result const found = study_hedging(setting, seed);
        report.figures.rows.push_back(
            {name, {quantile(found.ms, 0.5), quantile(found.ms, 0.99), quantile(found.ms, 0.999), found.load}});
        if (std::string const few = "0.5 % slow: "; name.starts_with(few))
            times.add_line(slowest(found), name.substr(few.size()));
        step();
    }
    for (auto const& [name, setting] : course) {
        std::vector<point> line;
        for (double const each : study_hedging(setting, seed).course) {
            auto const second = static_cast<double>(line.size());
            line.push_back({second, each});
            report.course.rows.push_back({name, {second, each}});
        }
        load.add_line(std::move(line), name);
        step();
    }
    report.charts = {times, load};
    return report;
}

} // namespace asio_retry::lab
