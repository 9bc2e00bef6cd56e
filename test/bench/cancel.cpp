// Operations that wait for an hour are all cancelled, one after the other.
#include "contenders.hpp"
#include "meter.hpp"
#include "tally.hpp"
#include "workload.hpp"

#include <asio_retry/retry_scope.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <string>
#include <vector>

namespace asio_retry::bench {
namespace {

using namespace std::chrono_literals;

plan const hour{1, 1h, 1h, spread::none};

struct context_of_operations {
    asio::io_context io{1};
    asio::steady_timer const makes_the_reactor{io};
    retry_policy const policy = hour.policy();
    tally<> ended;
};

/// Where the operations wait that `begin_all` starts, and that `cancel_all` cancels.
template <typename Begin, typename Cancel>
figures measure(context_of_operations& all, std::size_t operations, Begin begin_all, Cancel cancel_all) {
    usage const empty = used_so_far();
    begin_all();
    all.io.poll(); // until nothing is left but to wait
    usage const waiting = used_so_far();
    cancel_all();
    all.io.restart();
    all.io.run();
    usage const after = used_so_far();
    all.ended.expect(0, operations);
    auto const count = static_cast<double>(operations);
    return {{"cpu_ns", (after.cpu_ns - waiting.cpu_ns) / count},
            {"allocations", static_cast<double>(waiting.allocations - empty.allocations) / count},
            {"bytes", static_cast<double>(waiting.live_bytes - empty.live_bytes) / count},
            {"left_bytes", static_cast<double>(after.live_bytes - empty.live_bytes) / count}};
}

template <typename Contender>
figures through_slots(std::size_t operations) {
    trim_heap();
    auto const signals = std::make_unique<asio::cancellation_signal[]>(operations);
    context_of_operations all;
    return measure(
        all, operations,
        [&] {
            for (std::size_t i = 0; i != operations; ++i)
                Contender::start(
                    all.io, hour, all.policy, unobserved(),
                    asio::bind_cancellation_slot(signals[i].slot(), count_end<tally<>>{&all.ended}));
        },
        [&] {
            for (std::size_t i = 0; i != operations; ++i)
                signals[i].emit(asio::cancellation_type::terminal);
        });
}

figures through_timers(std::size_t operations) {
    using retry = retry_by_callback<token_operation<io_executor>, count_end<tally<>>>;
    trim_heap();
    std::vector<retry*> running(operations);
    context_of_operations all;
    return measure(
        all, operations,
        [&] {
            for (retry*& one : running)
                one = hand_callbacks::start(all.io, hour, retry_policy(), unobserved(),
                                            count_end<tally<>>{&all.ended});
        },
        [&] {
            for (retry* const one : running)
                one->cancel();
        });
}

figures through_scope(std::size_t operations) {
    trim_heap();
    context_of_operations all;
    retry_scope scope(all.io);
    return measure(
        all, operations,
        [&] {
            for (std::size_t i = 0; i != operations; ++i)
                async_retry(scope, make_operation(all.io, hour, unobserved()), all.policy,
                            count_end<tally<>>{&all.ended});
        },
        [&] { scope.cancel(); });
}

workload cancel(std::string const& name, std::size_t operations, unsigned repetitions) {
    workload result{
        name,
        std::to_string(operations) +
            " operations wait for an hour and are cancelled; CPU time per operation until all have ended",
        repetitions,
        {}};
    auto const add = [&]<typename Contender>() {
        result.contenders.push_back({Contender::name, [=] { return through_slots<Contender>(operations); }});
    };
    add.operator()<hand_as_tuple>();
    add.operator()<hand_exceptions>();
    result.contenders.push_back({hand_callbacks::name, [=] { return through_timers(operations); }});
    for_each_of(retries(), add);
    result.contenders.push_back(
        {"async_retry in a retry_scope: scope.cancel()", [=] { return through_scope(operations); }});
    return result;
}

} // namespace

workload cancel_100k(scale) {
    return cancel("cancel_100k", 100'000, 3);
}

workload cancel_1m(scale) {
    return cancel("cancel_1m", 1'000'000, 2);
}

} // namespace asio_retry::bench
