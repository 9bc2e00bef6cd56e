#pragma once

// Many operations that begin together, as when a server is lost, and wait again and again.

#include "contenders.hpp"
#include "meter.hpp"
#include "plan.hpp"
#include "result.hpp"
#include "tally.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace asio_retry::bench {

struct storm_shape {
    std::size_t operations;
    plan how;
    std::optional<duration> slack = {};
};

inline void set_slack(asio::io_context& io, storm_shape const& shape) {
    if (shape.slack)
        scheduler(io).slack(*shape.slack);
}

template <typename Contender>
figures measure_storm(storm_shape const& shape) {
    trim_heap();
    asio::io_context io(1);
    asio::steady_timer const makes_the_reactor(io);
    set_slack(io, shape);
    retry_policy const policy = shape.how.policy();
    storm_memory memory{io, shape.operations, shape.how.failures};
    memory_observer::storm = &memory;
    tally<> ended;

    usage const before = used_so_far();
    for (std::size_t i = 0; i != shape.operations; ++i)
        Contender::start(io, shape.how, policy, memory_observer(), count_end<tally<>>{&ended});
    io.run();
    usage const after = used_so_far();

    ended.expect(shape.operations, 0);
    auto const operations = static_cast<double>(shape.operations);
    return {{"cpu_ns", (after.cpu_ns - before.cpu_ns) / operations / shape.how.failures},
            {"allocations", static_cast<double>(after.allocations - before.allocations) / operations},
            {"post_allocations", static_cast<double>(memory.allocations_of_posts) / operations},
            {"bytes", static_cast<double>(memory.live_bytes_when_all_wait - before.live_bytes) / operations},
            {"left_bytes", static_cast<double>(after.live_bytes - before.live_bytes) / operations}};
}

template <typename Contender>
inline constexpr bool retries_by_hand = requires { Contender::writes_its_own_loop; };

/// How late every single wait ended, in microseconds, in order.
template <typename Contender>
std::vector<float> record_lateness(storm_shape const& shape) {
    trim_heap();
    std::vector<float> late_us;
    late_us.reserve(shape.operations * shape.how.failures);
    std::vector<late_record> records(shape.operations);
    retry_policy const policy = shape.how.policy();
    for (late_record& record : records) {
        record.late_us = &late_us;
        if constexpr (!retries_by_hand<Contender>)
            record.policy = policy.on_retry([own = &record](retry_event const& failed) {
                own->due = std::chrono::steady_clock::now() + failed.delay;
            });
    }

    asio::io_context io(1);
    asio::steady_timer const makes_the_reactor(io);
    set_slack(io, shape);
    tally<> ended;
    for (late_record& record : records)
        Contender::start(io, shape.how, record.policy, late_observer{&record}, count_end<tally<>>{&ended});
    io.run();
    ended.expect(shape.operations, 0);
    if (late_us.size() != shape.operations * shape.how.failures)
        throw std::logic_error("some waits were not recorded");
    std::sort(late_us.begin(), late_us.end());
    return late_us;
}

inline figures percentiles(std::vector<float> const& sorted) {
    return {{"late_p50_us", sorted[sorted.size() / 2]},
            {"late_p99_us", sorted[sorted.size() / 100 * 99]},
            {"late_p999_us", sorted[sorted.size() * 999 / 1000]},
            {"late_max_us", sorted.back()}};
}

} // namespace asio_retry::bench
