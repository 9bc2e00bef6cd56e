#include "exhaustion/scenarios.hpp"

#include <asio_retry/inject.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <memory>

namespace asio_retry::test {
namespace {

retry_policy short_limit() {
    return patient().attempt_timeout(1s);
}

/// Each attempt has one of the faults. The plan ends with the scenario.
auto with_faults(trial& t, fault_options const& options) {
    return t.with_memory([&] {
        auto const plan = std::make_shared<fault_plan>(options);
        plan->enable();
        return plan;
    });
}

// Of a typed executor, as in coroutines.cpp.
asio::awaitable<int, asio::io_context::executor_type> follow_faults(script& s) {
    if (error_code const ec = s.next())
        throw boost::system::system_error(ec);
    co_return 1;
}

} // namespace

std::vector<scenario> faults() {
    auto const plays = [](auto operation, fault_options const& options, error_code expected, bool awaits) {
        return [=](auto& t) {
            auto& s = failing(t, 2);
            retry_policy const policy = t.with_memory(short_limit);
            auto const plan = with_faults(t, options);
            fate& f = t.start(expected, [&](auto handler) {
                async_retry(t.io, inject(operation(t, s), plan), policy, std::move(handler));
            });
            // An initiation under use_awaitable that throws destroys the coroutine that awaits it.
            f.asio_may_lose_it = awaits;
        };
    };
    auto const posts = [](trial& t, script& s) { return posting(t, s); };
    auto const calls = [](trial&, script& s) { return [&s] { return s.next(); }; };
    auto const awaits = [](trial&, script& s) { return [&s] { return follow_faults(s); }; };
    fault_options const errors{.errors = {1, aborted()}}, losses{.lost_answers = {1, timed_out()}},
        delays{.delays = {1, 50ms, 50ms}}, hangs{.hangs = 1};
    std::vector<scenario> all{
        make_scenario("injected_errors", plays(posts, errors, aborted(), false)),
        make_scenario("lost_answers", plays(posts, losses, timed_out(), false)),
        make_scenario("delays", plays(posts, delays, {}, false)),
        make_scenario("delays_of_a_plain_callable", plays(calls, delays, {}, false)),
        make_scenario("hangs", plays(posts, hangs, timed_out(), false)),
    };
    // Asio terminates when it has no memory to destroy a coroutine.
    all.push_back(make_scenario("delays_of_an_awaitable", plays(awaits, delays, {}, true)));
    all.back().once_only = true;
    all.push_back(make_scenario("hangs_of_an_awaitable", plays(awaits, hangs, timed_out(), true)));
    all.back().once_only = true;
    return all;
}

} // namespace asio_retry::test
