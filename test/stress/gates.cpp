#include <asio_retry/traffic/adaptive_throttle.hpp>
#include <asio_retry/traffic/attempt_counter.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/cooldown.hpp>
#include <asio_retry/traffic/fleet_budget.hpp>
#include <asio_retry/traffic/keyed_gates.hpp>
#include <asio_retry/traffic/overload_advisor.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/share_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>
#include <asio_retry/traffic/window_budget.hpp>

#include "stress/on_four_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

// Four threads use one gate at once, as the operations of a pool do.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

constexpr int gate_rounds = 50'000;
constexpr time_point noon(12h);
constexpr auto transient = failure_kind::transient;

/// Calls `work(0)` on four threads at the same moment, then `work(1)` and so on.
void on_four_threads_at_once(std::size_t times, std::function<void(std::size_t)> const& work) {
    std::vector<std::atomic<int>> arrived(times);
    on_four_threads([&](int, random&) {
        for (std::size_t i = 0; i < times; ++i) {
            ++arrived[i];
            while (arrived[i] != thread_count)
                std::this_thread::yield();
            work(i);
        }
    });
}

bool one_in(random& dice, std::uint64_t n) {
    return dice() % n == 0;
}

attempt_end ended(attempt_end::how how, std::uint64_t number = 1, time_point now = noon, duration took = {}) {
    attempt_end end;
    end.outcome = how;
    end.kind = how == attempt_end::how::failed ? transient : failure_kind::none;
    end.after = number > 1 ? transient : failure_kind::none;
    end.number = number;
    end.now = now;
    end.took = took;
    return end;
}

constexpr auto succeeded = attempt_end::how::succeeded;
constexpr auto failed = attempt_end::how::failed;
constexpr auto abandoned = attempt_end::how::abandoned;

TEST(gates_of_four_threads, decision_26_retry_budget_conserves_its_tokens) {
    retry_budget budget({.ratio = 0.1, .keep = 1e6, .initial = 1000});
    std::atomic<std::int64_t> spent = 0, successes = 0;
    on_four_threads([&](int, random& dice) {
        for (int i = 0; i < gate_rounds; ++i) {
            time_point const now = noon + i * 1us;
            if (one_in(dice, 4)) {
                if (budget.acquire(transient, now)) {
                    if (one_in(dice, 3))
                        budget.give_back(transient);
                    else
                        ++spent;
                }
            } else {
                budget.on_end(ended(succeeded));
                ++successes;
            }
        }
    });
    double const earned = 1000 + 0.1 * static_cast<double>(successes);
    EXPECT_NEAR(static_cast<double>(spent) + budget.balance(noon + 1h), earned, 1e-6);
    EXPECT_GT(spent, 1000);
}

// Four threads that look at one balance at once fade it once.
TEST(gates_of_four_threads, retry_budget_fades_once) {
    retry_budget budget({.window = 10s, .keep = 0, .initial = 1000});
    EXPECT_EQ(budget.balance(noon), 1000);
    std::atomic<int> step = 0;
    on_four_threads([&](int, random&) {
        for (int now; (now = ++step) <= gate_rounds;)
            (void)budget.balance(noon + now * 200us);
    });
    EXPECT_NEAR(budget.balance(noon + 10s), 1000 / std::exp(1), 1e-3);
}

// What was earned in a thousand windows has faded, whichever of four threads that ask at once takes it.
TEST(gates_of_four_threads, decision_31_retry_budget_pays_for_no_burst_after_a_long_time) {
    constexpr int times = 5000;
    std::array<std::unique_ptr<retry_budget>, times> budgets;
    for (auto& budget : budgets) {
        budget = std::make_unique<retry_budget>(retry_budget_options{.ratio = 1, .window = 1s});
        EXPECT_EQ(budget->balance(noon), 1);
        for (int i = 0; i < 1000; ++i)
            budget->on_end(ended(succeeded));
    }
    std::array<std::atomic<int>, times> granted{};
    on_four_threads_at_once(times, [&](std::size_t i) {
        for (int asked = 0; asked < 3; ++asked)
            granted[i] += budgets[i]->acquire(transient, noon + 1000s);
    });
    for (auto const& each : granted)
        EXPECT_LE(each, 2);
}

TEST(gates_of_four_threads, retry_budget_lets_one_of_them_have_the_extra_retry) {
    constexpr std::size_t seconds = 2000, at_once = 10;
    std::vector<std::unique_ptr<retry_budget>> budgets;
    for (std::size_t i = 0; i < at_once; ++i)
        budgets.push_back(
            std::make_unique<retry_budget>(retry_budget_options{.keep = 0, .initial = 0, .per_second = 1}));
    std::vector<std::atomic<int>> granted(seconds * at_once);
    on_four_threads_at_once(seconds, [&](std::size_t second) {
        for (std::size_t i = 0; i < at_once; ++i)
            granted[second * at_once + i] +=
                budgets[i]->acquire(transient, noon + std::chrono::seconds(second));
    });
    EXPECT_EQ(std::count(granted.begin(), granted.end(), 1), granted.size());
}

// Every token that was granted or earned is spent, held, told to the store, or still to be told.
TEST(gates_of_four_threads, decision_26_fleet_budget_conserves_its_tokens) {
    fleet_budget budget({.interval = 1us, .greatest_interval = 20us, .lease = 50us, .window = duration::max()});
    EXPECT_FALSE(budget.poll(noon));
    std::atomic<std::int64_t> granted = 0, spent = 0, successes = 0, questions = 0;
    std::array<double, thread_count> told{};
    std::atomic<int> ticks = 0; // all threads have one clock, however long each of them is kept waiting
    on_four_threads([&](int thread, random& dice) {
        double& told_here = told[static_cast<std::size_t>(thread)];
        for (int i = 0; i < gate_rounds; ++i) {
            time_point const now = noon + ticks++ / thread_count * 1us;
            if (budget.acquire(transient, now)) {
                if (one_in(dice, 4) || budget.admit(2, now).until > now) {
                    budget.give_back(transient);
                } else if (one_in(dice, 8)) {
                    attempt_end never_begun = ended(abandoned, 2);
                    never_begun.after = failure_kind::none;
                    budget.on_end(never_begun);
                    budget.give_back(transient);
                } else {
                    budget.on_end(ended(failed, 2));
                    ++spent;
                }
            }
            budget.on_end(ended(succeeded));
            ++successes;
            if (auto const request = budget.poll(now)) {
                ++questions;
                if (one_in(dice, 3)) {
                    budget.on_unavailable(now);
                } else {
                    auto const tokens = static_cast<std::uint32_t>(dice() % (request->wanted + 1));
                    granted += tokens;
                    told_here += request->earned;
                    budget.on_granted(tokens, now);
                }
            }
        }
    });
    EXPECT_TRUE(budget.acquire(transient, noon + 1s));
    EXPECT_EQ(budget.held(), 0u) << "none was reserved, and so all have gone back";
    auto const last = budget.poll(noon + 1s);
    ASSERT_TRUE(last);
    double const all = static_cast<double>(granted) + 0.1 * static_cast<double>(successes);
    EXPECT_NEAR(static_cast<double>(spent) + last->earned + told[0] + told[1] + told[2] + told[3], all, 1e-4);
    EXPECT_GT(spent, 1000);
    EXPECT_GT(questions, 1000);
}

TEST(gates_of_four_threads, decision_26_token_budget_conserves_its_tokens) {
    constexpr int tokens = 60'000;
    token_budget budget({.capacity = tokens, .per_success = 0});
    std::atomic<int> spent = 0;
    on_four_threads([&](int, random& dice) {
        for (int i = 0; i < gate_rounds; ++i)
            if (budget.acquire(transient, noon)) {
                if (one_in(dice, 2))
                    budget.give_back(transient);
                else
                    ++spent;
            }
    });
    EXPECT_EQ(spent, tokens - budget.balance());
    EXPECT_GT(spent, 0);
}

TEST(gates_of_four_threads, token_budget_stays_within_its_bounds) {
    token_budget budget({.capacity = 3, .per_success = 0.7, .per_failure = 0.9});
    std::atomic<int> outside = 0;
    on_four_threads([&](int, random& dice) {
        for (int i = 0; i < gate_rounds; ++i) {
            budget.on_end(ended(one_in(dice, 2) ? succeeded : failed));
            (void)budget.acquire(transient, noon);
            double const balance = budget.balance();
            outside += balance < 0 || balance > 3;
        }
    });
    EXPECT_EQ(outside, 0);
}

TEST(gates_of_four_threads, decision_26_window_budget_conserves_its_tokens) {
    window_budget budget({.ratio = 1, .ttl = 10s, .min_per_second = 0});
    std::atomic<int> requests = 0, spent = 0;
    on_four_threads([&](int, random& dice) {
        for (int i = 0; i < gate_rounds; ++i)
            if (one_in(dice, 2)) {
                (void)budget.admit(1, noon);
                ++requests;
            } else if (budget.acquire(transient, noon)) {
                if (one_in(dice, 3))
                    budget.give_back(transient);
                else
                    ++spent;
            }
    });
    EXPECT_EQ(budget.balance(noon), requests - spent);
    EXPECT_GT(spent, 0);
}

// While slots are forgotten too: in the end nothing is left but the reserve.
TEST(gates_of_four_threads, window_budget_forgets_everything) {
    window_budget budget({.ratio = 1, .ttl = 1s, .min_per_second = 7});
    std::atomic<int> step = 0;
    on_four_threads([&](int, random& dice) {
        for (int now; (now = ++step) <= gate_rounds;) {
            (void)budget.admit(1, noon + now * 1ms);
            if (one_in(dice, 2) && budget.acquire(transient, noon + now * 1ms) && one_in(dice, 2))
                budget.give_back(transient);
        }
    });
    EXPECT_EQ(budget.balance(noon + 24h), 7);
}

// Four threads that begin the next slot at once begin it once: what was earned counts for the whole of its
// time.
TEST(gates_of_four_threads, window_budget_begins_each_slot_once) {
    constexpr std::size_t times = 5000;
    std::vector<std::unique_ptr<window_budget>> budgets;
    for (std::size_t i = 0; i < times; ++i) {
        budgets.push_back(std::make_unique<window_budget>(
            window_budget_options{.ratio = 1, .ttl = 10s, .min_per_second = 0}));
        (void)budgets[i]->admit(1, noon);
    }
    on_four_threads_at_once(times, [&](std::size_t i) { (void)budgets[i]->balance(noon + 1s); });
    for (auto const& budget : budgets) {
        EXPECT_EQ(budget->balance(noon + 9s), 1);
        EXPECT_EQ(budget->balance(noon + 10s), 0);
    }
}

TEST(gates_of_four_threads, share_budget_never_has_more_retries_than_its_share) {
    share_budget budget({.share = 0.5, .min_retries = 3});
    std::atomic<int> too_many = 0, granted = 0;
    on_four_threads([&](int, random& dice) {
        for (int i = 0; i < gate_rounds; ++i) {
            (void)budget.admit(1, noon);
            budget.on_end(ended(one_in(dice, 2) ? failed : abandoned));
            if (!budget.acquire(transient, noon))
                continue;
            ++granted;
            too_many += budget.retries() > 3; // at most 4 are in flight, so 3 is the limit
            if (one_in(dice, 3)) {
                budget.give_back(transient);
                continue;
            }
            (void)budget.admit(2, noon);
            budget.on_end(ended(one_in(dice, 2) ? succeeded : abandoned, 2));
        }
    });
    EXPECT_EQ(too_many, 0);
    EXPECT_GT(granted, 0);
    EXPECT_EQ(budget.in_flight(), 0u);
    EXPECT_EQ(budget.retries(), 0u);
}

TEST(gates_of_four_threads, concurrency_limit_is_never_exceeded) {
    struct constant_limit {
        std::uint32_t limit() const noexcept { return 3; }
        void update(duration, std::uint32_t in_flight, bool) noexcept {
            greatest = std::max(greatest, in_flight);
        }
        std::uint32_t greatest = 0;
    };
    concurrency_limit<constant_limit> constant;
    concurrency_limit<aimd> learning(aimd({.initial = 2, .greatest = 4}));
    std::atomic<int> running = 0, too_many = 0, refused = 0;
    on_four_threads([&](int, random& dice) {
        for (int i = 0; i < gate_rounds; ++i) {
            if (constant.admit(1, noon).until > noon) {
                ++refused;
            } else {
                too_many += ++running > 3;
                if (one_in(dice, 64)) // each time, on a busy machine, takes minutes
                    std::this_thread::yield();
                --running;
                constant.on_end(ended(succeeded));
            }
            if (learning.admit(1, noon).until <= noon)
                learning.on_end(ended(one_in(dice, 2) ? succeeded : abandoned, 1, noon, 1ms));
        }
    });
    EXPECT_EQ(too_many, 0);
    EXPECT_EQ(constant.in_flight(), 0u);
    EXPECT_EQ(learning.in_flight(), 0u);
    EXPECT_LE(learning.limit(), 4u);
}

// Whatever the threads have done with it, it is not stuck.
TEST(gates_of_four_threads, circuit_breaker_always_comes_back) {
    circuit_breaker breaker({.min_attempts = 5, .open_for = 10ms, .open_cap = 1s});
    std::atomic<int> step = 0, opened = 0;
    on_four_threads([&](int, random& dice) {
        for (int begun; (begun = ++step) <= gate_rounds;) {
            time_point const now = noon + begun * 1ms;
            if (breaker.admit(1, now).until > now)
                continue;
            if (one_in(dice, 50))
                continue; // it hangs for good
            opened += breaker.state(now) != breaker_state::closed;
            breaker.on_end(one_in(dice, 5) ? ended(abandoned, 1, now)
                                           : ended(one_in(dice, 2) ? failed : succeeded, 1, now + 1ms, 1ms));
        }
    });
    EXPECT_GT(opened, 0);
    time_point now = noon + 1h;
    for (int i = 0; i < 100 && breaker.state(now) != breaker_state::closed; ++i, now += 1s)
        if (breaker.admit(1, now).until <= now)
            breaker.on_end(ended(succeeded, 1, now));
    EXPECT_EQ(breaker.state(now), breaker_state::closed);
}

/// Attempts of four threads, of which a half fails, while each of them now and then does something else.
int attempts_at(circuit_breaker& breaker, std::function<void(time_point, random&)> const& now_and_then) {
    std::atomic<int> step = 0, begun = 0;
    on_four_threads([&](int, random& dice) {
        for (int at; (at = ++step) <= gate_rounds;) {
            time_point const now = noon + at * 1ms;
            if (one_in(dice, 50))
                now_and_then(now, dice);
            if (breaker.admit(1, now).until > now)
                continue;
            ++begun;
            breaker.on_end(one_in(dice, 9) ? ended(abandoned, 1, now)
                                           : ended(one_in(dice, 2) ? failed : succeeded, 1, now + 1ms, 1ms));
        }
    });
    return begun;
}

// Whatever the order in which they are told: each state that was told is left again, but for the present one.
TEST(gates_of_four_threads, decision_67_circuit_breaker_tells_each_change_and_may_be_called_back) {
    std::array<std::atomic<int>, 4> balance{};
    std::atomic<int> told = 0;
    circuit_breaker* self = nullptr;
    auto const hear = [&](breaker_state from, breaker_state to, time_point now) {
        --balance[static_cast<std::size_t>(from)];
        ++balance[static_cast<std::size_t>(to)];
        int const number = ++told;
        (void)self->state(now);
        (void)self->open_until(now);
        if (self->admit(1, now).until <= now)
            self->on_end(ended(abandoned, 1, now));
        if (number % 16 == 0)
            number % 32 == 0 ? self->reset(now) : self->isolate(now); // each tells, too
    };
    circuit_breaker breaker({.min_attempts = 5, .open_for = 10ms, .open_cap = 100ms, .on_change = hear});
    self = &breaker;
    EXPECT_GT(attempts_at(breaker,
                          [&](time_point now, random& dice) { one_in(dice, 4) ? breaker.reset(now) : void(); }),
              1000);
    breaker.isolate(noon + 1h);
    for (int i = 0; i < 100 && breaker.state(noon + 1h) != breaker_state::closed; ++i)
        breaker.reset(noon + 1h);
    EXPECT_EQ(breaker.state(noon + 1h), breaker_state::closed);
    for (auto const& each : balance)
        EXPECT_EQ(each, 0);
    EXPECT_GT(told, 1000);
}

TEST(gates_of_four_threads, circuit_breaker_changes_its_options_while_attempts_run) {
    std::atomic<int> told = 0;
    auto const options = [&](random& dice) {
        auto const count = static_cast<std::uint32_t>(dice() % 8 + 1);
        return circuit_breaker_options{.min_attempts = 5,
                                       .window = 1s * count,
                                       .last = one_in(dice, 2) ? 10 * count : 0,
                                       .open_for = 1ms * count,
                                       .open_cap = 100ms,
                                       .probes = count,
                                       .on_change = [&](auto...) { ++told; }};
    };
    random first(1);
    circuit_breaker breaker(options(first));
    EXPECT_GT(attempts_at(breaker, [&](time_point, random& dice) { breaker.update(options(dice)); }), 1000);
    EXPECT_GT(told, 100);
    time_point now = noon + 1h;
    for (int i = 0; i < 100 && breaker.state(now) != breaker_state::closed; ++i, now += 1s)
        if (breaker.admit(1, now).until <= now)
            breaker.on_end(ended(succeeded, 1, now));
    EXPECT_EQ(breaker.state(now), breaker_state::closed);
}

TEST(gates_of_four_threads, adaptive_throttle_counts_everything) {
    adaptive_throttle throttle({.seed = 1});
    on_four_threads([&](int, random&) {
        for (int i = 0; i < gate_rounds; ++i) {
            (void)throttle.admit(1, noon);
            throttle.on_end(ended(abandoned, 1, noon));
        }
    });
    EXPECT_EQ(throttle.rejection(noon), 0) << "all of them were abandoned";
}

TEST(gates_of_four_threads, attempt_counter_counts_everything) {
    attempt_counter counter(1h);
    std::atomic<int> lost = 0;
    on_four_threads([&](int which, random& dice) {
        for (int i = 1; i <= gate_rounds; ++i) {
            (void)counter.admit(static_cast<std::uint64_t>(which) + 1, noon + i * 1us);
            if (one_in(dice, 10))
                lost += counter.recent(noon).count(static_cast<std::uint64_t>(which) + 1) !=
                        static_cast<std::uint64_t>(i);
        }
    });
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(to_string(counter.recent(noon + 1min)), "50000,50000,50000,50000");
    EXPECT_EQ(to_string(counter.recent(noon + 2h)), "0");
}

TEST(gates_of_four_threads, overload_advisor_counts_everything) {
    overload_advisor advisor({.retry_share = 0.625, .window = 1h});
    attempt_histogram half;
    half.add(1);
    half.add(2);
    std::atomic<int> impossible = 0;
    on_four_threads([&](int which, random& dice) {
        for (int i = 0; i < gate_rounds; ++i) {
            if (which == 3)
                advisor.on_request(half, noon);
            else
                advisor.on_request(which == 0 ? 1 : 2, noon);
            if (one_in(dice, 10))
                impossible += advisor.retry_share(noon) > 1;
        }
    });
    EXPECT_EQ(impossible, 0);
    EXPECT_EQ(advisor.retry_share(noon), 0.625) << "none, all, all and a half";
    EXPECT_EQ(advisor.advise(noon), overload_advice::do_not_retry);
    EXPECT_EQ(advisor.retry_share(noon + 2h), 0);
}

TEST(gates_of_four_threads, cooldown_keeps_the_latest_end) {
    cooldown pause({.greatest = 1h});
    on_four_threads([&](int which, random&) {
        for (int i = 1; i <= gate_rounds; ++i) {
            attempt_end end = ended(failed);
            end.said = pushback::after(i * 4us + which * 1us);
            pause.on_end(end);
            (void)pause.admit(1, noon);
        }
    });
    EXPECT_EQ(pause.until(), noon + gate_rounds * 4us + 3us);
}

TEST(gates_of_four_threads, keyed_gates_make_one_gate_for_each_key) {
    std::atomic<int> made = 0;
    keyed_gates<token_budget> all([&] {
        ++made;
        return std::make_shared<token_budget>();
    });
    keyed_gates<token_budget> few([] { return std::make_shared<token_budget>(); }, 2);
    std::array<std::atomic<token_budget*>, 8> seen{};
    std::atomic<int> others = 0;
    on_four_threads([&](int, random& dice) {
        for (int i = 0; i < gate_rounds / 10; ++i) {
            auto const which = static_cast<std::size_t>(dice() % 8);
            std::string const key = "peer " + std::to_string(which);
            auto const gate = all.at(key);
            token_budget* expected = nullptr;
            if (!seen[which].compare_exchange_strong(expected, gate.get()))
                others += expected != gate.get();
            (void)few.at(key)->acquire(transient, noon);
            if (one_in(dice, 100))
                few.for_each([](std::string const&, token_budget& budget) { (void)budget.balance(); });
        }
    });
    EXPECT_EQ(others, 0);
    EXPECT_EQ(all.size(), 8u);
    EXPECT_EQ(few.size(), 2u);
    EXPECT_GE(made, 8);
}

} // namespace
} // namespace asio_retry::test
