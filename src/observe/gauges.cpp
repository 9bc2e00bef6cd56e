#include <asio_retry/observe/gauges.hpp>

#include "observe/gauge_access.hpp"

#include <chrono>
#include <cstdint>
#include <locale>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::detail {
namespace {

constexpr breaker_state states[] = {breaker_state::closed, breaker_state::open, breaker_state::half_open,
                                    breaker_state::isolated};

void put_state(gauge_sink const& put, char const* label, std::string const& of, breaker_state state) {
    for (breaker_state const each : states)
        put({{label, of}, {"state", std::string(to_string(each))}}, each == state ? 1 : 0);
}

gauge_family of_size(std::string const& prefix, std::function<double()> size) {
    return {prefix + "_keys", "Keys that have a gate.",
            [size = std::move(size)](gauge_sink const& put) { put({}, size()); }};
}

} // namespace

std::string written_text(std::function<void(std::ostream&)> const& write) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    write(out);
    return std::move(out).str();
}

void add_endpoint_gauges(retry_metrics& metrics, std::string const& prefix, gauge_clock now,
                         std::function<void(endpoint_visitor const&, time_point)> for_each) {
    std::vector<gauge_family> families;
    auto const add = [&](char const* name, char const* help, auto put_status) {
        families.push_back({prefix + name, help, [now, for_each, put_status](gauge_sink const& put) {
                                for_each([&](std::string const& text,
                                             endpoint_status const& status) { put_status(put, text, status); },
                                         now());
                            }});
    };
    auto const add_number = [&](char const* name, char const* help, auto number_of) {
        add(name, help,
            [number_of](gauge_sink const& put, std::string const& text, endpoint_status const& status) {
                put({{"endpoint", text}}, number_of(status));
            });
    };
    add_number("_in_flight", "Attempts that run at the endpoint.",
               [](endpoint_status const& status) { return static_cast<double>(status.in_flight); });
    add("_state", "Whether the circuit breaker of the endpoint is in the state.",
        [](gauge_sink const& put, std::string const& text, endpoint_status const& status) {
            put_state(put, "endpoint", text, status.state);
        });
    add_number("_failure_share", "Share of failures among the recent attempts at the endpoint.",
               [](endpoint_status const& status) { return status.rate; });
    add("_latency_seconds", "Median latency of the last successes of the endpoint.",
        [](gauge_sink const& put, std::string const& text, endpoint_status const& status) {
            if (status.latency != duration::zero())
                put({{"endpoint", text}}, std::chrono::duration<double>(status.latency).count());
        });
    add_number(
        "_ejected", "Whether the endpoint is asked no more for a while.",
        [](endpoint_status const& status) { return status.ejected_until == (time_point::min)() ? 0.0 : 1.0; });
    add_number(
        "_resting", "Whether the server wants to be left alone for a while.",
        [](endpoint_status const& status) { return status.resting_until == (time_point::min)() ? 0.0 : 1.0; });
    gauge_access::add(metrics, std::move(families));
}

void add_key_gauges(retry_metrics& metrics, std::string const& prefix, std::function<double()> size) {
    std::vector<gauge_family> families;
    families.push_back(of_size(prefix, std::move(size)));
    gauge_access::add(metrics, std::move(families));
}

void add_breaker_gauges(retry_metrics& metrics, std::string const& prefix, gauge_clock now,
                        std::function<double()> size, std::function<void(breaker_visitor const&)> for_each) {
    std::vector<gauge_family> families;
    families.push_back(of_size(prefix, std::move(size)));
    families.push_back({prefix + "_state", "Whether the circuit breaker of the key is in the state.",
                        [now, for_each](gauge_sink const& put) {
                            time_point const at = now();
                            for_each([&](std::string const& key, circuit_breaker const& breaker) {
                                put_state(put, "key", key, breaker.state(at));
                            });
                        }});
    families.push_back({prefix + "_failure_share", "Share of failures among the recent attempts of the key.",
                        [now, for_each](gauge_sink const& put) {
                            time_point const at = now();
                            for_each([&](std::string const& key, circuit_breaker const& breaker) {
                                put({{"key", key}}, breaker.failure_share(at));
                            });
                        }});
    gauge_access::add(metrics, std::move(families));
}

} // namespace asio_retry::detail

namespace asio_retry {

void add_gauges(retry_metrics& metrics, std::string const& prefix, std::shared_ptr<fault_plan const> plan) {
    if (!plan)
        detail::refuse("add_gauges.plan", "null", "must be a fault_plan");
    std::vector<detail::gauge_family> families;
    families.push_back({prefix + "_enabled", "Whether attempts have injected faults.",
                        [plan](gauge_sink const& put) { put({}, plan->is_enabled() ? 1 : 0); }});
    families.push_back(
        {prefix + "_attempts", "Attempts that began while faults were injected.",
         [plan](gauge_sink const& put) { put({}, static_cast<double>(plan->counts().attempts)); }});
    families.push_back({prefix + "_injected", "Attempts with an injected fault.",
                        [plan = std::move(plan)](gauge_sink const& put) {
                            fault_counts const counts = plan->counts();
                            auto const put_count = [&](char const* fault, std::uint64_t count) {
                                put({{"fault", fault}}, static_cast<double>(count));
                            };
                            put_count("error", counts.errors);
                            put_count("lost_answer", counts.lost_answers);
                            put_count("delay", counts.delays);
                            put_count("hang", counts.hangs);
                        }});
    detail::gauge_access::add(metrics, std::move(families));
}

} // namespace asio_retry
