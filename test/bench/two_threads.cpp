// A storm on a context that two threads run, or more. The figures of one thread stand beside it, on a context
// that was told so, as everywhere else.
#include "contenders.hpp"
#include "meter.hpp"
#include "tally.hpp"
#include "workload.hpp"

#include <asio_retry/retry_scope.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace asio_retry::bench {
namespace {

using namespace std::chrono_literals;

// --- one scope for all operations, and so one mutex

retry_scope* the_scope = nullptr;

struct scoped_callback {
    static constexpr char const* name = "async_retry: callback, all in one retry_scope";

    template <typename Observer, typename Handler>
    static void start(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer,
                      Handler handler) {
        async_retry(*the_scope, make_operation(io, how, observer), policy, std::move(handler));
    }
};

struct scoped_awaitable : spawned<scoped_awaitable> {
    static constexpr char const* name = "async_retry: awaitable, all in one retry_scope";

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer) {
        using operation = token_operation<io_executor, Observer>;
        return async_retry(
            *the_scope,
            awaitable_operation<asio::any_io_executor, operation>{make_operation(io, how, observer)}, policy,
            asio::as_tuple(asio::use_awaitable));
    }
};

/// They wait for an hour, on a context that so many threads run, and another thread cancels their scope.
template <typename Contender>
figures measure_cancel(int threads) {
    constexpr std::size_t operations = 100'000;
    plan const how{1, 1h, 1h, spread::none};
    trim_heap();
    asio::io_context io(threads);
    asio::steady_timer const makes_the_reactor(io);
    retry_scope scope(io);
    the_scope = &scope;
    retry_policy const policy = how.policy();
    using atomic_tally = tally<std::atomic<std::size_t>>;
    atomic_tally ended;
    for (std::size_t i = 0; i != operations; ++i)
        Contender::start(io, how, policy, unobserved(), count_end<atomic_tally>{&ended});
    std::vector<std::thread> runners;
    for (int i = 0; i != threads; ++i)
        runners.emplace_back([&] {
            io.run();
            add_thread_to_total();
        });
    while (scheduler(io).pending() != operations)
        std::this_thread::sleep_for(1ms);
    usage const waiting = used_so_far();
    scope.cancel();
    for (std::thread& runner : runners)
        runner.join();
    usage const after = used_so_far();
    ended.expect(0, operations);
    return {{"cpu_ns", (after.cpu_ns - waiting.cpu_ns) / operations}};
}

template <typename Contender>
figures measure(int threads) {
    constexpr std::size_t operations = 100'000;
    plan const how{5, 10ms, 1s, spread::full};
    trim_heap();
    asio::io_context io(threads);
    asio::steady_timer const makes_the_reactor(io);
    retry_scope scope(io);
    the_scope = &scope;
    retry_policy const policy = how.policy();
    using atomic_tally = tally<std::atomic<std::size_t>>;
    atomic_tally ended;

    usage const before = used_so_far();
    for (std::size_t i = 0; i != operations; ++i)
        Contender::start(io, how, policy, unobserved(), count_end<atomic_tally>{&ended});
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i)
        others.emplace_back([&] {
            io.run();
            add_thread_to_total();
        });
    io.run();
    for (std::thread& other : others)
        other.join();
    usage const after = used_so_far();
    ended.expect(operations, 0);
    return {{"cpu_ns", (after.cpu_ns - before.cpu_ns) / operations / how.failures},
            {"allocations", static_cast<double>(after.allocations - before.allocations) / operations},
            {"left_bytes", static_cast<double>(after.live_bytes - before.live_bytes) / operations}};
}

} // namespace

workload two_threads(scale) {
    workload result{
        "two_threads", "storm_100k on a context that two threads run; CPU time of both per wait", 3, {}};
    auto const add = [&]<typename Contender>() {
        std::string const name = Contender::name;
        result.contenders.push_back({name, [] { return measure<Contender>(2); }});
        result.contenders.push_back({name + ", one thread", [] { return measure<Contender>(1); }});
    };
    auto const add_more_threads = [&]<typename Contender>() {
        std::string const name = Contender::name;
        result.contenders.push_back({name + ", four threads", [] { return measure<Contender>(4); }});
        result.contenders.push_back({name + ", eight threads", [] { return measure<Contender>(8); }});
    };
    for_each_of(loops_over_tokens(), add);
    for_each_of(retries(), add);
    for_each_of(std::tuple<scoped_callback, scoped_awaitable>(), add);
    for_each_of(std::tuple<hand_as_tuple, hand_callbacks, retry_callback_io, retry_awaitable_any,
                           scoped_callback, scoped_awaitable>(),
                add_more_threads);
    return result;
}

workload cancel_two_threads(scale) {
    workload result{
        "cancel_two_threads",
        "100 000 operations of one retry_scope wait on a context that two threads run, and another thread "
        "cancels that; CPU time of all per operation",
        3,
        {}};
    for_each_of(std::tuple<scoped_callback, scoped_awaitable>(), [&]<typename Contender>() {
        std::string const name = Contender::name;
        result.contenders.push_back({name, [] { return measure_cancel<Contender>(2); }});
        result.contenders.push_back({name + ", one thread", [] { return measure_cancel<Contender>(1); }});
        result.contenders.push_back({name + ", four threads", [] { return measure_cancel<Contender>(4); }});
        result.contenders.push_back({name + ", eight threads", [] { return measure_cancel<Contender>(8); }});
    });
    return result;
}

} // namespace asio_retry::bench
