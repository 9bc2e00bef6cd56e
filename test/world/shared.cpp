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

circuit_breaker_options sensitive_breaker(duration unit) {
    circuit_breaker_options options;
    options.min_attempts = 4;
    options.consecutive = 4;
    options.last = 8;
    options.open_for = 4 * unit;
    options.open_cap = 16 * unit;
    options.probes = 2;
    return options;
}

std::vector<int> some_servers(choices& dice) {
    std::vector<int> all(6);
    std::iota(all.begin(), all.end(), 1);
    std::ranges::shuffle(all, std::mt19937_64(dice.seed()));
    all.resize(static_cast<std::size_t>(2 + dice.below(3)));
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

shared_things::shared_things(choices& dice, duration unit)
    : unit_(unit)
    , sensitive_(sensitive_breaker(unit))
    , by_key_([this] { return std::make_shared<audited_gate>(std::make_shared<circuit_breaker>(sensitive_)); },
              8)
    , servers_(std::make_shared<endpoint_set<int>>(some_servers(dice), fragile_servers(sensitive_)))
    , traces_(std::make_shared<retry_traces>(half_of_them(dice.seed())))
    , book_(texts[0]) {
    make_gates(dice);
}

std::shared_ptr<retry_gate> shared_things::add(std::shared_ptr<retry_gate> gate) {
    return gates_.emplace_back(std::make_shared<audited_gate>(std::move(gate)));
}

void shared_things::make_gates(choices& dice) {
    auto const n = [&dice](int least, int greatest) {
        return static_cast<std::uint32_t>(least + dice.below(greatest - least + 1));
    };
    retry_budget_options earned;
    earned.initial = 20;
    earned.keep = 20;
    fleet_budget_options of_fleet;
    of_fleet.interval = unit_;
    of_fleet.lease = 8 * unit_;
    adaptive_throttle_options of_throttle;
    of_throttle.seed = dice.seed() | 1;
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
        std::ranges::shuffle(chosen, std::mt19937_64(dice.seed()));
        chosen.resize(static_cast<std::size_t>(2 + dice.below(4)));
        chains_.push_back(all_gates(std::move(chosen)));
    }
}

std::shared_ptr<retry_gate> shared_things::some_gates(choices& dice) {
    switch (dice.below(4)) {
    case 0:
        return nullptr;
    case 1:
        return dice.any_of(gates_);
    case 2:
        return all_gates(
            {by_key_.at(std::string(1, static_cast<char>('a' + dice.below(6)))), dice.any_of(chains_)});
    default:
        return dice.any_of(chains_);
    }
}

std::shared_ptr<retry_observer> shared_things::some_observers(choices& dice) {
    std::vector<std::shared_ptr<retry_observer>> all = {metrics_, stories_};
    if (dice.one_in(2))
        all.push_back(traces_);
    if (dice.one_in(4))
        all.push_back(traces_->request("00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"));
    return all_observers(std::move(all));
}

retry_policy shared_things::policy(choices& dice) {
    retry_policy result = dice.one_in(3) ? book_[dice.one_in(2) ? "a" : "b"] : retry_policy();
    if (!dice.one_in(3))
        result = result.backoff(constant((1 + dice.below(3)) * unit_)).max_attempts(1 + dice.below(5));
    if (auto gates = some_gates(dice))
        result = result.gate(std::move(gates));
    result = result.observe(some_observers(dice)).retry_if(any_failure);
    if (dice.one_in(2))
        result = result.wait_when_refused();
    if (dice.one_in(3))
        result = result.attempt_timeout((1 + dice.below(8)) * unit_);
    if (dice.one_in(4))
        result = result.total_timeout((1 + dice.below(30)) * unit_);
    if (dice.one_in(6))
        result = result.setup_timeout((1 + dice.below(8)) * unit_);
    if (dice.one_in(6))
        result = result.idle_timeout((1 + dice.below(8)) * unit_);
    if (dice.one_in(6))
        result = result.deliver_at_once();
    if (dice.one_in(6))
        result = result.reset_after(4 * unit_);
    if (dice.one_in(4))
        result = result.pushback_limit(8 * unit_, dice.one_in(2) ? over_limit::stop : over_limit::clamp);
    if (dice.one_in(3))
        result = result.retry_when_nested();
    if (dice.one_in(4))
        result = result.allow_total_cancellation();
    if (dice.one_in(4))
        result = result.priority(dice.one_in(2) ? request_priority::low : request_priority::high);
    return result;
}

retry_policy shared_things::policy_of_ticker(choices& dice) {
    return policy(dice).gate(ticks_);
}

hedge_policy shared_things::hedge(choices& dice) {
    hedge_policy result = dice.one_in(3) ? hedge_policy(latency_) : hedge_policy(dice.below(4) * unit_);
    result = result.max_attempts(1 + dice.below(4)).observe(some_observers(dice));
    if (auto gates = some_gates(dice))
        result = result.gate(std::move(gates));
    if (dice.one_in(3))
        result = result.deliver_at_once();
    if (dice.one_in(3))
        result = result.total_timeout((1 + dice.below(12)) * unit_);
    return result;
}

void shared_things::change(choices& dice, time_point now) {
    switch (dice.below(7)) {
    case 0:
        try {
            book_.reload(texts[dice.below(3)]);
        } catch (policy_syntax_error const&) { // a name of the third text is missing
        }
        return;
    case 1:
        return servers_->assign(some_servers(dice));
    case 2:
        return change_faults(dice);
    case 3:
        return change_breaker(dice, now);
    case 4:
        return answer_fleet(dice, now);
    case 5:
        return servers_->for_each([](int, endpoint_status const&) {}, now);
    default:
        static_cast<void>(metrics_->prometheus());
        static_cast<void>(traces_->otlp_json(16));
    }
}

void shared_things::change_faults(choices& dice) {
    switch (dice.below(3)) {
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
        options.seed = dice.seed();
        faults_->update(options);
    }
}

void shared_things::change_breaker(choices& dice, time_point now) {
    switch (dice.below(3)) {
    case 0:
        return breaker_->isolate(now);
    case 1:
        return breaker_->reset(now);
    default:
        circuit_breaker_options options = sensitive_;
        options.probes = static_cast<std::uint32_t>(1 + dice.below(4));
        options.consecutive = static_cast<std::uint32_t>(2 + dice.below(4));
        breaker_->update(options);
    }
}

void shared_things::answer_fleet(choices& dice, time_point now) {
    if (!fleet_->poll(now))
        return;
    if (dice.one_in(4))
        fleet_->on_unavailable(now);
    else
        fleet_->on_granted(static_cast<std::uint32_t>(dice.below(6)), now);
}

void shared_things::audit(std::vector<std::string>& violations) const {
    audit_gates(violations);
    audit_observers(violations);
    servers_->for_each([&](int server, endpoint_status const& status) {
        if (status.in_flight != 0)
            violations.push_back("endpoint " + std::to_string(server) + " has attempts in flight");
    });
}

void shared_things::audit_gates(std::vector<std::string>& violations) const {
    auto const look_at = [&](audited_gate const& gate) {
        if (std::string const imbalance = gate.imbalance(); !imbalance.empty())
            violations.push_back(imbalance);
    };
    for (auto const& each : gates_)
        look_at(*each);
    by_key_.for_each([&](std::string const&, audited_gate const& gate) { look_at(gate); });
    for (auto const& each : queues_)
        if (each->in_flight() != 0 || each->queued() != 0)
            violations.push_back("a queue has " + std::to_string(each->in_flight()) + " attempts in flight, " +
                                 std::to_string(each->queued()) + " operations");
    if (share_->retries() != 0 || share_->in_flight() != 0)
        violations.push_back("share_budget counts attempts that have ended");
}

void shared_things::audit_observers(std::vector<std::string>& violations) const {
    if (!stories_->fault.empty())
        violations.push_back("observers: " + stories_->fault);
    if (!stories_->is_complete())
        violations.push_back("observers: an operation did not end");
    retry_counts const counts = metrics_->counts();
    std::uint64_t operations = 0, attempts = 0, refused = 0;
    for (observation const& each : stories_->events) {
        operations += each.what == observation::kind::started;
        attempts += each.what == observation::kind::attempt_began;
        refused += each.what == observation::kind::refused;
    }
    if (counts.pending != 0 || counts.operations != operations || counts.attempts != attempts ||
        counts.refused != refused)
        violations.push_back("metrics and events disagree");
    if (std::accumulate(counts.ended.begin(), counts.ended.end(), std::uint64_t(0)) != operations)
        violations.push_back("metrics: operations have no end");
    if (std::accumulate(counts.failures.begin(), counts.failures.end(), counts.abandoned) != attempts)
        violations.push_back("metrics: attempts have no end");
}

} // namespace asio_retry::world
