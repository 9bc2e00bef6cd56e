#include <asio_retry/retry_gate.hpp>

#include <asio_retry/traffic/attempt_counter.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/cooldown.hpp>
#include <asio_retry/traffic/fleet_budget.hpp>
#include <asio_retry/traffic/keyed_gates.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/share_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>
#include <asio_retry/traffic/window_budget.hpp>

#include <gtest/gtest.h>

#include "support/gate_values.hpp"
#include "support/split_mix_64.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// The limit never changes.
struct three_at_a_time {
    std::uint32_t limit() const noexcept { return 3; }
    void update(duration, std::uint32_t, bool) noexcept {}
};

using limit_of_three = concurrency_limit<three_at_a_time>;
using gate_pointer = std::shared_ptr<retry_gate>;

gate_pointer queue_of_two() {
    return std::make_shared<limit_of_three>(three_at_a_time(), queue_options{.greatest = 2});
}

gate_pointer fragile_breaker() {
    return std::make_shared<circuit_breaker>(circuit_breaker_options{
        .consecutive = 2, .open_for = 300ms, .open_cap = 1s, .open_spread = 0, .probes = 2});
}

gate_pointer fleet_budget_of_20() {
    auto const gate = std::make_shared<fleet_budget>(fleet_budget_options{.lease = 1h});
    for (int i = 0; i != 20; ++i)
        gate->acquire(failure_kind::transient, noon);
    if (gate->poll(noon))
        gate->on_granted(20, noon);
    for (int i = 0; i != 20; ++i)
        gate->give_back(failure_kind::transient);
    return gate;
}

/// Every kind of gate that has something to take back, and makes of several.
std::vector<std::pair<std::string, std::function<gate_pointer()>>> kinds_of_gates() {
    return {
        {"retry_budget", // nothing fades: otherwise a look changes the balance
         [] { return std::make_shared<retry_budget>(retry_budget_options{.keep = 1000, .initial = 5}); }},
        {"retry_budget with retries for nothing",
         [] {
             return std::make_shared<retry_budget>(
                 retry_budget_options{.ratio = 1e-9, .initial = 0, .per_second = 5});
         }},
        {"token_budget", [] { return std::make_shared<token_budget>(); }},
        {"window_budget",
         [] { return std::make_shared<window_budget>(window_budget_options{.min_per_second = 1}); }},
        {"share_budget", [] { return std::make_shared<share_budget>(); }},
        {"fleet_budget", fleet_budget_of_20},
        {"circuit_breaker", fragile_breaker},
        {"concurrency_limit", queue_of_two},
        {"rate_limit", [] { return std::make_shared<rate_limit>(10, 1s); }},
        {"rate_limit with a burst", [] { return std::make_shared<rate_limit>(10, 1s, 3); }},
        {"attempt_counter", [] { return std::make_shared<attempt_counter>(100ms); }},
        {"rate_limit and attempt_counter",
         [] { return all_gates({std::make_shared<rate_limit>(10, 1s), std::make_shared<attempt_counter>()}); }},
        {"cooldown", [] { return std::make_shared<cooldown>(cooldown_options{.spread = 0}); }},
        {"all_gates",
         [] {
             return all_gates({fragile_breaker(), std::make_shared<rate_limit>(10, 1s, 3), queue_of_two(),
                               std::make_shared<rate_limit>(20, 1s, 2)});
         }},
        {"keyed_gates",
         [] {
             keyed_gates<rate_limit> all([] { return std::make_shared<rate_limit>(10, 1s, 2); });
             return all.at("a");
         }},
    };
}

/// An attempt that was admitted, for now or for a later time.
struct admitted {
    std::uint64_t number;
    admission answer;
};

void undo(retry_gate& gate, admitted const& one) {
    gate.on_end(detail::unbegun(one.number, one.answer));
    if (one.number > 1)
        gate.give_back(failure_kind::transient);
}

/// Asks for an attempt. Returns whether it is admitted, for now or later.
bool ask(retry_gate& gate, std::uint64_t number, time_point now, std::vector<admitted>& all) {
    if (number > 1 && !gate.acquire(failure_kind::transient, now))
        return false;
    admission const answer = gate.admit(number, now);
    bool const is_admitted = answer.until <= now || answer.reserved;
    if (is_admitted)
        all.push_back({number, answer});
    else if (number > 1)
        gate.give_back(failure_kind::transient);
    return is_admitted;
}

/// Some attempts, and the retries for them, at one time; each ends before it begins, in any order.
void ask_in_vain(retry_gate& gate, time_point now, split_mix_64& dice) {
    bool const counts_requests = dynamic_cast<window_budget const*>(&gate); // when they ask
    std::vector<admitted> all;
    for (std::uint64_t left = dice.up_to(6); left != 0; --left) {
        ask(gate, counts_requests ? 2 : 1 + dice.up_to(1), now, all);
        if (!all.empty() && dice.up_to(3) == 0) { // the next may get what this one gives back
            undo(gate, all.back());
            all.pop_back();
        }
    }
    for (; !all.empty(); all.pop_back()) {
        std::swap(all.back(), all[dice.up_to(all.size() - 1)]);
        undo(gate, all.back());
    }
}

/// What the gate counts for others.
std::string count_of(retry_gate const& gate, time_point now) {
    auto const* const counter = dynamic_cast<attempt_counter const*>(&gate);
    return counter ? to_string(counter->recent(now)) : "";
}

/// A gate that many ask in vain, beside one that they do not ask. Returns what differs.
std::string difference(std::function<gate_pointer()> const& make, std::uint64_t seed) {
    split_mix_64 dice{seed}, noise{~seed};
    gate_pointer const busy = make(), calm = make();
    std::vector<admitted> of_busy, of_calm;
    time_point now = noon;
    for (int step = 0; step != 60; ++step) {
        now += std::chrono::milliseconds(dice.up_to(3) == 0 ? dice.up_to(400) : dice.up_to(20));
        if (noise.up_to(1) == 0)
            ask_in_vain(*busy, now, noise);
        if (count_of(*busy, now) != count_of(*calm, now))
            return "step " + std::to_string(step) + ": " + count_of(*busy, now) + " and " +
                   count_of(*calm, now);
        if (dice.up_to(2) != 0 || of_calm.empty()) {
            std::uint64_t const number = 1 + dice.up_to(1);
            bool const one = ask(*busy, number, now, of_busy), other = ask(*calm, number, now, of_calm);
            if (one != other)
                return "step " + std::to_string(step) + ": one is admitted, the other is not";
            if (one && of_busy.back().answer.until != of_calm.back().answer.until)
                return "step " + std::to_string(step) + ": " +
                       std::to_string((of_busy.back().answer.until - now) / 1ms) + " ms and " +
                       std::to_string((of_calm.back().answer.until - now) / 1ms) + " ms";
            continue;
        }
        std::size_t const which = dice.up_to(of_calm.size() - 1);
        attempt_end end;
        end.outcome = static_cast<attempt_end::how>(dice.up_to(2));
        end.kind = end.outcome == attempt_end::how::failed ? failure_kind::transient : failure_kind::none;
        for (auto const& [gate, all] : {std::pair(busy, &of_busy), std::pair(calm, &of_calm)}) {
            admitted const one = (*all)[which];
            all->erase(all->begin() + static_cast<std::ptrdiff_t>(which));
            if (one.answer.until > now) {
                undo(*gate, one); // it cannot have begun
                continue;
            }
            end.number = one.number;
            end.ticket = one.answer.ticket;
            end.after = one.number > 1 ? failure_kind::transient : failure_kind::none;
            end.took = now - one.answer.until;
            end.now = end.outcome == attempt_end::how::abandoned ? one.answer.until : now;
            gate->on_end(end);
        }
    }
    return "";
}

TEST(undone_admissions, decision_26_leave_a_gate_as_if_they_had_never_been_asked_for) {
    for (auto const& [name, make] : kinds_of_gates())
        for (std::uint64_t seed = 1; seed != 2'000; ++seed)
            ASSERT_EQ(difference(make, seed), "") << name << ", seed " << seed;
}

} // namespace
} // namespace asio_retry::test
