#include "support/clock_reads.hpp"
#include "support/failing_allocation.hpp"
#include "support/recording_gate.hpp"
#include "support/rpc_status.hpp"
#include "support/scripted_operation.hpp"

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/inject.hpp>
#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/observe/retry_traces.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// Two failures, two waits and a success, again and again.
class costs : public testing::Test {
protected:
    asio::io_context io;
    virtual_time time{io};
    script played;
    retry_policy const policy = retry_policy().backoff(constant(100ms)).jitter(no_jitter());

    auto operation() {
        return [this](auto token) { return async_scripted(io, played, std::move(token)); };
    }

    /// How often 100 operations allocate, when those before have left their memory for them.
    template <typename Start>
    std::uint64_t allocations_of(Start start, std::size_t failures = 2) {
        auto const play = [&] {
            for (int i = 0; i != 100; ++i) {
                played.errors.assign(failures, refused());
                played.attempts = 0;
                start();
                time.run();
                EXPECT_EQ(played.attempts, failures + 1);
            }
        };
        play();
        failing_allocation const counted(memory::global, shortage::once,
                                         std::numeric_limits<std::uint64_t>::max());
        play();
        return counted.count();
    }
};

TEST_F(costs, a_scope_costs_an_operation_no_allocation) {
    retry_scope parent(io.get_executor());
    retry_scope scope(parent);
    asio::any_io_executor const executor = io.get_executor();
    std::uint64_t const without =
        allocations_of([&] { async_retry(executor, operation(), policy, [](error_code, int) {}); });
    std::uint64_t const with =
        allocations_of([&] { async_retry(scope, operation(), policy, [](error_code, int) {}); });
    EXPECT_EQ(with, without);

    std::optional<retry_scope> own;
    std::uint64_t const control = allocations_of([&] {
        own.emplace(scope);
        async_retry(*own, operation(), policy, [](error_code, int) {});
    });
    EXPECT_GE(control, with + 100) << "a scope itself is allocated, and that is seen";
}

TEST_F(costs, a_gate_costs_a_success_at_the_first_try_nothing_and_a_failed_operation_one_allocation) {
    auto const on_done = [](error_code, int) {};
    retry_policy const gated = policy.gate(std::make_shared<retry_gate>());
    auto const with = [&](retry_policy const& p, std::size_t failures) {
        return allocations_of([&] { async_retry(io, operation(), p, on_done); }, failures);
    };
    EXPECT_EQ(with(gated, 0), with(policy, 0));
    EXPECT_EQ(with(gated, 2), with(policy, 2) + 100);
}

TEST_F(costs, a_disposition_costs_no_allocation) {
    scripted_calls calls;
    auto const operation_with_statuses = [&](auto token) {
        ++played.attempts;
        return calls.async_call(io, std::move(token));
    };
    std::uint64_t const without =
        allocations_of([&] { async_retry(io, operation(), policy, [](error_code, int) {}); });
    std::uint64_t const with = allocations_of([&] {
        calls.made = 0;
        calls.statuses.assign(2, unavailable(""));
        async_retry(io, operation_with_statuses, policy, [](rpc_status const&, int) {});
    });
    EXPECT_EQ(with, without);
}

TEST_F(costs, a_report_that_is_used_again_costs_no_allocation) {
    retry_report report;
    std::uint64_t const without =
        allocations_of([&] { async_retry(io, operation(), policy, [](error_code, int) {}); });
    std::uint64_t const with = allocations_of(
        [&] { async_retry(io, with_report(operation(), report), policy, [](error_code, int) {}); });
    EXPECT_EQ(report.attempts, 3u);
    EXPECT_EQ(with, without);
}

TEST_F(costs, a_name_costs_an_operation_no_allocation) {
    std::uint64_t told = 0;
    retry_report report;
    auto const reported = [&](retry_policy const& p) {
        return allocations_of(
            [&] { async_retry(io, with_report(operation(), report), p, [](error_code, int) {}); });
    };
    retry_policy const heard =
        policy.observe(std::make_shared<retry_metrics>()).on_retry([&](retry_event const& e) {
            told += e.policy.size();
        });
    std::string const name(100, 'n'); // no string keeps so many bytes within itself
    std::uint64_t const without = reported(heard);
    EXPECT_EQ(told, 0u);
    EXPECT_EQ(report.policy, "");
    EXPECT_EQ(reported(heard.name(name)), without);
    EXPECT_EQ(told, 2u * 200 * 100);
    EXPECT_EQ(report.policy, name);
    EXPECT_EQ(reported(heard), without);
    EXPECT_EQ(report.policy, "") << "the report is of the last operation";
}

TEST_F(costs, hooks_of_an_operation_cost_no_allocation) {
    std::uint64_t told = 0;
    auto const on_retry = [&](retry_event const&) { ++told; };
    auto const on_end = [&](retry_event const&) { ++told; };
    auto const with_callback = [&](auto make) {
        return allocations_of([&] { async_retry(io, make(), policy, [](error_code, int) {}); });
    };
    std::uint64_t const without = with_callback([&] { return operation(); });
    EXPECT_EQ(with_callback([&] { return with_hooks(operation(), on_retry, on_end); }), without);
    EXPECT_EQ(told, 3u * 200);
    EXPECT_GE(allocations_of([&] {
                  async_retry(io, operation(), policy.on_retry(on_retry).on_give_up(on_end),
                              [](error_code, int) {});
              }),
              without + 400)
        << "those of a policy of its own are seen";

    auto const awaits = [&](auto make) {
        return allocations_of([&] {
            auto body = [&]() -> asio::awaitable<void> {
                auto awaited = make();
                co_await async_retry(awaited, policy);
            };
            asio::co_spawn(io, body, asio::detached);
        });
    };
    auto const fetch = [this]() -> asio::awaitable<void> {
        if (error_code const ec = played.next())
            throw boost::system::system_error(ec);
        co_return;
    };
    std::uint64_t const awaited = awaits([&] { return fetch; });
    EXPECT_EQ(awaits([&] { return with_hooks(fetch, on_retry, on_end); }), awaited);
    std::array<std::uint64_t, 3> const more{1, 2, 3};
    auto const larger = [&, more](retry_event const&) { told += more[0] + more[1] + more[2]; };
    EXPECT_LE(awaits([&] { return with_hooks(fetch, larger, larger); }), awaited + 200)
        << "one for an operation that is large, as for any";
}

// Nor does an attempt without a fault.
TEST_F(costs, decision_71_a_disabled_plan_costs_no_allocation) {
    auto const plan = std::make_shared<fault_plan>(fault_options{.delays = {1, 1s, 1s}});
    auto const with_callback = [&](auto make) {
        return allocations_of([&] { async_retry(io, make(), policy, [](error_code, auto...) {}); });
    };
    auto const awaits = [&](auto make) {
        return allocations_of([&] {
            auto body = [&]() -> asio::awaitable<void> {
                auto awaited = make();
                co_await async_retry(awaited, policy);
            };
            asio::co_spawn(io, body, asio::detached);
        });
    };
    auto const plain = [this] { return played.next(); };
    auto const fetch = [this]() -> asio::awaitable<void> {
        if (error_code const ec = played.next())
            throw boost::system::system_error(ec);
        co_return;
    };
    std::uint64_t const without = with_callback([&] { return operation(); }),
                        without_token = with_callback([&] { return plain; }),
                        without_handler = awaits([&] { return fetch; });
    for (bool enabled : {false, true}) {
        if (enabled) {
            plan->update({});
            plan->enable();
        }
        EXPECT_EQ(with_callback([&] { return inject(operation(), plan); }), without);
        EXPECT_EQ(with_callback([&] { return inject(plain, plan); }), without_token);
        EXPECT_EQ(awaits([&] { return inject(fetch, plan); }), without_handler);
    }
    EXPECT_EQ(plan->counts(), fault_counts{.attempts = 3u * 3 * 200});
    plan->update({.delays = {1, 1s, 1s}});
    EXPECT_GE(with_callback([&] { return inject(operation(), plan); }), without + 300) << "a delay is seen";
}

/// How often operations that succeed at once read the clock in real time, beyond what their context does once.
double reads_of(retry_policy const& policy) {
    auto const reads_of_many = [&](int operations) {
        asio::io_context real;
        script played;
        std::uint64_t const before = clock_reads();
        for (int i = 0; i != operations; ++i)
            async_retry(
                real, [&](auto token) { return async_scripted(real, played, std::move(token)); }, policy,
                [](error_code, int) {});
        real.run();
        return static_cast<double>(clock_reads() - before);
    };
    return (reads_of_many(101) - reads_of_many(1)) / 100;
}

TEST_F(costs, without_a_gate_and_an_observer_nothing_is_read_computed_or_allocated) {
    EXPECT_EQ(reads_of(policy), 0);
    EXPECT_EQ(reads_of(policy.gate(nullptr).observe(nullptr)), 0);
    int computed = 0;
    retry_policy const classifying = policy.classify([&](error_code const& ec) {
        ++computed;
        return classify(ec);
    });
    auto const allocations = [&](retry_policy const& p) {
        return allocations_of([&] { async_retry(io, operation(), p, [](error_code, int) {}); });
    };
    EXPECT_EQ(allocations(classifying), allocations(policy));
    EXPECT_EQ(computed, 0);
    allocations(classifying.gate(std::make_shared<retry_gate>()));
    EXPECT_EQ(computed, 2 * 200) << "it would be seen";
}

TEST_F(costs, a_budget_reads_no_clock_for_a_success_and_who_measures_time_reads_it_twice) {
    EXPECT_EQ(reads_of(policy.gate(std::make_shared<retry_budget>())), 0);
    EXPECT_EQ(reads_of(policy.gate(std::make_shared<recording_gate>(false))), 0);
    EXPECT_EQ(reads_of(policy.gate(std::make_shared<circuit_breaker>())), 2);
    EXPECT_EQ(reads_of(policy.observe(std::make_shared<retry_metrics>())), 2);
}

TEST_F(costs, decision_68_an_operation_that_is_not_sampled_costs_no_allocation_and_no_clock) {
    auto const traces = std::make_shared<retry_traces>(trace_options{.sampled = 1e-9, .seed = 1});
    retry_policy const traced = policy.observe(traces);
    auto const with = [&](retry_policy const& p) {
        return allocations_of([&] { async_retry(io, operation(), p, [](error_code, int) {}); });
    };
    EXPECT_EQ(with(traced), with(policy));
    EXPECT_EQ(reads_of(traced), 0);
    auto const hedged = [&](hedge_policy const& p) {
        return allocations_of([&] { async_hedge(io, operation(), p, [](error_code, int) {}); }, 0);
    };
    EXPECT_EQ(hedged(hedge_policy(1s).observe(traces)), hedged(hedge_policy(1s)));
    EXPECT_EQ(traces->ended(), 0u);
}

// What a hook or a predicate of events is told is how long it took.
TEST_F(costs, a_hook_and_a_predicate_of_events_have_the_clock_read_at_the_start) {
    EXPECT_EQ(reads_of(policy.on_retry([](retry_event const&) {})), 1);
    EXPECT_EQ(reads_of(policy.on_give_up([](retry_event const&) {})), 1);
    EXPECT_EQ(reads_of(policy.retry_if([](retry_event const&) { return true; })), 1);
    EXPECT_EQ(reads_of(policy.retry_if([](error_code const&) { return true; })), 0);
    EXPECT_EQ(reads_of(policy.on_success([](retry_event const&) {})), 2)
        << "and at the end, which it is told of";
}

TEST_F(costs, an_observer_costs_an_operation_one_allocation) {
    auto const with = [&](retry_policy const& p, std::size_t failures) {
        return allocations_of([&] { async_retry(io, operation(), p, [](error_code, int) {}); }, failures);
    };
    retry_policy const observed = policy.observe(std::make_shared<retry_metrics>());
    EXPECT_EQ(with(observed, 0), with(policy, 0) + 100);
    EXPECT_EQ(with(observed, 2), with(policy, 2) + 100);
    EXPECT_EQ(with(observed.gate(std::make_shared<retry_gate>()), 2), with(policy, 2) + 100);
}

TEST_F(costs, a_breaker_allocates_for_its_options_alone) {
    int told = 0;
    circuit_breaker breaker({.probes = 1});
    time_point now(1h);
    attempt_end end;
    auto const end_one = [&](attempt_end::how outcome) {
        end.outcome = outcome;
        end.kind = outcome == attempt_end::how::failed ? failure_kind::timeout : failure_kind::none;
        end.now = now;
        breaker.on_end(end);
    };
    failing_allocation const counted(memory::global, shortage::once, std::numeric_limits<std::uint64_t>::max());
    breaker.update({.last = 100, .consecutive = 1, .probes = 1000, .on_change = [&](auto...) { ++told; }});
    std::uint64_t const for_options = counted.count();
    EXPECT_GT(for_options, 0u) << "it would be seen";
    for (int round = 0; round != 3; ++round) {
        end_one(attempt_end::how::failed);
        now += 5s;
        for (int i = 0; i != 1000; ++i)
            EXPECT_EQ(breaker.admit(1, now).until, now);
        for (int i = 0; i != 1000; ++i)
            end_one(attempt_end::how::succeeded);
    }
    EXPECT_EQ(told, 9);
    EXPECT_EQ(counted.count(), for_options);
}

TEST_F(costs, an_observer_costs_an_operation_that_it_does_not_want_nothing) {
    struct choosy final : retry_observer {
        bool wants(std::uint64_t) noexcept override { return false; }
        void on_event(observation const&) noexcept override {}
    };
    retry_policy const unwanted = policy.observe(std::make_shared<choosy>());
    auto const with = [&](retry_policy const& p) {
        return allocations_of([&] { async_retry(io, operation(), p, [](error_code, int) {}); }, 2);
    };
    EXPECT_EQ(with(unwanted), with(policy));
    EXPECT_EQ(reads_of(unwanted), 0);
}

} // namespace
} // namespace asio_retry::test
