#include <asio_retry/traffic/endpoint_set.hpp>

#include "support/endpoint_operation.hpp"
#include "support/gate_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct server {
    duration mean = 10ms; ///< of exponential service times
    bool is_dead = false; ///< fails after 1 ms

    std::uint64_t attempts = 0;
    std::uint64_t failures = 0;
    std::uint64_t slow_before = 0; ///< attempts before it was first ejected
    bool was_ejected = false;
};

/// Operations arrive at random, and each attempt lasts as long as its server wants. A failed attempt is retried
/// at once, at most twice.
class simulation {
public:
    explicit simulation(int count, std::uint64_t seed = 1)
        : set(first_endpoints(count), {.breaker = {.consecutive = 5, .open_spread = 0}})
        , servers(static_cast<std::size_t>(count))
        , dice(seed) {}

    /// `count` operations, `between` one another on the average.
    void run(int count, duration between) {
        for (int i = 0; i < count; ++i) {
            time_point const arrival = now + exponential(between);
            end_until(arrival);
            now = arrival;
            begin(std::make_shared<endpoint_operation>(set, dice));
            if (i % 32 == 0)
                watch();
        }
        end_until(time_point::max());
        watch();
    }

    endpoint_set<int> set;
    std::vector<server> servers;
    time_point now = noon;
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t refused = 0;
    std::uint32_t most_ejected = 0;

private:
    using operation = std::shared_ptr<endpoint_operation>;

    struct running {
        time_point end;
        std::uint64_t order;
        time_point began;
        operation one;
        int at;

        bool operator<(running const& other) const {
            return end != other.end ? end > other.end : order > other.order;
        }
    };

    duration exponential(duration mean) {
        double const u = (static_cast<double>(dice() >> 11) + 1) * 0x1p-53;
        return duration(static_cast<duration::rep>(-std::log(u) * static_cast<double>(mean.count())));
    }

    void begin(operation one) {
        auto const at = one->begin(now);
        if (!at) {
            ++refused;
            return;
        }
        server& asked = servers[static_cast<std::size_t>(*at)];
        ++asked.attempts;
        duration const takes = asked.is_dead ? duration(1ms) : exponential(asked.mean);
        ends.push({now + takes, ++begun, now, std::move(one), *at});
    }

    void end_until(time_point limit) {
        while (!ends.empty() && ends.top().end <= limit) {
            running const ended = ends.top();
            ends.pop();
            now = ended.end;
            server& asked = servers[static_cast<std::size_t>(ended.at)];
            if (!asked.is_dead) {
                ended.one->succeed(now, now - ended.began);
                ++succeeded;
                continue;
            }
            ++asked.failures;
            ended.one->fail(now, now - ended.began);
            if (ended.one->number < 3)
                begin(ended.one);
            else
                ++failed;
        }
    }

    void watch() {
        std::uint32_t out = 0;
        for (auto const& [endpoint, status] : statuses(set, now)) {
            server& one = servers[static_cast<std::size_t>(endpoint)];
            bool const is_out = status.ejected_until > now;
            out += is_out;
            if (is_out && !one.was_ejected)
                one.slow_before = one.attempts;
            one.was_ejected |= is_out;
        }
        most_ejected = std::max(most_ejected, out);
    }

    random dice;
    std::priority_queue<running> ends;
    std::uint64_t begun = 0;
};

TEST(endpoint_simulation, decision_64_equal_endpoints_get_equal_shares) {
    for (duration between : {duration(300us), duration(100ms)}) { // about four run at each, or hardly any
        simulation run(8);
        run.run(1'000'000, between);
        EXPECT_EQ(run.succeeded, 1'000'000u);
        for (server const& each : run.servers)
            EXPECT_NEAR(static_cast<double>(each.attempts), 125'000, 0.03 * 125'000);
        EXPECT_EQ(run.most_ejected, 0u);
    }
}

TEST(endpoint_simulation, decision_64_one_that_is_ten_times_slower_is_ejected_and_no_other) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        for (int count : {3, 8, 100}) {
            simulation run(count, seed);
            run.servers[1].mean = 100ms;
            run.run(600 * count, duration(10ms) / count);
            EXPECT_TRUE(run.servers[1].was_ejected) << count;
            EXPECT_LE(run.servers[1].slow_before, 100u) << count;
            EXPECT_EQ(std::ranges::count_if(run.servers, &server::was_ejected), 1) << count;
        }
}

TEST(endpoint_simulation, decision_64_if_all_become_ten_times_slower_nobody_is_ejected) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        for (int count : {3, 8, 100}) {
            simulation run(count, seed);
            run.run(100 * count, duration(10ms) / count);
            for (server& each : run.servers)
                each.mean = 100ms;
            run.run(200 * count, duration(10ms) / count);
            for (server& each : run.servers)
                each.mean = 10ms;
            run.run(200 * count, duration(10ms) / count);
            EXPECT_EQ(run.most_ejected, 0u) << count;
        }
}

TEST(endpoint_simulation, decision_64_a_dead_one_gets_its_probes_and_no_more) {
    simulation run(8);
    run.servers[3].is_dead = true;
    run.run(200'000, 1ms); // 200 s: it is open for 5, 10, 20, 40, 60 and 60 s
    EXPECT_GE(run.servers[3].attempts, 5u + 5);
    EXPECT_LE(run.servers[3].attempts, 5u + 20 + 6 * 3) << "some ran when it opened";
    EXPECT_EQ(run.failed, 0u);
    EXPECT_EQ(run.refused, 0u);

    run.servers[3].is_dead = false;
    run.run(200'000, 1ms);
    EXPECT_GT(run.servers[3].attempts, 15'000u);
}

TEST(endpoint_simulation, decision_64_if_half_of_them_die_the_others_take_all) {
    simulation run(8);
    run.run(10'000, 1ms);
    for (std::size_t i : {0u, 2u, 4u, 6u})
        run.servers[i].is_dead = true;
    run.run(10'000, 1ms);
    EXPECT_EQ(run.refused, 0u);
    std::uint64_t const before = run.failed;
    run.run(100'000, 1ms);
    EXPECT_EQ(run.failed, before) << "at most some fail until the breakers have opened";
    EXPECT_EQ(run.refused, 0u);
    EXPECT_EQ(run.most_ejected, 4u);
    for (std::size_t i : {1u, 3u, 5u, 7u})
        EXPECT_FALSE(run.servers[i].was_ejected) << i;
}

TEST(endpoint_simulation, decision_64_if_all_die_operations_are_refused_and_return_with_the_first_answer) {
    simulation run(8);
    for (server& each : run.servers)
        each.is_dead = true;
    run.run(10'000, 1ms); // ten seconds
    EXPECT_EQ(run.succeeded, 0u);
    EXPECT_GT(run.refused, 9'000u);
    std::uint64_t attempts = 0;
    for (server const& each : run.servers)
        attempts += each.attempts;
    EXPECT_LE(attempts, 8u * (20 + 8));

    for (server& each : run.servers)
        each.is_dead = false;
    run.run(20'000, 1ms); // the first half of it, they are open
    EXPECT_GT(run.succeeded, 0u);
    std::uint64_t const before = run.refused;
    run.run(10'000, 1ms);
    EXPECT_EQ(run.refused, before);
    for (auto const& [endpoint, status] : statuses(run.set, run.now))
        EXPECT_EQ(status.state, breaker_state::closed) << endpoint;
}

} // namespace
} // namespace asio_retry::test
