// A storm on a context that two threads run, or more. The figures of one thread stand beside it, on a context
// that was told so, as everywhere else.
#include "contenders.hpp"
#include "meter.hpp"
#include "tally.hpp"
#include "workload.hpp"

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

template <typename Contender>
figures measure(int threads) {
    constexpr std::size_t operations = 100'000;
    plan const how{5, 10ms, 1s, spread::full};
    trim_heap();
    asio::io_context io(threads);
    asio::steady_timer const makes_the_reactor(io);
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
    for_each_of(std::tuple<hand_as_tuple, hand_callbacks, retry_callback_io, retry_awaitable_any>(),
                add_more_threads);
    return result;
}

} // namespace asio_retry::bench
