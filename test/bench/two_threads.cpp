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
        return async_retry(*the_scope, make_coroutine<awaitable_operation>(io, how, observer), policy,
                           asio::as_tuple(asio::use_awaitable));
    }
};

/// Operations in one scope on a context that so many threads run.
struct operations_of_threads {
    operations_of_threads(int threads, plan const& each)
        : how(each)
        , io(threads) {
        the_scope = &scope;
    }

    template <typename Contender>
    void start() {
        for (std::size_t i = 0; i != count; ++i)
            Contender::start(io, how, policy, unobserved(), count_end<atomic_tally>{&ended});
    }

    std::vector<std::thread> run_on(int new_threads) {
        std::vector<std::thread> result;
        for (int i = 0; i != new_threads; ++i)
            result.emplace_back([this] {
                io.run();
                add_thread_to_total();
            });
        return result;
    }

    using atomic_tally = tally<std::atomic<std::size_t>>;

    static constexpr std::size_t count = 100'000;
    plan const how;
    asio::io_context io;
    asio::steady_timer const makes_the_reactor{io};
    retry_scope scope{io};
    retry_policy const policy = how.policy();
    atomic_tally ended;
};

/// They wait for an hour, and another thread cancels their scope.
template <typename Contender>
figures measure_cancel(int threads) {
    trim_heap();
    operations_of_threads all(threads, plan{1, 1h, 1h, spread::none});
    all.start<Contender>();
    std::vector<std::thread> runners = all.run_on(threads);
    while (scheduler(all.io).pending() != all.count)
        std::this_thread::sleep_for(1ms);
    usage const waiting = used_so_far();
    all.scope.cancel();
    for (std::thread& runner : runners)
        runner.join();
    usage const after = used_so_far();
    all.ended.expect(0, all.count);
    return {{"cpu_ns", (after.cpu_ns - waiting.cpu_ns) / all.count}};
}

template <typename Contender>
figures measure(int threads) {
    trim_heap();
    operations_of_threads all(threads, plan{5, 10ms, 1s, spread::full});
    usage const before = used_so_far();
    all.start<Contender>();
    std::vector<std::thread> others = all.run_on(threads - 1);
    all.io.run();
    for (std::thread& other : others)
        other.join();
    usage const after = used_so_far();
    all.ended.expect(all.count, 0);
    return {{"cpu_ns", (after.cpu_ns - before.cpu_ns) / all.count / all.how.failures},
            {"allocations", static_cast<double>(after.allocations - before.allocations) / all.count},
            {"left_bytes", static_cast<double>(after.live_bytes - before.live_bytes) / all.count}};
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
