#include <asio_retry/retry_gate.hpp>

#include <asio_retry/traffic/adaptive_throttle.hpp>
#include <asio_retry/traffic/attempt_counter.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/cooldown.hpp>
#include <asio_retry/traffic/fleet_budget.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/share_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>
#include <asio_retry/traffic/window_budget.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"
#include "support/split_mix_64.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using gate_pointer = std::shared_ptr<retry_gate>;

template <typename Gate, typename... Options>
std::function<gate_pointer()> makes(Options const&... options) {
    return [=] { return std::make_shared<Gate>(options...); };
}

/// What happens to a gate, and when it is idle again.
struct use_of_gate {
    char const* name;
    std::function<gate_pointer()> make;
    std::function<void(retry_gate&)> use; // at noon
    duration busy_for;                    // and then idle, unless more is to happen, or soon after
    std::function<void(retry_gate&, time_point)> recover = {};
    duration soon = {};
};

void admit(retry_gate& gate) {
    (void)gate.admit(1, noon);
}

void fail_once(retry_gate& gate) {
    (void)gate.admit(1, noon);
    gate.on_end(failure(failure_kind::transient, noon));
}

void succeed(retry_gate& gate, int count, time_point now) {
    for (int i = 0; i != count; ++i)
        gate.on_end(success(now));
}

void take_retry(retry_gate& gate) {
    (void)gate.acquire(failure_kind::transient, noon);
}

void return_retry(retry_gate& gate, time_point) {
    gate.give_back(failure_kind::transient);
}

void abandon(retry_gate& gate, time_point) {
    gate.on_end(abandoned_since(noon));
}

circuit_breaker_options fragile() {
    return {.consecutive = 1, .open_for = 1s, .open_spread = 0, .probes = 1};
}

std::vector<use_of_gate> uses() {
    return {
        {"circuit_breaker", makes<circuit_breaker>(), fail_once, 10s},
        {"circuit_breaker that has heard of successes", makes<circuit_breaker>(),
         [](retry_gate& gate) { succeed(gate, 1, noon); }, 10s},
        {"circuit_breaker that opens after failures in a row",
         makes<circuit_breaker>(circuit_breaker_options{.consecutive = 5}), fail_once, 24h,
         [](retry_gate& gate, time_point now) { gate.on_end(success(now - 1h)); }},
        {"circuit_breaker by a number of attempts", makes<circuit_breaker>(circuit_breaker_options{.last = 10}),
         [](retry_gate& gate) { succeed(gate, 1, noon); }, 24h,
         [](retry_gate& gate, time_point) { dynamic_cast<circuit_breaker&>(gate).reset(); }},
        {"circuit_breaker that is open", makes<circuit_breaker>(fragile()), fail_once, 24h,
         [](retry_gate& gate, time_point now) {
             attempt_end end = success(now);
             end.ticket = gate.admit(1, now).ticket;
             gate.on_end(end);
         }},
        {"circuit_breaker that is isolated", makes<circuit_breaker>(),
         [](retry_gate& gate) { dynamic_cast<circuit_breaker&>(gate).isolate(); }, 24h,
         [](retry_gate& gate, time_point) { dynamic_cast<circuit_breaker&>(gate).reset(); }},
        {"adaptive_throttle", makes<adaptive_throttle>(), admit, 19s, {}, 1s},
        {"adaptive_throttle without an answer", makes<adaptive_throttle>(), admit, 1ms, abandon},
        {"concurrency_limit", makes<concurrency_limit<aimd>>(), admit, 24h, abandon},
        {"concurrency_limit that is lower", makes<concurrency_limit<aimd>>(),
         [](retry_gate& gate) {
             (void)gate.admit(1, noon);
             gate.on_end(failure(failure_kind::timeout, noon, 1s));
         },
         24h,
         [](retry_gate& gate, time_point now) {
             for (int i = 0; i != 20; ++i)
                 (void)gate.admit(1, now);
             for (int i = 0; i != 2; ++i)
                 gate.on_end(success(now, 1ms));
             for (int i = 2; i != 18; ++i)
                 gate.on_end(abandoned_since(now));
         }},
        {"rate_limit", makes<rate_limit>(1u, saturating_duration(1s)), admit, 1s},
        {"rate_limit with a burst", makes<rate_limit>(1u, saturating_duration(1s), 3u), admit, 1s},
        {"rate_limit whose burst is used up", makes<rate_limit>(1u, saturating_duration(1s), 3u),
         [](retry_gate& gate) {
             for (int i = 0; i != 3; ++i)
                 (void)gate.admit(1, noon);
         },
         3s},
        {"rate_limit that has promised a time", makes<rate_limit>(1u, saturating_duration(1s)),
         [](retry_gate& gate) {
             (void)gate.admit(1, noon);
             (void)gate.admit(1, noon);
         },
         2s},
        {"rate_limit with another rate", makes<rate_limit>(1u, saturating_duration(1s)),
         [](retry_gate& gate) {
             (void)gate.admit(1, noon);
             dynamic_cast<rate_limit&>(gate).update(1, 10s);
             (void)gate.admit(1, noon);
         },
         20s},
        {"cooldown", makes<cooldown>(),
         [](retry_gate& gate) {
             attempt_end end = failure(failure_kind::throttled, noon);
             end.said = pushback::after(7s);
             gate.on_end(end);
         },
         7s},
        {"token_budget", makes<token_budget>(), take_retry, 24h, return_retry},
        {"token_budget that began with less", makes<token_budget>(token_budget_options{.initial = 1}),
         take_retry, 24h, [](retry_gate& gate, time_point now) { succeed(gate, 10, now); }},
        {"token_budget with more than at first",
         makes<token_budget>(token_budget_options{.initial = 1, .per_success = 1}),
         [](retry_gate& gate) { succeed(gate, 1, noon); }, 24h,
         [](retry_gate& gate, time_point now) { (void)gate.acquire(failure_kind::transient, now); }},
        {"retry_budget", makes<retry_budget>(), take_retry, 24h, return_retry},
        {"retry_budget that has to earn", makes<retry_budget>(), take_retry, 24h,
         [](retry_gate& gate, time_point now) { succeed(gate, 10, now); }},
        {"retry_budget that has earned",
         makes<retry_budget>(),
         [](retry_gate& gate) {
             (void)dynamic_cast<retry_budget&>(gate).balance(noon);
             succeed(gate, 1, noon);
             (void)dynamic_cast<retry_budget&>(gate).balance(noon);
         },
         184s,
         {},
         1s}, // the tenth fades to less than a billionth
        {"retry_budget with retries without balance",
         makes<retry_budget>(retry_budget_options{.keep = 0, .initial = 0, .per_second = 1}), take_retry, 1s},
        {"share_budget", makes<share_budget>(), admit, 24h, abandon},
        {"share_budget with a retry that waits", makes<share_budget>(), take_retry, 24h, return_retry},
        {"window_budget", makes<window_budget>(), admit, 10s},
        {"window_budget with a retry", makes<window_budget>(), take_retry, 10s},
        {"window_budget whose retry is given back", makes<window_budget>(),
         [](retry_gate& gate) {
             take_retry(gate);
             gate.give_back(failure_kind::transient);
         },
         1s}, // a slot
        {"fleet_budget", makes<fleet_budget>(), take_retry, 24h, return_retry},
        {"fleet_budget that has earned",
         makes<fleet_budget>(),
         [](retry_gate& gate) {
             auto& budget = dynamic_cast<fleet_budget&>(gate);
             (void)budget.poll(noon);
             succeed(gate, 10, noon);
             (void)budget.poll(noon);
         },
         207s,
         {},
         1s}, // the token fades to less than a billionth
        {"fleet_budget that asks its store", makes<fleet_budget>(),
         [](retry_gate& gate) {
             take_retry(gate);
             (void)dynamic_cast<fleet_budget&>(gate).poll(noon);
             gate.give_back(failure_kind::transient);
         },
         24h,
         [](retry_gate& gate, time_point now) {
             auto& budget = dynamic_cast<fleet_budget&>(gate);
             time_point const answered = now - 1h, later = answered + 2s; // the store was empty: not after 1 s
             budget.on_granted(0, answered);
             EXPECT_FALSE(budget.is_idle(now)) << "it would ask again after 4 s";
             EXPECT_TRUE(budget.acquire(failure_kind::transient, later));
             EXPECT_TRUE(budget.poll(later));
             budget.on_granted(1, later);
             EXPECT_EQ(budget.admit(2, later).until, later);
         }},
        {"attempt_counter", makes<attempt_counter>(), admit, 60s},
        {"all_gates",
         [] { return all_gates({std::make_shared<share_budget>(), std::make_shared<adaptive_throttle>()}); },
         [](retry_gate& gate) {
             (void)gate.admit(1, noon);
             gate.on_end(success(noon));
         },
         19s,
         {},
         1s},
    };
}

TEST(idle_gates, decision_85_are_those_that_a_new_gate_would_answer_alike) {
    for (use_of_gate const& each : uses()) {
        SCOPED_TRACE(each.name);
        gate_pointer const gate = each.make();
        EXPECT_TRUE(gate->is_idle(time_point::min()));
        EXPECT_TRUE(gate->is_idle(time_point::max()));
        each.use(*gate);
        EXPECT_FALSE(gate->is_idle(noon));
        EXPECT_FALSE(gate->is_idle(noon + each.busy_for - 1ns));
        time_point const then = noon + each.busy_for + each.soon;
        if (each.recover)
            each.recover(*gate, then);
        EXPECT_TRUE(gate->is_idle(then));
        EXPECT_TRUE(gate->is_idle(time_point::max()));
    }
}

TEST(idle_gates, decision_85_the_question_changes_nothing) {
    for (use_of_gate const& each : uses()) {
        SCOPED_TRACE(each.name);
        gate_pointer const gate = each.make();
        each.use(*gate);
        (void)gate->is_idle(time_point::max());
        EXPECT_FALSE(gate->is_idle(noon)) << "otherwise a clock of its own would lose what it knows";
    }
}

TEST(idle_gates, decision_85_an_open_breaker_does_not_tell_of_it) {
    int changes = 0;
    circuit_breaker_options options = fragile();
    options.on_change = [&](breaker_state, breaker_state, time_point) { ++changes; };
    circuit_breaker breaker(options);
    fail_once(breaker);
    EXPECT_EQ(changes, 1);
    EXPECT_FALSE(breaker.is_idle(noon + 1h));
    EXPECT_EQ(changes, 1);
    EXPECT_EQ(breaker.state(noon), breaker_state::open);
}

TEST(idle_gates, decision_85_an_attempt_with_a_reserved_time_is_in_all_gates) {
    auto const gate = all_gates({std::make_shared<cooldown>(), std::make_shared<rate_limit>(1, 1s)});
    (void)gate->admit(1, noon);
    admission const later = gate->admit(1, noon);
    ASSERT_TRUE(later.reserved);
    EXPECT_FALSE(gate->is_idle(noon + 1h));
    attempt_end end = success(noon + 1s);
    end.ticket = later.ticket;
    gate->on_end(end);
    EXPECT_TRUE(gate->is_idle(noon + 1h));
}

TEST(idle_gates, decision_85_a_gate_of_ones_own_is_idle_unless_it_says_otherwise) {
    struct own final : retry_gate {};
    EXPECT_TRUE(own().is_idle(noon));
}

// --- beside a new gate

struct answers {
    bool grants_retry = true;
    time_point until;
    bool reserved = false;

    bool operator==(answers const&) const = default;
    friend std::ostream& operator<<(std::ostream& out, answers const& a) {
        return out << (a.grants_retry ? "retry, " : "no retry, ") << a.until.time_since_epoch().count()
                   << (a.reserved ? " reserved" : "");
    }
};

/// One attempt, or a retry, that ends at once.
answers try_once(retry_gate& gate, time_point now, split_mix_64 dice) {
    bool const is_retry = dice.up_to(2) == 0;
    answers given;
    given.grants_retry = !is_retry || gate.acquire(failure_kind::transient, now);
    if (!given.grants_retry)
        return given;
    admission const answer = gate.admit(is_retry ? 2 : 1, now);
    given.until = answer.until;
    given.reserved = answer.reserved;
    bool const begins = answer.until <= now;
    if (!begins) {
        if (is_retry)
            gate.give_back(failure_kind::transient);
        if (answer.reserved && dice.up_to(1) == 0)
            gate.on_end(detail::unbegun(is_retry ? 2 : 1, answer));
        return given;
    }
    attempt_end end = dice.up_to(1) == 0 ? success(now) : failure(failure_kind::transient, now);
    if (end.outcome == attempt_end::how::failed && dice.up_to(3) == 0)
        end.said = pushback::after(50ms);
    end.number = is_retry ? 2 : 1;
    end.after = is_retry ? failure_kind::transient : failure_kind::none;
    end.ticket = answer.ticket;
    gate.on_end(end);
    return given;
}

TEST(idle_gates, decision_85_answer_as_new_ones_whatever_has_happened) {
    std::pair<char const*, std::function<gate_pointer()>> const kinds[] = {
        {"circuit_breaker",
         makes<circuit_breaker>(circuit_breaker_options{
             .min_attempts = 4, .window = 100ms, .open_for = 30ms, .open_spread = 0, .probes = 1})},
        {"circuit_breaker, in a row",
         makes<circuit_breaker>(circuit_breaker_options{
             .window = 20ms, .consecutive = 2, .open_for = 30ms, .open_spread = 0, .probes = 1})},
        {"rate_limit", makes<rate_limit>(100u, saturating_duration(1s))},
        {"rate_limit with a burst", makes<rate_limit>(100u, saturating_duration(1s), 3u)},
        {"cooldown", makes<cooldown>(cooldown_options{.spread = 0})},
        {"token_budget", makes<token_budget>()},
        {"share_budget", makes<share_budget>()},
        {"window_budget",
         makes<window_budget>(window_budget_options{.ttl = std::chrono::seconds(1), .min_per_second = 1})},
        {"all_gates",
         [] { return all_gates({std::make_shared<token_budget>(), std::make_shared<rate_limit>(50, 1s, 2)}); }},
    };
    for (auto const& [name, make] : kinds) {
        std::uint64_t compared = 0;
        for (std::uint64_t seed = 1; seed != 200; ++seed) {
            split_mix_64 dice{seed};
            gate_pointer const old = make();
            gate_pointer fresh;
            time_point now = noon;
            for (int step = 0; step != 200; ++step) {
                now += std::chrono::milliseconds(dice.up_to(9) == 0 ? dice.up_to(1500) : dice.up_to(12));
                if (step % 20 == 0)
                    fresh = nullptr;
                if (!fresh && step != 0 && old->is_idle(now))
                    fresh = make();
                split_mix_64 const what{dice()};
                answers const of_old = try_once(*old, now, what);
                if (!fresh)
                    continue;
                ++compared;
                ASSERT_EQ(of_old, try_once(*fresh, now, what))
                    << name << ", seed " << seed << ", step " << step;
            }
        }
        EXPECT_GT(compared, 200u) << name;
    }
}

} // namespace
} // namespace asio_retry::test
