// What gates and observers add to operations that succeed at once. The row without any is the one to subtract.
#include "chains.hpp"

#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace asio_retry::bench {
namespace {

using namespace std::chrono_literals;
using wiring = std::function<retry_policy(retry_policy const&)>;

plan const succeeds{0, 10ms, 1s, spread::full};

retry_policy with_budget(retry_policy const& policy) {
    return policy.gate(std::make_shared<retry_budget>());
}
retry_policy with_breaker(retry_policy const& policy) {
    return policy.gate(std::make_shared<circuit_breaker>());
}
retry_policy with_both(retry_policy const& policy) {
    return policy.gate(all_gates({std::make_shared<retry_budget>(), std::make_shared<circuit_breaker>()}));
}
retry_policy with_metrics(retry_policy const& policy) {
    return policy.observe(std::make_shared<retry_metrics>());
}
retry_policy with_nothing(retry_policy const& policy) {
    return policy;
}

/// A context and chains of its own for each of two threads, and one policy or two.
figures measure_two(chain_shape shape, wiring const& wired, bool shared) {
    retry_policy const first = wired(shape.how.policy());
    retry_policy const second = shared ? first : wired(shape.how.policy());
    usage const before = used_so_far();
    std::thread other([&] {
        (void)measure_chains<retry_callback_io>(shape, second);
        add_thread_to_total();
    });
    (void)measure_chains<retry_callback_io>(shape, first);
    other.join();
    usage const after = used_so_far();
    auto const calls = 2 * static_cast<double>(shape.chains * (shape.calls + shape.calls / 10 + 1));
    return {{"cpu_ns", (after.cpu_ns - before.cpu_ns) / calls},
            {"allocations", static_cast<double>(after.allocations - before.allocations) / calls}};
}

} // namespace

workload gates(scale size) {
    workload result{"gates", "first_try with what operations share; CPU time per call", 9, {}};
    chain_shape const shape{64, size.quick ? 1'000u : 3'125u, succeeds};
    chain_shape const longer{64, size.quick ? 1'000u : 12'500u, succeeds};
    std::string const name = retry_callback_io::name;
    auto const add = [&](std::string what, wiring const& wired) {
        result.contenders.push_back(
            {name + what, [=] { return measure_chains<retry_callback_io>(shape, wired(shape.how.policy())); }});
    };
    auto const add_two = [&](std::string what, wiring const& wired, bool shared) {
        result.contenders.push_back(
            {name + ", two threads" + what, [=] { return measure_two(longer, wired, shared); }});
    };
    add("", with_nothing);
    add(", retry_budget", with_budget);
    add(", circuit_breaker", with_breaker);
    add(", both", with_both);
    add(", retry_metrics", with_metrics);
    add_two(", two policies", with_nothing, false);
    add_two(", one policy", with_nothing, true);
    add_two(", two retry_budgets", with_budget, false);
    add_two(", one retry_budget", with_budget, true);
    add_two(", two retry_metrics", with_metrics, false);
    add_two(", one retry_metrics", with_metrics, true);
    return result;
}

} // namespace asio_retry::bench
