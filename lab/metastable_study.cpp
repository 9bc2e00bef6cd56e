#include "metastable_study.hpp"

#include "simulated_caller.hpp"
#include "simulated_server.hpp"
#include "slot_counts.hpp"

#include <chrono>
#include <deque>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

constexpr double capacity_at_best = 1000, offered = 700;

retry_policy policy_of(metastable_setting const& setting) {
    auto const policy =
        retry_policy().backoff(exponential(100ms).cap(20s)).max_attempts(setting.attempts).attempt_timeout(1s);
    return policy.jitter(setting.jitter ? full_jitter() : no_jitter());
}

metastable_second sum_of(std::vector<metastable_second> const& seconds, unsigned first, unsigned end) {
    metastable_second sum;
    for (unsigned i = first; i != end; ++i) {
        sum.offered += seconds[i].offered;
        sum.attempts += seconds[i].attempts;
        sum.succeeded += seconds[i].succeeded;
    }
    return sum;
}

} // namespace

metastable_result study_metastable(metastable_setting const& setting, std::uint64_t seed) {
    metastable_result result;
    result.seconds.resize(metastable_seconds);
    event_queue events;
    auto const this_second = [&]() -> metastable_second& {
        return result.seconds[static_cast<std::size_t>(events.now().time_since_epoch() / 1s)];
    };
    retry_policy const policy = policy_of(setting);
    simulated_server server(events, capacity_at_best);
    events.at(at_second(trigger_begins), [&] { server.serve(capacity_at_best / 5); });
    events.at(at_second(trigger_ends), [&] { server.serve(capacity_at_best); });

    std::deque<simulated_caller> clients;
    for (unsigned i = 0; i != setting.clients; ++i) {
        auto const gate = setting.gate.make();
        if (gate && gate->acquire(failure_kind::transient, events.now())) // as if it had been in use before
            gate->give_back(failure_kind::transient);
        clients.emplace_back(events, gate ? policy.gate(gate) : policy, random(seed, i + 2),
                             [&](running_attempt const& attempt) {
                                 ++this_second().attempts;
                                 server.take(attempt);
                             });
    }
    random which(seed, 0);
    at_random_times(events, offered, at_second(metastable_seconds), random(seed, 1), [&] {
        ++this_second().offered;
        clients[which.uniform(std::uint64_t(0), setting.clients - 1)].call(
            [&](bool succeeded) { this_second().succeeded += succeeded; });
    });
    events.run(at_second(metastable_seconds));
    return result;
}

double metastable_result::back_after() const {
    std::vector<double> goodput;
    for (metastable_second const& second : seconds)
        goodput.push_back(second.goodput());
    std::size_t const back = steady_from(goodput, trigger_ends, 0.95);
    return back == seconds.size() ? never : static_cast<double>(back) - trigger_ends;
}

double metastable_result::load() const {
    auto const sum = sum_of(seconds, trigger_begins, trigger_begins + 40);
    return sum.attempts / sum.offered;
}

double metastable_result::goodput_afterwards() const {
    return sum_of(seconds, trigger_ends, metastable_seconds).goodput();
}

} // namespace asio_retry::lab
