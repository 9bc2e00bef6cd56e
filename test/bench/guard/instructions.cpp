// Runs one short workload, to be counted by callgrind, and prints how many operations that were.
#include "instructions.hpp"
#include "flaky.hpp"
#include "plan.hpp"

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/observe/retry_traces.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry_scheduler.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

extern "C" [[gnu::noinline]] void measured_work(void (*work)(void*), void* state) {
    work(state);
}

namespace asio_retry::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t count = 1000;

/// For what draws numbers: it counts the same in each run.
constexpr std::uint64_t repeatable = 1;

plan const succeeds{0, 10ms, 1s, spread::full};
plan const fails_thrice{3, 0ms, 0ms, spread::none};
plan const fails_five_times{5, 10ms, 1s, spread::full};
plan const waits_for_long{1, 1h, 1h, spread::none};

using callback_attempts = token_operation<io_executor>;
using awaitable_attempts = awaitable_operation<asio::any_io_executor, callback_attempts>;

callback_attempts callback_operation(asio::io_context& io, plan const& how) {
    return {io.get_executor(), how.failures, {}};
}

/// The operation that nobody retries, one after the other.
void bare_callbacks() {
    asio::io_context io(1);
    std::size_t left = count;
    std::function<void()> next = [&] {
        callback_operation(io, succeeds)(asio::bind_executor(io.get_executor(), [&](error_code) {
            if (--left != 0)
                next();
        }));
    };
    asio::post(io, next);
    measure([&] { io.run(); });
}

/// One operation after the other.
void callbacks(plan const& how, retry_policy const& policy) {
    asio::io_context io(1);
    std::size_t left = count;
    std::function<void()> next = [&] {
        async_retry(io.get_executor(), callback_operation(io, how), policy, [&](error_code) {
            if (--left != 0)
                next();
        });
    };
    asio::post(io, next);
    measure([&] { io.run(); });
}

/// Each attempt at one of so many endpoints.
void callbacks_at_endpoints(int endpoints) {
    std::vector<int> numbers(static_cast<std::size_t>(endpoints));
    std::iota(numbers.begin(), numbers.end(), 0);
    auto const set = std::make_shared<endpoint_set<int>>(std::move(numbers));
    retry_policy const policy = succeeds.policy();
    asio::io_context io(1);
    virtual_time const time(io); // each answer takes none
    scheduler(io).seed(repeatable);
    std::size_t left = count;
    std::function<void()> next = [&] {
        auto attempt = [operation = callback_operation(io, succeeds)](int, auto token) mutable {
            return operation(std::move(token));
        };
        async_retry(io.get_executor(), on_endpoint(std::move(attempt), set), policy, [&](error_code) {
            if (--left != 0)
                next();
        });
    };
    asio::post(io, next);
    measure([&] { io.run(); });
}

retry_policy gated(std::shared_ptr<retry_gate> gate) {
    return succeeds.policy().gate(std::move(gate));
}

void rethrow(std::exception_ptr const& failure) {
    if (failure)
        std::rethrow_exception(failure);
}

asio::awaitable<void> await_all(io_executor executor, plan how, retry_policy policy, std::size_t calls) {
    for (std::size_t i = 0; i != calls; ++i) {
        awaitable_attempts operation{{executor, how.failures, {}}};
        auto [error] = co_await async_retry(std::move(operation), policy, asio::as_tuple(asio::use_awaitable));
        if (error)
            throw boost::system::system_error(error);
    }
}

void awaitables(plan const& how, asio::cancellation_slot slot = {}) {
    asio::io_context io(1);
    asio::co_spawn(io, await_all(io.get_executor(), how, how.policy(), count),
                   asio::bind_cancellation_slot(slot, rethrow));
    measure([&] { io.run(); });
}

/// In a coroutine that somebody may cancel.
void cancellable_awaitables(plan const& how) {
    asio::cancellation_signal signal;
    awaitables(how, signal.slot());
}

/// All operations together. In virtual time a wait costs a step of the clock besides.
void five_waits_callback() {
    asio::io_context io(1);
    virtual_time time(io);
    scheduler(io).seed(repeatable);
    retry_policy const policy = fails_five_times.policy();
    for (std::size_t i = 0; i != count; ++i)
        async_retry(io.get_executor(), callback_operation(io, fails_five_times), policy, [](error_code) {});
    measure([&] { time.run(); });
}

void five_waits_awaitable() {
    asio::io_context io(1);
    virtual_time time(io);
    scheduler(io).seed(repeatable);
    retry_policy const policy = fails_five_times.policy();
    for (std::size_t i = 0; i != count; ++i) {
        awaitable_attempts operation{callback_operation(io, fails_five_times)};
        asio::co_spawn(io, async_retry(std::move(operation), policy, asio::as_tuple(asio::use_awaitable)),
                       [](std::exception_ptr, std::tuple<error_code>) {});
    }
    measure([&] { time.run(); });
}

/// Under time limits, as a program has them: many at a time. They are long, or a slow run would move them
/// within the wheel.
constexpr std::size_t chains = 20;

retry_policy limited_policy() {
    return succeeds.policy().attempt_timeout(1h).total_timeout(10h);
}

template <typename Start>
void limited_chains(Start const& start) {
    asio::io_context io(1);
    for (std::size_t i = 0; i != chains; ++i)
        start(io);
    measure([&] { io.run(); });
}

template <typename Executor>
void limited_awaitables(Executor (*executor_of)(asio::io_context&)) {
    limited_chains([&](asio::io_context& io) {
        asio::co_spawn(executor_of(io),
                       await_all(io.get_executor(), succeeds, limited_policy(), count / chains), rethrow);
    });
}

/// The same with a handler, of `start(executor, operation, handler)`.
template <typename Start>
void limited_callbacks(Start const& start) {
    std::size_t left = count;
    std::function<void(asio::io_context&)> next = [&](asio::io_context& io) {
        start(io.get_executor(), callback_operation(io, succeeds), [&](error_code) {
            if (left > chains) {
                --left;
                next(io);
            }
        });
    };
    limited_chains([&](asio::io_context& io) { asio::post(io, [&] { next(io); }); });
}

void limited_callbacks() {
    limited_callbacks([policy = limited_policy()](auto executor, auto operation, auto handler) {
        async_retry(executor, std::move(operation), policy, std::move(handler));
    });
}

/// Hedges that are not needed.
void hedged_callbacks() {
    limited_callbacks([policy = hedge_policy(1h)](auto executor, auto operation, auto handler) {
        async_hedge(executor, std::move(operation), policy, std::move(handler));
    });
}

asio::awaitable<void> await_all_in(retry_scope& scope, retry_policy policy, std::size_t calls) {
    auto const executor = co_await asio::this_coro::executor;
    io_executor const io = *executor.target<io_executor>();
    for (std::size_t i = 0; i != calls; ++i) {
        awaitable_attempts operation{{io, 0, {}}};
        auto [error] =
            co_await async_retry(scope, std::move(operation), policy, asio::as_tuple(asio::use_awaitable));
        if (error)
            throw boost::system::system_error(error);
    }
}

void scoped_awaitables(retry_policy const& policy) {
    std::optional<retry_scope> scope;
    limited_chains([&](asio::io_context& io) {
        if (!scope)
            scope.emplace(io);
        asio::co_spawn(io, await_all_in(*scope, policy, count / chains), rethrow);
    });
}

/// What one would write instead: the attempt, and a timer that is kept.
asio::awaitable<void> await_all_by_hand(io_executor executor, std::size_t calls) {
    asio::steady_timer limit(co_await asio::this_coro::executor);
    for (std::size_t i = 0; i != calls; ++i) {
        awaitable_attempts operation{{executor, 0, {}}};
        asio::cancellation_signal stop;
        limit.expires_after(1h);
        limit.async_wait([&](error_code code) {
            if (!code)
                stop.emit(asio::cancellation_type::terminal);
        });
        auto [error] = co_await operation();
        limit.cancel();
        if (error)
            throw boost::system::system_error(error);
    }
}

template <typename Executor>
void limited_by_hand(Executor (*executor_of)(asio::io_context&)) {
    limited_chains([&](asio::io_context& io) {
        asio::co_spawn(executor_of(io), await_all_by_hand(io.get_executor(), count / chains), rethrow);
    });
}

io_executor own(asio::io_context& io) {
    return io.get_executor();
}
asio::strand<io_executor> strand_of(asio::io_context& io) {
    return asio::make_strand(io);
}

void cancel_callback() {
    asio::io_context io(1);
    retry_policy const policy = waits_for_long.policy();
    std::deque<asio::cancellation_signal> signals(count);
    for (asio::cancellation_signal& signal : signals)
        async_retry(io.get_executor(), callback_operation(io, waits_for_long), policy,
                    asio::bind_cancellation_slot(signal.slot(), [](error_code) {}));
    io.poll();
    measure([&] {
        for (asio::cancellation_signal& signal : signals)
            signal.emit(asio::cancellation_type::terminal);
        io.run();
    });
}

struct workload_to_count {
    std::size_t operations;
    std::function<void()> run;
};

std::map<std::string, workload_to_count> const workloads{
    {"bare_callback", {count, bare_callbacks}},
    {"first_try_callback", {count, [] { callbacks(succeeds, succeeds.policy()); }}},
    {"first_try_budget", {count, [] { callbacks(succeeds, gated(std::make_shared<retry_budget>())); }}},
    {"first_try_breaker", {count, [] { callbacks(succeeds, gated(std::make_shared<circuit_breaker>())); }}},
    {"first_try_endpoints_3", {count, [] { callbacks_at_endpoints(3); }}},
    {"first_try_endpoints_1000", {count, [] { callbacks_at_endpoints(1000); }}},
    {"first_try_metrics",
     {count, [] { callbacks(succeeds, succeeds.policy().observe(std::make_shared<retry_metrics>())); }}},
    {"first_try_unsampled",
     {count,
      [] {
          auto const traces = std::make_shared<retry_traces>(trace_options{.sampled = 1e-9, .seed = 1});
          callbacks(succeeds, succeeds.policy().observe(traces));
      }}},
    {"first_try_awaitable", {count, [] { awaitables(succeeds); }}},
    {"first_try_cancellable", {count, [] { cancellable_awaitables(succeeds); }}},
    {"first_try_limited", {count, [] { limited_awaitables(own); }}},
    {"first_try_limited_callback", {count, [] { limited_callbacks(); }}},
    {"first_try_hedged", {count, hedged_callbacks}},
    {"first_try_limited_by_hand", {count, [] { limited_by_hand(own); }}},
    {"first_try_limited_strand", {count, [] { limited_awaitables(strand_of); }}},
    {"first_try_limited_strand_by_hand", {count, [] { limited_by_hand(strand_of); }}},
    {"first_try_scoped", {count, [] { scoped_awaitables(succeeds.policy()); }}},
    {"first_try_scoped_limited", {count, [] { scoped_awaitables(limited_policy()); }}},
    {"zero_delay_callback", {count, [] { callbacks(fails_thrice, fails_thrice.policy()); }}},
    {"five_waits_callback", {count, five_waits_callback}},
    {"five_waits_awaitable", {count, five_waits_awaitable}},
    {"cancel_callback", {count, cancel_callback}},
    {"schedule_and_cancel_1k", {1'000, [] { schedule_and_cancel(1'000); }}},
    {"schedule_and_cancel_100k", {100'000, [] { schedule_and_cancel(100'000); }}},
    {"schedule_and_cancel_1m", {1'000'000, [] { schedule_and_cancel(1'000'000); }}},
};

} // namespace
} // namespace asio_retry::bench

int main(int argc, char** argv) {
    auto const& known = asio_retry::bench::workloads;
    auto const found = argc == 2 ? known.find(argv[1]) : known.end();
    if (found == known.end()) {
        std::cerr << "usage: instructions WORKLOAD\n";
        for (auto const& [name, workload] : known)
            std::cerr << "  " << name << '\n';
        return 2;
    }
    found->second.run();
    std::cout << found->second.operations;
}
