#include "world/shared.hpp"

#include <asio_retry/policy_text.hpp>
#include <asio_retry/traffic/adaptive_throttle.hpp>
#include <asio_retry/traffic/cooldown.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/window_budget.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace asio_retry::world {
namespace {

namespace asio = boost::asio;

constexpr char const* texts[] = {
    "a = exponential(1ms) max_attempts(4)\nb = constant(1ms) max_attempts(2)",
    "a = constant(2ms) max_attempts(3) wait_when_refused()\nb = fibonacci(1ms) max_attempts(3)",
    "b = constant(1ms) max_attempts(5)\na = constant(1ms) total_timeout(5ms)\nc = max_attempts(1)",
};

/// The spread depends on how many breakers the process has made before.
circuit_breaker_options sensitive_breaker(duration unit, bool is_spread) {
    circuit_breaker_options options;
    options.min_attempts = 4;
    options.consecutive = 4;
    options.last = 8;
    options.open_for = 4 * unit;
    options.open_cap = 16 * unit;
    options.probes = 2;
    if (!is_spread)
        options.open_spread = 0;
    return options;
}

std::vector<int> some_servers(dice& d) {
    std::vector<int> all(6);
    std::iota(all.begin(), all.end(), 1);
    std::ranges::shuffle(all, std::mt19937_64(d.seed()));
    all.resize(static_cast<std::size_t>(2 + d.below(3)));
    return all;
}

endpoint_options fragile_servers(circuit_breaker_options const& breaker) {
    endpoint_options options;
    options.breaker = breaker;
    options.slow_least = 4;
    return options;
}

trace_options half_of_them(std::uint64_t seed) {
    trace_options options;
    options.sampled = 0.5;
    options.greatest = 1000;
    options.seed = seed;
    return options;
}

} // namespace

shared_things::shared_things(dice& d, duration unit, bool is_repeated)
    : unit_(unit)
    , sensitive_(sensitive_breaker(unit, !is_repeated))
    , by_key_([this] { return std::make_shared<audited_gate>(std::make_shared<circuit_breaker>(sensitive_)); },
              8)
    , servers_(std::make_shared<endpoint_set<int>>(some_servers(d), fragile_servers(sensitive_)))
    , traces_(std::make_shared<retry_traces>(half_of_them(d.seed())))
    , book_(texts[0]) {
    make_gates(d);
}

std::shared_ptr<retry_gate> shared_things::add(std::shared_ptr<retry_gate> gate) {
    return gates_.emplace_back(std::make_shared<audited_gate>(std::move(gate)));
}

void shared_things::make_gates(dice& d) {
    auto const n = [&d](int least, int greatest) {
        return static_cast<std::uint32_t>(least + d.below(greatest - least + 1));
    };
    retry_budget_options earned;
    earned.initial = 20;
    earned.keep = 20;
    fleet_budget_options of_fleet;
    of_fleet.interval = unit_;
    of_fleet.lease = 8 * unit_;
    adaptive_throttle_options of_throttle;
    of_throttle.seed = d.seed() | 1;
    aimd_options narrow;
    narrow.initial = n(1, 4);
    narrow.greatest = 6;
    queue_options const short_queue{n(1, 6), 8 * unit_};

    breaker_ = std::make_shared<circuit_breaker>(sensitive_);
    share_ = std::make_shared<share_budget>();
    fleet_ = std::make_shared<fleet_budget>(of_fleet);
    for (auto& each : queues_)
        each = std::make_shared<queue>(aimd(narrow), short_queue);
    auto const rate = [&] { return std::make_shared<rate_limit>(n(1, 4), 2 * unit_, n(1, 4)); };

    std::vector<std::shared_ptr<retry_gate>> const all = {
        add(breaker_),
        add(share_),
        add(fleet_),
        add(queues_[0]),
        add(queues_[1]),
        add(rate()),
        add(rate()),
        add(std::make_shared<token_budget>()),
        add(std::make_shared<retry_budget>(earned)),
        add(std::make_shared<window_budget>()),
        add(std::make_shared<adaptive_throttle>(of_throttle)),
        add(std::make_shared<cooldown>(cooldown_options{.greatest = 8 * unit_})),
    };
    for (int i = 0; i != 6; ++i) {
        auto chosen = all;
        std::ranges::shuffle(chosen, std::mt19937_64(d.seed()));
        chosen.resize(static_cast<std::size_t>(2 + d.below(4)));
        chains_.push_back(all_gates(std::move(chosen)));
    }
}

std::shared_ptr<retry_gate> shared_things::some_gates(dice& d) {
    switch (d.below(4)) {
    case 0:
        return nullptr;
    case 1:
        return d.any_of(gates_);
    case 2:
        return all_gates({by_key_.at(std::string(1, static_cast<char>('a' + d.below(6)))), d.any_of(chains_)});
    default:
        return d.any_of(chains_);
    }
}

std::shared_ptr<retry_observer> shared_things::some_observers(dice& d) {
    std::vector<std::shared_ptr<retry_observer>> all = {metrics_, stories_};
    if (d.one_in(2))
        all.push_back(traces_);
    if (d.one_in(4))
        all.push_back(traces_->request("00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"));
    return all_observers(std::move(all));
}

retry_policy shared_things::policy(dice& d) {
    retry_policy result = d.one_in(3) ? book_[d.one_in(2) ? "a" : "b"] : retry_policy();
    if (!d.one_in(3))
        result = result.backoff(constant((1 + d.below(3)) * unit_)).max_attempts(1 + d.below(5));
    if (auto gates = some_gates(d))
        result = result.gate(std::move(gates));
    result = result.observe(some_observers(d)).retry_if(any_failure);
    if (d.one_in(2))
        result = result.wait_when_refused();
    if (d.one_in(3))
        result = result.attempt_timeout((1 + d.below(8)) * unit_);
    if (d.one_in(4))
        result = result.total_timeout((1 + d.below(30)) * unit_);
    if (d.one_in(6))
        result = result.setup_timeout((1 + d.below(8)) * unit_);
    if (d.one_in(6))
        result = result.idle_timeout((1 + d.below(8)) * unit_);
    if (d.one_in(6))
        result = result.deliver_at_once();
    if (d.one_in(6))
        result = result.reset_after(4 * unit_);
    if (d.one_in(4))
        result = result.pushback_limit(8 * unit_, d.one_in(2) ? over_limit::stop : over_limit::clamp);
    if (d.one_in(3))
        result = result.retry_when_nested();
    if (d.one_in(4))
        result = result.allow_total_cancellation();
    if (d.one_in(4))
        result = result.priority(d.one_in(2) ? request_priority::low : request_priority::high);
    return result;
}

retry_policy shared_things::policy_of_ticker(dice& d) {
    return policy(d).gate(ticks_);
}

hedge_policy shared_things::hedge(dice& d) {
    hedge_policy result = d.one_in(3) ? hedge_policy(latency_) : hedge_policy(d.below(4) * unit_);
    result = result.max_attempts(1 + d.below(4)).observe(some_observers(d));
    if (auto gates = some_gates(d))
        result = result.gate(std::move(gates));
    if (d.one_in(3))
        result = result.deliver_at_once();
    if (d.one_in(3))
        result = result.total_timeout((1 + d.below(12)) * unit_);
    return result;
}

void shared_things::change(dice& d, time_point now) {
    switch (d.below(7)) {
    case 0:
        try {
            book_.reload(texts[d.below(3)]);
        } catch (policy_syntax_error const&) { // a name of the third text is missing
        }
        return;
    case 1:
        return servers_->assign(some_servers(d));
    case 2:
        return change_faults(d);
    case 3:
        return change_breaker(d, now);
    case 4:
        return answer_fleet(d, now);
    case 5:
        return servers_->for_each([](int, endpoint_status const&) {}, now);
    default:
        static_cast<void>(metrics_->prometheus());
        static_cast<void>(traces_->otlp_json(16));
    }
}

void shared_things::change_faults(dice& d) {
    switch (d.below(3)) {
    case 0:
        return faults_->enable();
    case 1:
        return faults_->disable();
    default:
        fault_options options;
        options.errors = {0.2, asio::error::connection_reset};
        options.lost_answers = {0.1, asio::error::eof};
        options.delays = {0.2, {}, 4 * unit_};
        options.hangs = 0.1;
        options.seed = d.seed();
        faults_->update(options);
    }
}

void shared_things::change_breaker(dice& d, time_point now) {
    switch (d.below(3)) {
    case 0:
        return breaker_->isolate(now);
    case 1:
        return breaker_->reset(now);
    default:
        circuit_breaker_options options = sensitive_;
        options.probes = static_cast<std::uint32_t>(1 + d.below(4));
        options.consecutive = static_cast<std::uint32_t>(2 + d.below(4));
        breaker_->update(options);
    }
}

void shared_things::answer_fleet(dice& d, time_point now) {
    if (!fleet_->poll(now))
        return;
    if (d.one_in(4))
        fleet_->on_unavailable(now);
    else
        fleet_->on_granted(static_cast<std::uint32_t>(d.below(6)), now);
}

void shared_things::audit(violations& found, trace& written) const {
    for (observation const& each : stories_->events)
        written.add(each.took, each.attempt, "heard", static_cast<int>(each.what), each.error.value());
    audit_gates(found);
    audit_observers(found);
    servers_->for_each([&](int server, endpoint_status const& status) {
        if (status.in_flight != 0)
            found.add("endpoint " + std::to_string(server) + " has attempts in flight");
    });
}

void shared_things::audit_gates(violations& found) const {
    auto const look_at = [&](audited_gate const& gate) {
        if (std::string const imbalance = gate.imbalance(); !imbalance.empty())
            found.add(imbalance);
    };
    for (auto const& each : gates_)
        look_at(*each);
    by_key_.for_each([&](std::string const&, audited_gate const& gate) { look_at(gate); });
    for (auto const& each : queues_)
        if (each->in_flight() != 0 || each->queued() != 0)
            found.add("a queue has " + std::to_string(each->in_flight()) + " attempts in flight, " +
                      std::to_string(each->queued()) + " operations");
    if (share_->retries() != 0 || share_->in_flight() != 0)
        found.add("share_budget counts attempts that have ended");
}

void shared_things::audit_observers(violations& found) const {
    if (!stories_->fault.empty())
        found.add("observers: " + stories_->fault);
    if (!stories_->is_complete())
        found.add("observers: an operation did not end");
    retry_counts const counts = metrics_->counts();
    std::uint64_t operations = 0, attempts = 0, refused = 0;
    for (observation const& each : stories_->events) {
        operations += each.what == observation::kind::started;
        attempts += each.what == observation::kind::attempt_began;
        refused += each.what == observation::kind::refused;
    }
    if (counts.pending != 0 || counts.operations != operations || counts.attempts != attempts ||
        counts.refused != refused)
        found.add("metrics and events disagree");
    if (std::accumulate(counts.ended.begin(), counts.ended.end(), std::uint64_t(0)) != operations)
        found.add("metrics: operations have no end");
    if (std::accumulate(counts.failures.begin(), counts.failures.end(), counts.abandoned) != attempts)
        found.add("metrics: attempts have no end");
}

} // namespace asio_retry::world
