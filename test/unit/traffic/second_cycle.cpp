// What has recovered from an outage takes the next outage as it took the first one.
#include <asio_retry/traffic/adaptive_throttle.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/cooldown.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>
#include <asio_retry/traffic/fleet_budget.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>
#include <asio_retry/traffic/window_budget.hpp>

#include "support/attempt_ends.hpp"
#include "support/endpoint_operation.hpp"
#include "support/gate_values.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// An outage after which everything is as before.
struct outage {
    std::string of;
    std::function<int(time_point)> suffer;         ///< returns how much it took until the gate refused
    std::function<time_point(time_point)> recover; ///< returns when it is over
};

/// Attempts that fail until `gate` refuses the next one.
int fail_until_refused(retry_gate& gate, time_point now, duration took = {}) {
    int failed = 0;
    for (; failed != 1000 && gate.admit(1, now).until <= now; ++failed)
        gate.on_end(took == duration::zero() ? failure(failure_kind::transient, now)
                                             : success(now + took, took));
    return failed;
}

time_point succeed(retry_gate& gate, time_point now, int times) {
    for (int i = 0; i != times; ++i) {
        EXPECT_LE(gate.admit(1, now).until, now);
        gate.on_end(success(now));
    }
    return now;
}

int retries_until_refused(retry_gate& gate, time_point now) {
    int granted = 0;
    while (granted != 1000 && grants_retry(gate, now))
        ++granted;
    return granted;
}

outage of_breaker(std::string name, circuit_breaker_options options, duration took = {}) {
    options.open_spread = 0;
    auto const gate = std::make_shared<circuit_breaker>(options);
    return {std::move(name), [=](time_point now) { return fail_until_refused(*gate, now, took); },
            [=](time_point now) { return succeed(*gate, gate->open_until(now), 3); }};
}

/// Its open time after the first failure of a probe, in seconds.
outage of_open_time() {
    auto const gate = std::make_shared<circuit_breaker>(
        circuit_breaker_options{.consecutive = 1, .open_spread = 0, .probes = 1});
    auto const fail = [=](time_point now) {
        fail_until_refused(*gate, now);
        return gate->open_until(now);
    };
    return {"the growth of a breaker's open time",
            [=](time_point now) {
                time_point const second = fail(now);
                return static_cast<int>((fail(second) - second) / 1s);
            },
            [=](time_point now) { return succeed(*gate, gate->open_until(now + 5s), 1); }};
}

outage of_endpoint(std::string name, std::function<attempt_end(time_point)> end, int fast) {
    endpoint_options const options{.breaker = {.consecutive = 5, .open_spread = 0}};
    auto const set = std::make_shared<endpoint_set<int>>(std::vector{0, 1, 2}, options);
    auto const dice = std::make_shared<random>(1);
    auto const end_at = [=](int wanted, attempt_end const& how, time_point now) {
        for (int i = 0; i != 1000; ++i) {
            endpoint_operation one(*set, *dice);
            if (one.begin(now) == wanted)
                return one.end(how, 0);
        }
    };
    auto const is_out = [=](time_point now) { return statuses(*set, now)[2].ejected_until > now; };
    return {std::move(name),
            [=](time_point now) {
                for (int i = 0; i != fast; ++i)
                    for (int each : {0, 1, 2})
                        end_at(each, success(now + 10ms, 10ms), now);
                int ended = 0;
                for (; ended != 1000 && !is_out(now); ++ended)
                    end_at(2, end(now), now);
                return ended;
            },
            [=](time_point now) {
                time_point const back = statuses(*set, now)[2].ejected_until;
                for (int i = 0; i != 40; ++i)
                    for (int each : {0, 1, 2})
                        end_at(each, success(back + 10ms, 10ms), back);
                EXPECT_FALSE(is_out(back + 10ms));
                return back + 10ms;
            }};
}

outage of_cooldown() {
    auto const gate = std::make_shared<cooldown>();
    return {"cooldown",
            [=](time_point now) {
                attempt_end end = failure(failure_kind::throttled, now);
                end.said = pushback::after(7s);
                gate->on_end(end);
                EXPECT_GT(gate->admit(1, now).until, now);
                return static_cast<int>((gate->until() - now) / 1s);
            },
            [=](time_point now) { return succeed(*gate, now + 7s, 1); }};
}

template <typename Budget>
outage of_budget(std::string name, std::shared_ptr<Budget> gate, int successes) {
    return {std::move(name), [=](time_point now) { return retries_until_refused(*gate, now); },
            [=](time_point now) {
                succeed(*gate, now + 1h, successes);
                (void)gate->acquire(failure_kind::transient, now + 1h);
                gate->give_back(failure_kind::transient);
                return now + 2h;
            }};
}

/// Its store grants five tokens when it is asked.
outage of_fleet() {
    auto const gate = std::make_shared<fleet_budget>();
    auto const begun = [=](time_point now) {
        for (int retries = 0;; ++retries) {
            if (!gate->acquire(failure_kind::transient, now))
                return retries;
            if (gate->admit(2, now).until > now) {
                gate->give_back(failure_kind::transient);
                return retries;
            }
            gate->on_end(failure(failure_kind::transient, now));
        }
    };
    return {"fleet_budget",
            [=](time_point now) {
                EXPECT_EQ(begun(now), 0) << "none is left from before";
                EXPECT_TRUE(gate->acquire(failure_kind::transient, now));
                EXPECT_TRUE(gate->poll(now));
                gate->on_granted(5, now);
                gate->give_back(failure_kind::transient);
                return begun(now);
            },
            [](time_point now) { return now + 1h; }};
}

/// How many drops it takes to the least limit.
outage of_limit() {
    auto const gate = std::make_shared<concurrency_limit<aimd>>(aimd({.initial = 20, .greatest = 20}));
    auto const end_one = [=](time_point now, attempt_end const& how) {
        EXPECT_LE(gate->admit(1, now).until, now);
        gate->on_end(how);
    };
    return {"concurrency_limit",
            [=](time_point now) {
                int drops = 0;
                for (; drops != 1000 && gate->limit() != 1; ++drops)
                    end_one(now, failure(failure_kind::timeout, now));
                return drops;
            },
            [=](time_point now) {
                int running = 0;
                for (int i = 0; i != 1000 && gate->limit() != 20; ++i) {
                    for (; gate->admit(1, now).until <= now; ++running) {
                    }
                    gate->on_end(success(now));
                    --running;
                }
                for (; running != 0; --running)
                    gate->on_end(success(now));
                EXPECT_EQ(gate->limit(), 20u);
                return now;
            }};
}

outage of_throttle() {
    auto const gate = std::make_shared<adaptive_throttle>(adaptive_throttle_options{.seed = 1});
    return {"adaptive_throttle",
            [=](time_point now) {
                succeed(*gate, now, 10);
                int failed = 0;
                for (; failed != 1000 && gate->rejection(now) == 0; ++failed) {
                    (void)gate->admit(1, now);
                    gate->on_end(failure(failure_kind::overloaded, now));
                }
                return failed;
            },
            [](time_point now) { return now + 1min; }};
}

TEST(second_cycle, is_as_the_first) {
    std::vector<outage> const outages{
        of_breaker("a breaker of failures in a row", {.consecutive = 5}),
        of_breaker("a breaker of a rate", {.min_attempts = 8}),
        of_breaker("a breaker of the last attempts", {.min_attempts = 8, .last = 10}),
        of_breaker("a breaker of slow attempts", {.min_attempts = 8, .slow_rate = 0.5, .slow = 1s}, 2s),
        of_open_time(),
        of_endpoint(
            "an endpoint that fails", [](time_point now) { return failure(failure_kind::transient, now); }, 0),
        of_endpoint(
            "an endpoint that is slow", [](time_point now) { return success(now + 1s, 1s); }, 15),
        of_endpoint(
            "an endpoint that hedges beat",
            [](time_point now) {
                attempt_end end = abandoned_since(now);
                end.is_beaten = true;
                return end;
            },
            1),
        of_cooldown(),
        of_budget("token_budget", std::make_shared<token_budget>(token_budget_options{.capacity = 10}), 100),
        of_budget("retry_budget",
                  std::make_shared<retry_budget>(retry_budget_options{.keep = 10, .initial = 10}), 200),
        of_budget("window_budget", std::make_shared<window_budget>(), 0),
        of_fleet(),
        of_limit(),
        of_throttle(),
    };
    for (outage const& each : outages) {
        time_point now = noon;
        int const first = each.suffer(now);
        EXPECT_GT(first, 0) << each.of;
        EXPECT_LT(first, 1000) << each.of;
        for (int cycle = 2; cycle != 6; ++cycle) {
            now = each.recover(now);
            EXPECT_EQ(each.suffer(now), first) << each.of << ", cycle " << cycle;
        }
    }
}

} // namespace
} // namespace asio_retry::test
